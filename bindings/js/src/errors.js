// errors.js - the errors that this package throws. PetalError, with the core's message, means that
// a call failed in the core. TypeError and RangeError mean that a value is of the wrong kind.
// AbortError means that a signal aborted the call.

/**
 * Thrown if the core rejects a call. `code` is the name of the core's status ("damaged", "not a
 * filter", "bad argument", ...), or "disposed"; `offset` is the offset in the input or the index of
 * the key at which the failure was detected, or null.
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
