/* module.h - what the files of petal._petal share: the module's state, the Filter object and its
 * gate, keys, and exceptions.
 *
 *   module.c   the module: functions without a filter, set-up
 *   errors.c   the core's failures as Python's exceptions
 *   options.c  keyword arguments -> petal_options; plan()
 *   gate.c     who may work on a filter while the GIL is released
 *   keys.c     one Python object -> key bytes
 *   column.c   many keys in one piece of memory -> batches of the core
 *   batch.c    lists, iterables, buffers (numpy) and bytes with offsets
 *   arrow.c    the Arrow C data interface
 *   answers.c  the answers for Arrow arrays
 *   inside.c   info, stats, comparisons, formats and Parquet filters, as dataclasses
 *   file.c     opening, saving, bytes, file objects
 *   filter.c   the type Filter: one key, whole filters, Python's protocols
 *   index.c    the type Index: many filters in one file
 *
 * Uses the limited API of CPython 3.11, the oldest one that includes buffers, so one build serves
 * all later versions. */
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

/* The state of the module whose Filter is `type` or its base type. Returns NULL with an exception
 * set. */
struct state *state_of_type(PyTypeObject *type);
struct state *state_of_module(PyObject *module);
extern struct PyModuleDef petal_module;

/* ---- the Filter ---- */

/* An Index is the same object, with an index instead of a filter: both need the gate. */
typedef struct filter_object {
    PyObject_HEAD petal_filter *core; /* NULL if closed */
    petal_index *index;               /* an Index's; NULL if closed */
    bool is_index;
    uint64_t changes; /* an Index's: how often it was changed */
    struct state *state;
    PyObject *path;    /* the file's, for exceptions; or NULL */
    uint32_t key_type; /* PETAL_KEY_TYPE_ */
    bool empty_key;    /* the scheme accepts the empty key */
    bool verifies;     /* PETAL_OPEN_VERIFY_ON_USE is active */
    /* The gate: see gate.c. Guarded by the GIL. */
    int users; /* running calls without the GIL; -1 for one that changes the filter */
    int waiting_to_change;
    struct writing *writing; /* threads that are writing to a file object */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    uint64_t times_freed; /* also guarded by the mutex */
    PyObject *weak_references;
} filter_object;

/* Creates a closed filter. */
filter_object *filter_make(PyTypeObject *type, struct state *state);
/* Gives the object the core's filter. Returns false with an exception set and that filter freed. */
bool filter_take(filter_object *self, petal_filter *core, PyObject *path, uint32_t key_type);
/* Creates an object that owns the core's filter, which is freed on failure. */
PyObject *filter_wrap(PyTypeObject *type, struct state *state, petal_filter *core, PyObject *path,
                      uint32_t key_type);
bool is_filter(struct state *state, PyObject *object);
extern PyType_Spec filter_spec;

/* ---- errors.c ---- */

/* Sets the exception for a failure. path may be NULL. Returns NULL. */
PyObject *raise_error(struct state *state, const petal_error *error, PyObject *path);

/* ---- gate.c ---- */

void gate_init(filter_object *self);
void gate_end(filter_object *self);

/* For calls that keep the GIL. Waits until no call changes the filter (may_change: until none uses
 * it); true if the filter is open. On failure, returns false with an exception set. */
bool may_query(filter_object *self);
bool may_change(filter_object *self);

/* For calls that release the GIL between enter and leave. */
bool enter_query(filter_object *self);
bool enter_change(filter_object *self);
bool enter_queries(filter_object *a, filter_object *b);
bool enter_both(filter_object *changed, filter_object *queried);
void leave(filter_object *self);

/* For a call that has entered and then calls Python: a Python call on the same filter would make
 * the thread wait for itself. */
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
    PyObject *owner;  /* a new reference to the bytes' owner; NULL if the object owns them */
    Py_buffer buffer; /* buffer.obj is NULL if there is none */
};

/* Reads a key's bytes under this key type. They are valid while `object` lives, until
 * key_release(). Returns false with an exception set, and nothing to release. */
bool key_read(PyObject *object, uint32_t key_type, struct key *key);
void key_release(struct key *key);

enum { KEY_TEXT, KEY_BYTES, KEY_INT, KEY_FLOAT };
/* True if a filter with this key type accepts keys of this kind. Otherwise sets TypeError. */
bool key_kind_fits(int kind, uint32_t key_type);

/* Parses "text", "i64", ... from None or str. On failure, returns false with an exception set. */
bool key_type_read(PyObject *name, uint32_t *key_type);
const char *key_type_name(uint32_t key_type); /* NULL if there is none */
/* Chooses between the key type that the file records and the one that the caller gives. */
bool key_type_choose(uint32_t recorded, uint32_t asked, uint32_t *key_type);

/* ---- batch.c and column.c ---- */

/* WHICH queries an index; COLLECT adds keys to a builder. */
enum verb { VERB_ADD, VERB_CONTAINS, VERB_DISCARD, VERB_ANY, VERB_ALL, VERB_WHICH, VERB_COLLECT };

