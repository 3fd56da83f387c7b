/* module.h - declarations that the files of petal._petal share: the module's state, the Filter
 * object and its gate, keys, and exceptions.
 *
 *   module.c   the module: functions without a filter, set-up
 *   errors.c   converts the core's failures to Python's exceptions
 *   options.c  converts keyword arguments to petal_options; plan()
 *   gate.c     coordinates the calls on a filter while the GIL is released
 *   keys.c     converts one Python object to key bytes
 *   column.c   passes many keys in one piece of memory to the core
 *   batch.c    batches from lists, iterables, buffers (numpy) and bytes with offsets
 *   arrow.c    reads keys through the Arrow C data interface
 *   answers.c  the answers for Arrow arrays
 *   inside.c   info, stats, comparisons, formats and Parquet filters, as dataclasses
 *   file.c     opens and saves filters, from and to files, bytes and file objects
 *   filter.c   the type Filter: one key, whole filters, Python's protocols
 *   index.c    the type Index: many filters in one file
 *
 * Uses the limited API of CPython 3.11, the oldest version whose limited API includes buffers, so
 * that one build works with all later versions. */
#ifndef PETAL_PYTHON_MODULE_H
#define PETAL_PYTHON_MODULE_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <petal/petal_index.h>

#include <pthread.h>

/* ---- module.c ---- */

struct state {
    PyTypeObject *filter, *answers, *index;
    /* From petal/_types.py. */
    PyObject *error, *info, *stats, *comparison, *format, *parquet_filter, *index_info;
};

/* Returns the state of the module whose Filter is `type` or its base type. If this fails, it sets
 * an exception and returns NULL. */
struct state *state_of_type(PyTypeObject *type);
struct state *state_of_module(PyObject *module);
extern struct PyModuleDef petal_module;

/* ---- the Filter ---- */

/* An object of type Filter or Index. Both need the gate, so an Index uses the same struct, with an
 * index in place of a filter. */
typedef struct filter_object {
    PyObject_HEAD petal_filter *core; /* NULL if closed */
    petal_index *index;               /* the index of an Index; NULL if closed */
    bool is_index;
    uint64_t changes; /* number of changes to an Index */
    struct state *state;
    PyObject *path;    /* path of the file, for exceptions, or NULL */
    uint32_t key_type; /* PETAL_KEY_TYPE_ */
    bool empty_key;    /* the scheme accepts the empty key */
    bool verifies;     /* PETAL_OPEN_VERIFY_ON_USE is active */
    /* The gate's state, guarded by the GIL. See gate.c. */
    int users; /* number of calls that run without the GIL, or -1 if one of them changes the
                * filter */
    int waiting_to_change;
    struct writing *writing; /* threads that are writing the filter to a file object */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    uint64_t times_freed; /* also guarded by the gate's mutex */
    PyObject *weak_references;
} filter_object;

/* Creates a closed filter. */
filter_object *filter_make(PyTypeObject *type, struct state *state);
/* Makes the object the owner of the core's filter. If this fails, it frees the filter, sets an
 * exception and returns false. */
bool filter_take(filter_object *self, petal_filter *core, PyObject *path, uint32_t key_type);
/* Creates an object that owns the core's filter. If this fails, it frees the filter. */
PyObject *filter_wrap(PyTypeObject *type, struct state *state, petal_filter *core, PyObject *path,
                      uint32_t key_type);
bool is_filter(struct state *state, PyObject *object);
extern PyType_Spec filter_spec;

/* ---- errors.c ---- */

/* Sets the exception for a failure of the core, and returns NULL. path may be NULL. */
PyObject *raise_error(struct state *state, const petal_error *error, PyObject *path);

/* ---- gate.c ---- */

void gate_init(filter_object *self);
void gate_end(filter_object *self);

/* For calls that keep the GIL. Waits until no call is changing the filter or, if may_change, until
 * no call is using it. If the filter is closed, sets an exception and returns false. */
bool may_query(filter_object *self);
bool may_change(filter_object *self);

/* For calls that release the GIL between entering and leaving. */
bool enter_query(filter_object *self);
bool enter_change(filter_object *self);
bool enter_queries(filter_object *a, filter_object *b);
bool enter_both(filter_object *changed, filter_object *queried);
void leave(filter_object *self);

/* For calls that run Python code after entering. If this code called the same filter, the thread
 * would wait for itself. */
