/* filter.c - the type Filter: creating filters, single keys, whole filters, and Python's protocols
 * (in, len, bool, repr, |, copy, pickle, with). */
#include "module.h"

#include <petal/petal_host.h>

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <structmember.h>

/* ---- life ------------------------------------------------------------------------------------ */

bool is_filter(struct state *state, PyObject *object)
{
    return PyObject_TypeCheck(object, state->filter);
}

/* Accepts any arguments, because a subclass may have arguments of its own, and its __init__() calls
 * filter_init(). */
static PyObject *filter_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct state *state = state_of_type(type);
    (void)args, (void)kwargs;
    return state ? (PyObject *)filter_make(type, state) : NULL;
}

static int filter_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    filter_object *self = (filter_object *)object;
    struct options options;
    petal_filter *core;
    petal_error error;
    petal_status status;
    if (!options_read(args, kwargs, &options)) return -1;
    Py_BEGIN_ALLOW_THREADS
    status = petal_create(&options.core, &core, &error);
    Py_END_ALLOW_THREADS
    options_release(&options);
    if (status < 0) {
        raise_error(self->state, &error, NULL);
        return -1;
    }
    if (self->core && !may_change(self)) { /* called twice */
        petal_free(core);
        return -1;
    }
    return filter_take(self, core, NULL, PETAL_KEY_TYPE_NONE) ? 0 : -1;
}

/* No call is running, since each call keeps a reference. */
static void filter_dealloc(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->weak_references) PyObject_ClearWeakRefs(object);
    petal_free(self->core);
    gate_end(self);
    Py_XDECREF(self->path);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* Wraps another filter, with the same key type as self. */
static PyObject *wrap_like(filter_object *self, petal_filter *core, petal_status status,
                           const petal_error *error)
{
    if (status < 0) return raise_error(self->state, error, self->path);
    return filter_wrap(Py_TYPE((PyObject *)self), self->state, core, NULL, self->key_type);
}

static PyObject *filter_close(filter_object *self, PyObject *unused)
{
    petal_error error;
    petal_status status;
    (void)unused;
    if (!self->core) return Py_NewRef(Py_None);
    if (!enter_change(self)) {
        if (self->core) return NULL;
        PyErr_Clear(); /* another thread has closed the filter */
        return Py_NewRef(Py_None);
    }
    Py_BEGIN_ALLOW_THREADS
    status = petal_sync(self->core, &error);
    Py_END_ALLOW_THREADS
    petal_free(self->core); /* with the GIL held, which releasing a view requires */
    self->core = NULL;
    leave(self);
    return status < 0 ? raise_error(self->state, &error, self->path) : Py_NewRef(Py_None);
}

static PyObject *filter_enter(filter_object *self, PyObject *unused)
{
    (void)unused;
    return may_query(self) ? Py_NewRef((PyObject *)self) : NULL;
}

static PyObject *filter_exit(filter_object *self, PyObject *args)
{
    (void)args;
    return filter_close(self, NULL);
}

/* ---- one key --------------------------------------------------------------------------------- */

/* A call for one key does not report why it failed. A batch of this one key fails in the same way,
 * and reports the reason. */
static petal_status why(filter_object *self, const struct key *key, bool removes,
                        petal_error *error)
{
    petal_key one = {key->data, key->size};
    petal_batch batch = PETAL_BATCH_INIT;
    uint8_t answer = 0;
    batch.data = &one;
    batch.count = 1;
    petal_status status = removes ? petal_remove_batch(self->core, &batch, &answer, NULL, error)
                                  : petal_add_batch(self->core, &batch, &answer, NULL, error);
    if (status < 0) return status;
    return answer ? PETAL_OK : removes ? PETAL_ABSENT : PETAL_SEEN;
}