/* WHICH: the rows of petal_index_query(), one per key. */
struct rows {
    uint64_t *words;
    uint64_t row_words, count, room;
    bool begun;
    uint64_t changes; /* the index's, at the first batch */
};

/* One batch call, processed in pieces. */
struct work {
    filter_object *filter;
    enum verb verb;
    uint32_t key_type;    /* how keys are read */
    uint64_t rows_before; /* rows in earlier columns, for indices in messages */
    uint64_t done, positive, empty_skipped;
    bool decided, answer;          /* for ANY and ALL */
    petal_error error;             /* status < 0: failed; offset is an index in the whole batch */
    petal_static_builder *builder; /* COLLECT */
    struct rows *rows;             /* WHICH */
};

/* Runs one batch in the core. The caller has passed the gate; the GIL is not needed. On failure,
 * returns false with work->error set. */
bool work_run(struct work *work, const petal_batch *batch, uint8_t *answers);
bool which_run(struct work *work, const petal_batch *batch, uint8_t *answers); /* for WHICH */
/* The answers describe the index as it was at the first batch. Returns false if it has changed
 * since. */
bool rows_are_current(filter_object *self, struct rows *rows);

/* Keys in one piece of memory. */
enum column_kind {
    COLUMN_OFFSETS32,
    COLUMN_OFFSETS64,
    COLUMN_VIEWS,  /* Arrow's string views */
    COLUMN_FIXED,  /* `width` bytes each */
    COLUMN_PADDED, /* the same, but zeros at the end don't count: numpy's S */
    COLUMN_UCS4,   /* numpy's U */
    COLUMN_SIGNED,
    COLUMN_UNSIGNED,
    COLUMN_FLOATING,
    COLUMN_NULLS
};
struct column {
    enum column_kind kind;
    bool is_text; /* OFFSETS and VIEWS: UTF-8, not just bytes */
    bool swapped; /* numbers and UCS4: not in native byte order */
    uint64_t count;
    const uint8_t *data;
    uint64_t data_bytes; /* OFFSETS: 0 if unknown */
    ptrdiff_t stride;
    uint64_t width;
    const void *offsets;
    const void *const *buffers; /* VIEWS: the buffers of long strings */
    const uint8_t *valid;       /* a bitmap; NULL if all are valid */
    uint64_t valid_from;        /* number of the first bit */
    /* If the column is dictionary-encoded, the value numbers of the `count` rows; everything above
     * then describes the value_count values. Otherwise NULL. */
    const struct column *index;
    uint64_t value_count;
};

enum { ANSWER_NULL = 2 };

/* With this many keys or fewer, the GIL is kept: handing it over would take longer than the
 * work. */
enum { FEW_KEYS = 64 };

/* Processes the whole column; the GIL is held on entry. answers: one byte per key (0, 1 or
 * ANSWER_NULL), or NULL. On failure, returns false with an exception set. */
bool column_run(struct work *work, const struct column *column, uint8_t *answers);

/* Adds a key's index in the batch to the exception that is set. */
void note_index(uint64_t index);
/* Sets the exception for a batch that failed. Returns NULL. */
PyObject *work_raise(struct work *work);
/* Warns about skipped empty keys. Returns false if the warning became an exception. */
bool work_warn(struct work *work);

/* Runs a batch call whose arguments are keys and offsets. flags: returns one answer per key, in the
 * form that suits the keys; for WHICH a bytearray of 1 and ANSWER_NULL. Otherwise None. */
PyObject *batch_run(struct work *work, bool flags, PyObject *keys, PyObject *offsets);
/* Implements update(), contains_batch() and so on. flags: return one answer per key. */
PyObject *filter_batch(filter_object *self, enum verb verb, bool flags, PyObject *args,
                       PyObject *kwargs);

/* ---- arrow.c and answers.c ---- */

/* Returns 1 if the object implements Arrow; *answers is then a bytearray (None without flags).
 * Returns 0 if it doesn't, and -1 with an exception set. */
int arrow_run(struct work *work, PyObject *keys, bool flags, PyObject **answers);
/* Convert answers, which are bytes of 0, 1 and ANSWER_NULL in a bytearray, to an Answers object,
 * which takes the bytearray over; to a numpy bool array over the same bytes; or to a list. */
PyObject *answers_wrap(struct state *state, PyObject *bytes);
PyObject *answers_numpy(PyObject *bytes);
PyObject *answers_list(const uint8_t *flags, Py_ssize_t count);
extern PyType_Spec answers_spec;

/* ---- options.c ---- */

/* The keyword arguments of Filter() and plan(). Buffers stay valid until options_release(). */
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

/* Returns the path as bytes, and in the form that exceptions show. */
bool path_read(PyObject *object, PyObject **bytes, PyObject **shown);
/* What to verify: None means each block before its first use, True all blocks now, False
 * nothing. */
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
