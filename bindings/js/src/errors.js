// errors.js - what this package throws: PetalError, with the core's message, if the core refuses a
// call; TypeError and RangeError for values of the wrong kind; AbortError if a signal aborts the
// call.

/**
 * A call that was refused. `code` is the name of the core's status ("damaged", "not a filter", "bad
 * argument", ...), or "disposed"; `offset` is the offset in the input or the index of the key at
 * which the failure was noticed, or null.
 */
export class PetalError extends Error {
    constructor(code, message, offset = null, options = undefined) {
        super(message, options);
        this.name = 'PetalError';
        this.code = code;
        this.offset = offset;
    }
}

export const throwIfAborted = (signal) => {
    if (!signal?.aborted) return;
    throw signal.reason ?? new DOMException('This operation was aborted', 'AbortError');
};