/* Returns 1 if the key was new or was removed, 0 otherwise, -1 if an exception is set. */
static int change_one(filter_object *self, PyObject *object, bool removes)
{
    struct key key;
    petal_error error = {.status = PETAL_OK};
    if (!key_read(object, self->key_type, &key)) return -1;
    if (!may_change(self)) {
        key_release(&key);
        return -1;
    }
    petal_status status = PETAL_SEEN;
    if (removes)
        status = petal_remove(self->core, key.data, key.size);
    else if (key.size > 0 || self->empty_key) /* otherwise ignored, as in the format's library */
        status = petal_add(self->core, key.data, key.size);
    if (status < 0) status = why(self, &key, removes, &error);
    key_release(&key);
    if (status >= 0) return status == PETAL_OK;
    raise_error(self->state, &error, self->path);
    return -1;
}

static PyObject *filter_add(filter_object *self, PyObject *key)
{
    int added = change_one(self, key, false);
    return added < 0 ? NULL : PyBool_FromLong(added);
}

static PyObject *filter_discard(filter_object *self, PyObject *key)
{
    int removed = change_one(self, key, true);
    return removed < 0 ? NULL : PyBool_FromLong(removed);
}

static PyObject *filter_remove(filter_object *self, PyObject *key)
{
    int removed = change_one(self, key, true);
    if (removed > 0) return Py_NewRef(Py_None);
    if (removed == 0) PyErr_Format(PyExc_ValueError, "%R is certainly not in the filter", key);
    return NULL;
}

/* After the first damaged block, each "probably" is checked again. If this key's block is damaged,
 * this sets an exception and returns -1. */
static int sound(filter_object *self, const struct key *key, int found)
{
    petal_key one = {key->data, key->size};
    petal_batch batch = PETAL_BATCH_INIT;
    petal_error error;
    if (found <= 0 || !self->verifies || petal_last_error(self->core, NULL) != PETAL_ERR_DAMAGED)
        return found;
    batch.data = &one;
    batch.count = 1;
    if (petal_contains_batch(self->core, &batch, NULL, NULL, &error) >= 0) return found;
    error.offset = PETAL_NO_OFFSET; /* the index would always be 0 */
    raise_error(self->state, &error, self->path);
    return -1;
}

static int filter_contains(PyObject *object, PyObject *asked)
{
    filter_object *self = (filter_object *)object;
    struct key key;
    if (!key_read(asked, self->key_type, &key)) return -1;
    int found = may_query(self) ? petal_contains(self->core, key.data, key.size) : -1;
    found = sound(self, &key, found);
    key_release(&key);
    return found;
}

static PyObject *filter_hash_key(filter_object *self, PyObject *object)
{
    struct key key;
    if (!key_read(object, self->key_type, &key)) return NULL;
    bool may = may_query(self);
    uint64_t hash = may ? petal_hash_key(self->core, key.data, key.size) : 0;
    key_release(&key);
    return may ? PyLong_FromUnsignedLongLong(hash) : NULL;
}

#define BATCH(name, verb, flags) \
    static PyObject *name(filter_object *self, PyObject *args, PyObject *kwargs) \
    { \
        return filter_batch(self, verb, flags, args, kwargs); \
    }
BATCH(filter_update, VERB_ADD, false)
BATCH(filter_add_batch, VERB_ADD, true)
BATCH(filter_contains_batch, VERB_CONTAINS, true)
BATCH(filter_discard_batch, VERB_DISCARD, true)
BATCH(filter_contains_any, VERB_ANY, false)
BATCH(filter_contains_all, VERB_ALL, false)

/* ---- whole filters --------------------------------------------------------------------------- */