struct writing {
    unsigned long thread;
    struct writing *next;
};
void begin_writing(filter_object *self, struct writing *writing);
void end_writing(filter_object *self, struct writing *writing);

/* ---- keys.c ---- */

struct key {
    const void *data;
    size_t size;
    uint8_t number[8];
    PyObject *owner;  /* new reference to the bytes' owner; NULL if it is the object itself */
    Py_buffer buffer; /* the key's buffer; buffer.obj is NULL if the key has none */
};

/* Reads a key's bytes for this key type. The bytes are valid while `object` exists, until
 * key_release(). If this fails, it sets an exception and returns false, and there is nothing to
 * release. */
bool key_read(PyObject *object, uint32_t key_type, struct key *key);
void key_release(struct key *key);

enum { KEY_TEXT, KEY_BYTES, KEY_INT, KEY_FLOAT };
/* Returns true if a filter with this key type accepts keys of this kind. Otherwise sets a TypeError
 * and returns false. */
bool key_kind_fits(int kind, uint32_t key_type);

/* Parses the name of a key type, such as "text" or "i64", from a str or None. If this fails, it
 * sets an exception and returns false. */
bool key_type_read(PyObject *name, uint32_t *key_type);
const char *key_type_name(uint32_t key_type); /* NULL if no type has this code */
/* Returns the key type that the file records or, if it records none, the caller's. */
bool key_type_choose(uint32_t recorded, uint32_t asked, uint32_t *key_type);

/* ---- batch.c and column.c ---- */

/* VERB_WHICH queries an index; VERB_COLLECT adds keys to an index's builder. */
enum verb { VERB_ADD, VERB_CONTAINS, VERB_DISCARD, VERB_ANY, VERB_ALL, VERB_WHICH, VERB_COLLECT };

/* For VERB_WHICH, the rows from petal_index_query(), one per key. */
struct rows {
    uint64_t *words;
    uint64_t row_words, count, room;
    bool begun;
    uint64_t changes; /* number of changes to the index at the first batch */
};

/* One batch call, processed in pieces. */
struct work {
    filter_object *filter;
    enum verb verb;
    uint32_t key_type;    /* key type, which determines how keys are read */
    uint64_t rows_before; /* number of rows in earlier columns, for the indexes in messages */
    uint64_t done, positive, empty_skipped;
    bool decided, answer;          /* for VERB_ANY and VERB_ALL: the answer is known */
    petal_error error;             /* the batch failed if status < 0; offset: index in the batch */
    petal_static_builder *builder; /* COLLECT */
    struct rows *rows;             /* WHICH */
};

/* Runs one batch in the core, with or without the GIL. The caller has entered the gate. If the
 * batch fails, sets work->error and returns false. */
bool work_run(struct work *work, const petal_batch *batch, uint8_t *answers);
bool which_run(struct work *work, const petal_batch *batch, uint8_t *answers); /* for WHICH */
/* Returns false if the index has changed since the first batch: all answers must refer to the index
 * as it was then. */
bool rows_are_current(filter_object *self, struct rows *rows);

/* Keys in one piece of memory. */
enum column_kind {
    COLUMN_OFFSETS32,
    COLUMN_OFFSETS64,
    COLUMN_VIEWS,  /* Arrow's string views */
    COLUMN_FIXED,  /* `width` bytes each */
    COLUMN_PADDED, /* like COLUMN_FIXED, but without trailing zeros: numpy's S */
    COLUMN_UCS4,   /* numpy's U */
    COLUMN_SIGNED,
    COLUMN_UNSIGNED,
    COLUMN_FLOATING,
    COLUMN_NULLS
};
struct column {
    enum column_kind kind;
    bool is_text; /* for OFFSETS and VIEWS: the keys are UTF-8, not just bytes */
    bool swapped; /* for numbers and UCS4: not in native byte order */
    uint64_t count;
    const uint8_t *data;
    uint64_t data_bytes; /* for OFFSETS: size of the data, or 0 if unknown */
    ptrdiff_t stride;
    uint64_t width;
    const void *offsets;
    const void *const *buffers; /* for VIEWS: the buffers that contain long strings */
    const uint8_t *valid;       /* bitmap of the rows that are not null; NULL if no row is null */
    uint64_t valid_from;        /* index of the first bit */
    /* If the column is dictionary-encoded, the value indexes of the `count` rows, and all fields
     * above describe the value_count values. Otherwise NULL. */
    const struct column *index;
    uint64_t value_count;
};