static PyObject *copy_by(filter_object *self,
                         petal_status (*make)(const petal_filter *, petal_filter **, petal_error *))
{
    petal_filter *core = NULL;
    petal_error error;
    petal_status status;
    if (!enter_query(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = make(self->core, &core, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    return wrap_like(self, core, status, &error);
}

static PyObject *filter_copy(filter_object *self, PyObject *unused)
{
    (void)unused;
    return copy_by(self, petal_clone);
}

/* Returns the attributes that a subclass has set, or NULL if it has set none or if an exception is
 * set. */
static PyObject *attributes_of(PyObject *object)
{
    PyObject *attributes = PyObject_GetAttrString(object, "__dict__");
    if (!attributes) PyErr_Clear();
    if (attributes && PyDict_Check(attributes) && PyDict_Size(attributes) > 0) return attributes;
    Py_XDECREF(attributes);
    return NULL;
}

/* Takes over `attributes`. */
static PyObject *with_attributes(PyObject *copy, PyObject *attributes)
{
    PyObject *own = copy && attributes ? PyObject_GetAttrString(copy, "__dict__") : NULL;
    if (attributes && (!own || PyDict_Update(own, attributes) < 0)) Py_CLEAR(copy);
    Py_XDECREF(own);
    Py_XDECREF(attributes);
    return copy;
}

static PyObject *filter_shallow(filter_object *self, PyObject *unused)
{
    return with_attributes(filter_copy(self, unused), attributes_of((PyObject *)self));
}

static PyObject *filter_deep(filter_object *self, PyObject *memo)
{
    PyObject *attributes = attributes_of((PyObject *)self), *deep = NULL;
    if (attributes) {
        PyObject *module = PyImport_ImportModule("copy");
        deep = module ? PyObject_CallMethod(module, "deepcopy", "OO", attributes, memo) : NULL;
        Py_XDECREF(module);
        Py_DECREF(attributes);
        if (!deep) return NULL;
    }
    return with_attributes(filter_copy(self, NULL), deep);
}

static PyObject *filter_empty_like(filter_object *self, PyObject *unused)
{
    (void)unused;
    return copy_by(self, petal_create_like);
}

static PyObject *filter_drop_counts(filter_object *self, PyObject *unused)
{
    (void)unused;
    return copy_by(self, petal_drop_counts);
}

static PyObject *filter_fold(filter_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"rate", "capacity", "bits", NULL};
    petal_fold_options options = PETAL_FOLD_OPTIONS_INIT;
    PyObject *rate = NULL, *capacity = NULL, *bits = NULL;
    petal_filter *core = NULL;
    petal_error error;
    petal_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$OO", names, &rate, &capacity, &bits) ||
        !rate_read(rate, &options.rate) || !u64_read(capacity, "capacity", &options.capacity) ||
        !u64_read(bits, "bits", &options.bits) || !enter_query(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_fold(self->core, &options, &core, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    return wrap_like(self, core, status, &error);
}

/* Makes a call that changes the filter and takes no other argument. */
static PyObject *change_by(filter_object *self,
                           petal_status (*change)(petal_filter *, petal_error *))
{
    petal_error error;
    petal_status status;
    if (!enter_change(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = change(self->core, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    return status < 0 ? raise_error(self->state, &error, self->path) : Py_NewRef(Py_None);
}

/* ---- keys whose number is unknown ------------------------------------------------------------ */

#define FROM_KEYS_BYTES (64ul << 20)

static bool set_default(PyObject *options, const char *name, PyObject *value)
{
    bool set = value && (PyDict_GetItemString(options, name) ||
                         PyDict_SetItemString(options, name, value) == 0);
    Py_XDECREF(value);
    return set;
}

/* A static filter allocates its memory when it is frozen. */
static bool wants_static(PyObject *options)
{
    PyObject *scheme = PyDict_GetItemString(options, "scheme");
    return scheme && PyUnicode_Check(scheme) &&
           PyUnicode_CompareWithASCIIString(scheme, "static") == 0;
}

/* Sets the options that let the filter be folded later. */
static bool set_large(PyObject *options)
{
    return wants_static(options) ||
           (set_default(options, "memory", PyLong_FromUnsignedLong(FROM_KEYS_BYTES)) &&
            set_default(options, "foldable", PyBool_FromLong(1)));
}

/* The keyword arguments are the same as for Filter(). */
static PyObject *make_large(PyTypeObject *type, PyObject *kwargs)
{
    struct state *state = state_of_type(type);
    struct options read;
    petal_filter *core = NULL;
    petal_error error;
    PyObject *none = PyTuple_New(0), *options = kwargs ? PyDict_Copy(kwargs) : PyDict_New();
    bool good = state && none && options &&
                set_default(options, "rate", PyFloat_FromDouble(0.01)) && set_large(options) &&
                options_read(none, options, &read);
    Py_XDECREF(none);
    Py_XDECREF(options);
    if (!good) return NULL;
    petal_status status = petal_create(&read.core, &core, &error);
    options_release(&read);
    if (status < 0) return raise_error(state, &error, NULL);
    return filter_wrap(type, state, core, NULL, PETAL_KEY_TYPE_NONE);
}

/* Folds the filter. If it contains too many keys, returns it unchanged. */
static PyObject *fold_if_possible(filter_object *large)
{
    petal_filter *core = NULL;
    petal_error error;
    petal_status status;
    if (!enter_query(large)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_fold(large->core, NULL, &core, &error);
    Py_END_ALLOW_THREADS
    leave(large);
    if (status == PETAL_ERR_UNREACHABLE) return Py_NewRef((PyObject *)large);
    return wrap_like(large, core, status, &error);
}

static PyObject *frozen(filter_object *large)
{
    PyObject *done = change_by(large, petal_freeze);
    Py_XDECREF(done);
    return done ? Py_NewRef((PyObject *)large) : NULL;
}

static PyObject *filter_from_keys(PyObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *keys, *folded = NULL;
    if (!PyArg_ParseTuple(args, "O:from_keys", &keys)) return NULL;
    PyObject *large = make_large((PyTypeObject *)type, kwargs);
    PyObject *added = large ? PyObject_CallMethod(large, "update", "O", keys) : NULL;
    if (added)
        folded = kwargs && wants_static(kwargs) ? frozen((filter_object *)large)
                                                : fold_if_possible((filter_object *)large);
    Py_XDECREF(added);
    Py_XDECREF(large);
    return folded;
}

/* ---- changes --------------------------------------------------------------------------------- */

static PyObject *filter_clear(filter_object *self, PyObject *unused)
{
    (void)unused;
    return change_by(self, petal_clear);
}

static PyObject *filter_freeze(filter_object *self, PyObject *unused)
{
    (void)unused;
    return change_by(self, petal_freeze);
}

typedef petal_status combiner(petal_filter *, const petal_filter *, petal_error *);

static bool combine(filter_object *self, filter_object *other, combiner *how)
{
    petal_error error;
    petal_status status;
    if (self == other) { /* uses a copy, since a counting filter adds its own counts */
        PyObject *copy = filter_copy(self, NULL);
        bool good = copy && combine(self, (filter_object *)copy, how);
        Py_XDECREF(copy);
        return good;
    }
    if (!enter_both(self, other)) return false;
    Py_BEGIN_ALLOW_THREADS
    status = how(self->core, other->core, &error);
    Py_END_ALLOW_THREADS
    leave(other);
    leave(self);
    if (status < 0) raise_error(self->state, &error, self->path);
    return status >= 0;
}

static struct state *state_of_object(PyObject *object)
{
    struct state *state = state_of_type(Py_TYPE(object));
    if (!state) PyErr_Clear();
    return state;
}

/* Returns true if both objects are filters. */
static bool are_filters(PyObject *a, PyObject *b)
{
    struct state *state = state_of_object(a);
    return state && is_filter(state, b);
}

static PyObject *in_place(PyObject *a, PyObject *b, combiner *how)
{
    if (!are_filters(a, b)) return Py_NewRef(Py_NotImplemented);
    return combine((filter_object *)a, (filter_object *)b, how) ? Py_NewRef(a) : NULL;
}

static PyObject *combined(PyObject *a, PyObject *b, combiner *how)
{
    if (!are_filters(a, b)) return Py_NewRef(Py_NotImplemented);
    PyObject *copy = filter_copy((filter_object *)a, NULL);
    if (copy && !combine((filter_object *)copy, (filter_object *)b, how)) Py_CLEAR(copy);
    return copy;
}

static PyObject *filter_or(PyObject *a, PyObject *b)
{
    return combined(a, b, petal_merge);
}

static PyObject *filter_and(PyObject *a, PyObject *b)
{
    return combined(a, b, petal_intersect);
}

static PyObject *filter_inplace_or(PyObject *a, PyObject *b)
{
    return in_place(a, b, petal_merge);
}

static PyObject *filter_inplace_and(PyObject *a, PyObject *b)
{
    return in_place(a, b, petal_intersect);
}

/* ---- equality -------------------------------------------------------------------------------- */

static petal_status compare_bits(const petal_filter *a, const petal_filter *b, bool *same,
                                 petal_error *error)
{
    petal_info info = PETAL_INFO_INIT;
    petal_get_info(a, PETAL_ALL_LAYERS, &info, NULL);
    for (uint32_t layer = 0; *same && layer < info.layers; layer++) {
        const void *ours, *theirs;
        uint64_t our_bytes, their_bytes;
        petal_status status = petal_bits(a, layer, &ours, &our_bytes, error);
        if (status == PETAL_OK) status = petal_bits(b, layer, &theirs, &their_bytes, error);
        if (status != PETAL_OK) return status;
        *same = our_bytes == their_bytes && memcmp(ours, theirs, (size_t)our_bytes) == 0;
    }
    return PETAL_OK;
}

/* A content id covers parameters and bits with only 64 bits, so if two ids are equal, the filters
 * are compared. */
static petal_status compare_filters(const petal_filter *a, const petal_filter *b, bool *same,
                                    petal_error *error)
{
    uint64_t ours, theirs;
    petal_status status = petal_content_id(a, &ours, error);
    if (status == PETAL_OK) status = petal_content_id(b, &theirs, error);
    if (status != PETAL_OK) return status;
    *same = ours == theirs;
    if (!*same) return PETAL_OK;
    status = compare_bits(a, b, same, error);
    if (status != PETAL_OK || *same) return status;
    /* if the bits don't match the id, one of the filters is damaged */
    status = petal_verify(a, error);
    return status < 0 ? status : petal_verify(b, error) < 0 ? error->status : PETAL_OK;
}

/* Returns -1 if an exception is set. A closed filter equals only itself. */
static int are_equal(filter_object *a, filter_object *b)
{
    petal_error error;
    petal_status status;
    bool same = a == b;
    if (same || !a->core || !b->core) return same;
    if (!enter_queries(a, b)) return -1;
    Py_BEGIN_ALLOW_THREADS
    status = compare_filters(a->core, b->core, &same, &error);
    Py_END_ALLOW_THREADS
    leave(b);
    leave(a);
    if (status == PETAL_OK) return same;
    raise_error(a->state, &error, NULL);
    return -1;
}

static PyObject *filter_richcompare(PyObject *a, PyObject *b, int how)
{
    if ((how != Py_EQ && how != Py_NE) || !are_filters(a, b)) return Py_NewRef(Py_NotImplemented);
    int same = are_equal((filter_object *)a, (filter_object *)b);
    return same < 0 ? NULL : PyBool_FromLong(same == (how == Py_EQ));
}

/* ---- time ------------------------------------------------------------------------------------ */

static PyObject *now_in_seconds(void)
{
    PyObject *time = PyImport_ImportModule("time");
    PyObject *now = time ? PyObject_CallMethod(time, "time", NULL) : NULL;
    Py_XDECREF(time);
    return now;
}

static PyObject *filter_advance(filter_object *self, PyObject *args)
{
    PyObject *given = NULL;
    uint64_t milliseconds = 0;
    petal_error error;
    if (!PyArg_ParseTuple(args, "|O", &given)) return NULL;
    PyObject *now = given && given != Py_None ? Py_NewRef(given) : now_in_seconds();
    bool good = now && milliseconds_read(now, "now", &milliseconds);
    Py_XDECREF(now);
    if (!good || !may_change(self)) return NULL;
    petal_status status = petal_set_clock(self->core, milliseconds, &error);
    return status < 0 ? raise_error(self->state, &error, self->path) : Py_NewRef(Py_None);
}

/* ---- looking --------------------------------------------------------------------------------- */

static petal_status get_stats(filter_object *self, petal_stats *stats, petal_error *error)
{
    petal_status status;
    Py_BEGIN_ALLOW_THREADS
    status = petal_get_stats(self->core, PETAL_ALL_LAYERS, stats, error);
    Py_END_ALLOW_THREADS
    return status;
}

/* Estimates the number of distinct keys. If all bits are set, no estimate is possible, so this
 * returns the number of keys added. */
static Py_ssize_t filter_length(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    petal_stats stats = PETAL_STATS_INIT;
    petal_info info = PETAL_INFO_INIT;
    petal_error error;
    if (!enter_query(self)) return -1;
    petal_status status = get_stats(self, &stats, &error);
    petal_get_info(self->core, PETAL_ALL_LAYERS, &info, NULL);
    leave(self);
    if (status < 0) {
        raise_error(self->state, &error, self->path);
        return -1;
    }
    double items = stats.estimated_items.value;
    if (!isfinite(items) || items >= 9e18) return (Py_ssize_t)(info.items & PY_SSIZE_T_MAX);
    return (Py_ssize_t)(items + 0.5);
}

/* Other libraries' files don't record the number of keys, so the bits show whether the filter is
 * empty. */
static int filter_bool(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    petal_info info = PETAL_INFO_INIT;
    petal_stats stats = PETAL_STATS_INIT;
    petal_error error;
    if (!enter_query(self)) return -1;
    petal_status status = petal_get_info(self->core, PETAL_ALL_LAYERS, &info, &error);
    if (status >= 0 && info.items == 0) status = get_stats(self, &stats, &error);
    leave(self);
    if (status >= 0) return info.items > 0 || stats.bits_set > 0;
    raise_error(self->state, &error, self->path);
    return -1;
}

/* Describes the number of keys for human readers. Most other libraries' files don't record this
 * number. In that case it is estimated from the bits, unless the filter is large. */
static void describe_items(const petal_filter *core, const petal_info *info, char text[48])
{
    petal_stats stats = PETAL_STATS_INIT;
    text[0] = '\0';
    if (strcmp(info->format_name, "petal") == 0) {
        snprintf(text, 48, ", %llu items", (unsigned long long)info->items);
        return;
    }
    if (info->bytes > (1u << 24) || petal_get_stats(core, PETAL_ALL_LAYERS, &stats, NULL) < 0 ||
        !isfinite(stats.estimated_items.value))
        return;
    snprintf(text, 48, ", about %.0f items", stats.estimated_items.value);
}

static PyObject *filter_repr(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    petal_info info = PETAL_INFO_INIT;
    char text[256], rate[32] = "", capacity[48] = "", items[48];
    if (!self->core) return PyUnicode_FromString("<petal.Filter, closed>");
    if (!may_query(self)) return NULL;
    petal_get_info(self->core, PETAL_ALL_LAYERS, &info, NULL);
    if (!isnan(info.target_rate)) snprintf(rate, sizeof rate, ", rate %.6g", info.target_rate);
    if (info.capacity)
        snprintf(capacity, sizeof capacity, ", capacity %llu", (unsigned long long)info.capacity);
    describe_items(self->core, &info, items);
    snprintf(text, sizeof text, "<petal.Filter %s%s%s%s, %llu bytes>", info.scheme_name, capacity,
             rate, items, (unsigned long long)info.bytes);
    return PyUnicode_FromString(text);
}

static PyObject *filter_sizeof(filter_object *self, PyObject *unused)
{
    petal_info info = PETAL_INFO_INIT;
    (void)unused;
    if (self->core && !may_query(self)) return NULL;
    if (self->core) petal_get_info(self->core, PETAL_ALL_LAYERS, &info, NULL);
    return PyLong_FromUnsignedLongLong(sizeof *self + info.memory_bytes);
}

static PyObject *filter_content_id(filter_object *self, PyObject *unused)
{
    uint64_t id;
    petal_error error;
    petal_status status;
    (void)unused;
    if (!enter_query(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_content_id(self->core, &id, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    return status < 0 ? raise_error(self->state, &error, self->path)
                      : PyLong_FromUnsignedLongLong(id);
}

/* ---- pickle ---------------------------------------------------------------------------------- */

static PyObject *filter_reduce(filter_object *self, PyObject *protocol)
{
    petal_info info = PETAL_INFO_INIT;
    (void)protocol;
    if (!may_query(self)) return NULL;
    petal_get_info(self->core, PETAL_ALL_LAYERS, &info, NULL);
    if (info.keyed) {
        PyErr_SetString(PyExc_TypeError,
                        "a keyed filter is not pickled: its secret would be missing; save() it");
        return NULL;
    }
    PyObject *nothing = PyTuple_New(0);
    PyObject *bytes = nothing ? filter_to_bytes(self, nothing, NULL) : NULL;
    PyObject *module = bytes ? PyImport_ImportModule("petal") : NULL;
    PyObject *load = module ? PyObject_GetAttrString(module, "_unpickle") : NULL;
    PyObject *type = (PyObject *)Py_TYPE((PyObject *)self), *reduced = NULL;
    PyObject *attributes = attributes_of((PyObject *)self);
    if (load)
        reduced = Py_BuildValue("O(OOz)O", load, type, bytes, key_type_name(self->key_type),
                                attributes ? attributes : Py_None);
    Py_XDECREF(attributes);
    Py_XDECREF(nothing);
    Py_XDECREF(bytes);
    Py_XDECREF(module);
    Py_XDECREF(load);
    return reduced;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static PyObject *get_closed(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((filter_object *)object)->core);
}

static PyObject *get_key_type(PyObject *object, void *unused)
{
    const char *name = key_type_name(((filter_object *)object)->key_type);
    (void)unused;
    return name ? PyUnicode_FromString(name) : Py_NewRef(Py_None);
}

static PyObject *get_path(PyObject *object, void *unused)
{
    PyObject *path = ((filter_object *)object)->path;
    (void)unused;
    return Py_NewRef(path ? path : Py_None);
}

static PyObject *get_overfull(PyObject *object, void *unused)
{
    filter_object *self = (filter_object *)object;
    (void)unused;
    return may_query(self) ? PyBool_FromLong(petal_is_overfull(self->core)) : NULL;
}

static PyObject *get_metadata(PyObject *object, void *unused)
{
    filter_object *self = (filter_object *)object;
    uint64_t size = 0;
    (void)unused;
    if (!may_query(self)) return NULL;
    const char *bytes = petal_metadata(self->core, &size);
    return PyBytes_FromStringAndSize(bytes, bytes ? (Py_ssize_t)size : 0);
}

static int set_metadata(PyObject *object, PyObject *value, void *unused)
{
    filter_object *self = (filter_object *)object;
    Py_buffer bytes = {.buf = NULL};
    petal_error error;
    (void)unused;
    if (value && PyUnicode_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "metadata must be bytes");
        return -1;
    }
    if (value && PyObject_GetBuffer(value, &bytes, PyBUF_SIMPLE) < 0) return -1;
    bool may = may_change(self);
    petal_status status =
        may ? petal_set_metadata(self->core, bytes.buf, (uint64_t)bytes.len, &error) : PETAL_OK;
    if (value) PyBuffer_Release(&bytes);
    if (status < 0) raise_error(self->state, &error, self->path);
    return may && status >= 0 ? 0 : -1;
}

static PyGetSetDef getset[] = {
    {"closed", get_closed, NULL, "Whether close() was called.", NULL},
    {"key_type", get_key_type, NULL,
     "What the keys are: 'text', 'i64', ... as the file records it; None: any.", NULL},
    {"path", get_path, NULL, "The file that it was opened from, or None.", NULL},
    {"is_overfull", get_overfull, NULL,
     "Whether it certainly holds more distinct keys than its capacity.", NULL},
    {"metadata", get_metadata, set_metadata, "Bytes of the user's that are kept in the file.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define CALL(name) ((PyCFunction)(void (*)(void))(name))
#define WITH_NAMES (METH_VARARGS | METH_KEYWORDS)

#include "docs.h"

static PyMethodDef methods[] = {
    {"add", CALL(filter_add), METH_O, DOC_ADD},
    {"discard", CALL(filter_discard), METH_O, DOC_DISCARD},
    {"remove", CALL(filter_remove), METH_O, DOC_REMOVE},
    {"update", CALL(filter_update), WITH_NAMES, DOC_UPDATE},
    {"add_batch", CALL(filter_add_batch), WITH_NAMES, DOC_ADD_BATCH},
    {"contains_batch", CALL(filter_contains_batch), WITH_NAMES, DOC_CONTAINS_BATCH},
    {"discard_batch", CALL(filter_discard_batch), WITH_NAMES, DOC_DISCARD_BATCH},
    {"contains_any", CALL(filter_contains_any), WITH_NAMES, DOC_CONTAINS_ANY},
    {"contains_all", CALL(filter_contains_all), WITH_NAMES, DOC_CONTAINS_ALL},
    {"hash_key", CALL(filter_hash_key), METH_O, DOC_HASH_KEY},
    {"copy", CALL(filter_copy), METH_NOARGS, DOC_COPY},
    {"__copy__", CALL(filter_shallow), METH_NOARGS, DOC_COPY},
    {"__deepcopy__", CALL(filter_deep), METH_O, DOC_DEEPCOPY},
    {"__sizeof__", CALL(filter_sizeof), METH_NOARGS, DOC_SIZEOF},
    {"__reduce_ex__", CALL(filter_reduce), METH_O, DOC_REDUCE},
    {"empty_like", CALL(filter_empty_like), METH_NOARGS, DOC_EMPTY_LIKE},
    {"drop_counts", CALL(filter_drop_counts), METH_NOARGS, DOC_DROP_COUNTS},
    {"fold", CALL(filter_fold), WITH_NAMES, DOC_FOLD},
    {"from_keys", CALL(filter_from_keys), WITH_NAMES | METH_CLASS, DOC_FROM_KEYS},
    {"clear", CALL(filter_clear), METH_NOARGS, DOC_CLEAR},
    {"freeze", CALL(filter_freeze), METH_NOARGS, DOC_FREEZE},
    {"advance", CALL(filter_advance), METH_VARARGS, DOC_ADVANCE},
    {"info", CALL(filter_info), WITH_NAMES, DOC_INFO},
    {"stats", CALL(filter_stats), WITH_NAMES, DOC_STATS},
    {"compare", CALL(filter_compare), METH_O, DOC_COMPARE},
    {"content_id", CALL(filter_content_id), METH_NOARGS, DOC_CONTENT_ID},
    {"open", CALL(filter_open), WITH_NAMES | METH_CLASS, DOC_OPEN},
    {"save", CALL(filter_save), WITH_NAMES, DOC_SAVE},
    {"sync", CALL(filter_sync), METH_NOARGS, DOC_SYNC},
    {"verify", CALL(filter_verify), METH_NOARGS, DOC_VERIFY},
    {"to_bytes", CALL(filter_to_bytes), WITH_NAMES, DOC_TO_BYTES},
    {"from_bytes", CALL(filter_from_bytes), WITH_NAMES | METH_CLASS, DOC_FROM_BYTES},
    {"view", CALL(filter_view), WITH_NAMES | METH_CLASS, DOC_VIEW},
    {"write_to", CALL(filter_write_to), WITH_NAMES, DOC_WRITE_TO},
    {"read_from", CALL(filter_read_from), WITH_NAMES | METH_CLASS, DOC_READ_FROM},
    {"close", CALL(filter_close), METH_NOARGS, DOC_CLOSE},
    {"__enter__", CALL(filter_enter), METH_NOARGS, NULL},
    {"__exit__", CALL(filter_exit), METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(filter_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, DOC_FILTER},
    {Py_tp_new, filter_new},
    {Py_tp_init, filter_init},
    {Py_tp_members, members},
    {Py_tp_richcompare, filter_richcompare},
    {Py_tp_hash, PyObject_HashNotImplemented}, /* not hashable, because mutable */
    {Py_tp_dealloc, filter_dealloc},
    {Py_tp_repr, filter_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_sq_contains, filter_contains},
    {Py_sq_length, filter_length},
    {Py_nb_bool, filter_bool},
    {Py_nb_or, filter_or},
    {Py_nb_and, filter_and},
    {Py_nb_inplace_or, filter_inplace_or},
    {Py_nb_inplace_and, filter_inplace_and},
    {0, NULL},
};

PyType_Spec filter_spec = {
    .name = "petal.Filter",
    .basicsize = sizeof(filter_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