enum { ANSWER_NULL = 2 };

/* For batches of up to this many keys, the GIL is kept, because releasing it would take longer than
 * the work. */
enum { FEW_KEYS = 64 };

/* Processes the whole column. The GIL is held on entry. `answers` receives one byte per key (0, 1
 * or ANSWER_NULL), or is NULL. If this fails, it sets an exception and returns false. */
bool column_run(struct work *work, const struct column *column, uint8_t *answers);

/* Adds a key's index in the batch to the current exception. */
void note_index(uint64_t index);
/* Sets the exception for a failed batch, and returns NULL. */
PyObject *work_raise(struct work *work);
/* Warns about skipped empty keys. Returns false if the warning became an exception. */
bool work_warn(struct work *work);

/* Runs a batch call whose arguments are keys and offsets. With `flags`, returns one answer per key,
 * as the type that suits the keys; for VERB_WHICH this is a bytearray of 1 and ANSWER_NULL.
 * Otherwise returns None. */
PyObject *batch_run(struct work *work, bool flags, PyObject *keys, PyObject *offsets);
/* Implements update(), contains_batch() and so on. `flags` means that there is one answer per
 * key. */
PyObject *filter_batch(filter_object *self, enum verb verb, bool flags, PyObject *args,
                       PyObject *kwargs);

/* ---- arrow.c and answers.c ---- */

/* Returns 1 if the object implements Arrow's interface; *answers is then a bytearray, or None
 * without flags. Returns 0 if it does not, and -1 if an exception is set. */
int arrow_run(struct work *work, PyObject *keys, bool flags, PyObject **answers);
/* These functions convert a bytearray of 0, 1 and ANSWER_NULL to an Answers object, to a numpy bool
 * array that uses the same bytes, or to a list. The Answers object takes ownership of the
 * bytearray. */
PyObject *answers_wrap(struct state *state, PyObject *bytes);
PyObject *answers_numpy(PyObject *bytes);
PyObject *answers_list(const uint8_t *flags, Py_ssize_t count);
extern PyType_Spec answers_spec;

/* ---- options.c ---- */

/* Parses the keyword arguments of Filter() and plan(). Buffers stay valid until
 * options_release(). */
struct options {
    petal_options core;
    Py_buffer secret, metadata;
    char format[64];
};
bool options_read(PyObject *args, PyObject *kwargs, struct options *options);
void options_release(struct options *options);
bool secret_read(PyObject *object, Py_buffer *buffer);
bool format_read(PyObject *object, const char *absent, char format[64]);
bool u64_read(PyObject *object, const char *name, uint64_t *value);
bool milliseconds_read(PyObject *object, const char *name, uint64_t *value);
bool rate_read(PyObject *object, double *rate);

/* ---- inside.c ---- */

PyObject *filter_info(filter_object *self, PyObject *args, PyObject *kwargs);
PyObject *filter_stats(filter_object *self, PyObject *args, PyObject *kwargs);
PyObject *filter_compare(filter_object *self, PyObject *other);
PyObject *module_plan(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *module_rate_at(PyObject *module, PyObject *args);
PyObject *module_formats(PyObject *module, PyObject *unused);
PyObject *module_parquet_filters(PyObject *module, PyObject *data);

/* ---- index.c ---- */

extern PyType_Spec index_spec;

/* ---- file.c ---- */

/* Converts a path to bytes, and to the object that exceptions show. */
bool path_read(PyObject *object, PyObject **bytes, PyObject **shown);
/* Determines what to verify: None means each block before its first use, True means all blocks now,
 * and False means nothing. */
bool verify_read(PyObject *object, uint32_t *flags);

PyObject *filter_open(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *filter_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *filter_view(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *filter_read_from(PyObject *type, PyObject *args, PyObject *kwargs);
PyObject *filter_save(filter_object *self, PyObject *args, PyObject *kwargs);
PyObject *filter_sync(filter_object *self, PyObject *unused);
PyObject *filter_verify(filter_object *self, PyObject *unused);
PyObject *filter_to_bytes(filter_object *self, PyObject *args, PyObject *kwargs);
PyObject *filter_write_to(filter_object *self, PyObject *args, PyObject *kwargs);

#endif
