/* index.c - the type Index, which contains many filters in one file and queries them with a single
 * call. The object is a filter_object with an index in place of a filter, so it uses the same
 * gate. */
#include "module.h"

#include <petal/petal_build.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

typedef struct index_object {
    filter_object object;
    petal_index_options options; /* of an index under construction */
} index_object;

static petal_index_info info_of(filter_object *self)
{
    petal_index_info info = PETAL_INDEX_INFO_INIT;
    petal_index_get_info(self->index, &info, NULL);
    return info;
}

static PyObject *raise_it(filter_object *self, const petal_error *error)
{
    return raise_error(self->state, error, self->path);
}

/* ---- life ------------------------------------------------------------------------------------ */

static PyObject *index_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    struct state *state = state_of_type(type);
    filter_object *self = state ? filter_make(type, state) : NULL;
    (void)args, (void)kwargs;
    if (self) self->is_index = true;
    return (PyObject *)self;
}

/* The caller may modify the returned object. */
static void take(filter_object *self, petal_index *index, PyObject *path)
{
    petal_index_free(self->index);
    Py_XDECREF(self->path);
    self->index = index;
    self->path = Py_XNewRef(path);
    self->changes++;
    self->key_type = info_of(self).key_type;
}

static bool options_of(PyObject *args, PyObject *kwargs, petal_index_options *options)
{
    static char *names[] = {"scheme", "fold", NULL};
    const char *scheme = NULL;
    int fold = 0;
    *options = PETAL_INDEX_OPTIONS_INIT;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$zp", names, &scheme, &fold)) return false;
    options->fold = fold != 0;
    if (!scheme || strcmp(scheme, "blocked") == 0) return true;
    options->scheme = PETAL_SCHEME_CLASSIC;
    if (strcmp(scheme, "classic") == 0) return true;
    PyErr_Format(PyExc_ValueError, "unknown scheme '%s'; choose blocked or classic", scheme);
    return false;
}

static int index_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    filter_object *self = (filter_object *)object;
    petal_index_options options;
    petal_index *index;
    petal_error error;
    if (!options_of(args, kwargs, &options)) return -1;
    petal_status status = petal_index_create(&options, &index, &error);
    if (status < 0) {
        raise_error(self->state, &error, NULL);
        return -1;
    }
    if (self->index && !may_change(self)) { /* called twice */
        petal_index_free(index);
        return -1;
    }
    ((index_object *)self)->options = options;
    take(self, index, NULL);
    return 0;
}

static void index_dealloc(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->weak_references) PyObject_ClearWeakRefs(object);
    petal_index_free(self->index);
    gate_end(self);
    Py_XDECREF(self->path);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *index_close(filter_object *self, PyObject *unused)
{
    (void)unused;
    if (!self->index) return Py_NewRef(Py_None);
    if (may_change(self)) {
        petal_index_free(self->index);
        self->index = NULL;
    } else if (self->index) {
        return NULL;
    } else {
        PyErr_Clear(); /* another thread has closed the index */
    }
    return Py_NewRef(Py_None);
}

static PyObject *index_enter(filter_object *self, PyObject *unused)
{
    (void)unused;
    return may_query(self) ? Py_NewRef((PyObject *)self) : NULL;
}

static PyObject *index_exit(filter_object *self, PyObject *args)
{
    (void)args;
    return index_close(self, NULL);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names are bytes. A name that is not UTF-8 is decoded as by os.fsdecode(). */
static PyObject *decoded(const char *name)
{
    return PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "surrogateescape");
}

/* Returns the name as a bytes object. */
static PyObject *encoded(PyObject *name)
{
    char *bytes;
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_TypeError, "a filter's name must be str");
        return NULL;
    }
    PyObject *made = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
    if (made && PyBytes_AsStringAndSize(made, &bytes, NULL) < 0) Py_CLEAR(made); /* has a NUL */
    return made;
}

static PyObject *name_at(filter_object *self, uint64_t number)
{
    return decoded(petal_index_name(self->index, number));
}

static PyObject *index_names(filter_object *self, PyObject *unused)
{
    (void)unused;
    if (!may_query(self)) return NULL;
    uint64_t count = info_of(self).filters;
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (uint64_t i = 0; list && i < count; i++) {
        PyObject *name = name_at(self, i);
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) Py_CLEAR(list);
    }
    return list;
}

static Py_ssize_t index_length(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    return may_query(self) ? (Py_ssize_t)info_of(self).filters : -1;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* This is called after every change, even if the change failed, because it may have added some of
 * the filters. */
static PyObject *changed(filter_object *self, petal_status status, const petal_error *error)
{
    self->changes++;
    self->key_type = info_of(self).key_type;
    leave(self);
    return status < 0 ? raise_error(self->state, error, NULL) : Py_NewRef(Py_None);
}

static PyObject *index_add(filter_object *self, PyObject *args)
{
    PyObject *name, *other;
    petal_error error;
    petal_status status;
    if (!PyArg_ParseTuple(args, "OO", &name, &other)) return NULL;
    if (!is_filter(self->state, other)) {
        PyErr_SetString(PyExc_TypeError, "add() takes a name and a Filter; see add_keys()");
        return NULL;
    }
    PyObject *bytes = encoded(name);
    filter_object *filter = (filter_object *)other;
    if (!bytes || !enter_both(self, filter)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    const char *text = PyBytes_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS
    status = petal_index_add(self->index, text, filter->core, &error);
    Py_END_ALLOW_THREADS
    leave(filter);
    Py_DECREF(bytes);
    return changed(self, status, &error);
}

/* Adds the keys to the builder. The answers are ignored. */
static bool collect(filter_object *self, petal_static_builder *builder, uint32_t key_type,
                    PyObject *keys, PyObject *offsets)
{
    struct work work = {
        .filter = self, .verb = VERB_COLLECT, .key_type = key_type, .builder = builder};
    PyObject *done = batch_run(&work, false, keys, offsets);
    Py_XDECREF(done);
    return done != NULL;
}

static void forget(petal_static_builder *builder)
{
    petal_error error;
    if (builder && petal_static_finish(builder, NULL, NULL, NULL, &error) < 0) return;
}

/* Ends the builder. */
static PyObject *add_builder(filter_object *self, const char *name, petal_static_builder *builder)
{
    petal_error error;
    petal_status status;
    if (!enter_change(self)) {
        forget(builder);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = petal_index_add_keys(self->index, name, builder, &error);
    Py_END_ALLOW_THREADS
    return changed(self, status, &error);
}

/* All filters in an index have the same key type, which is text if the filters record none. */
static bool choose_key_type(filter_object *self, PyObject *given, uint32_t *key_type)
{
    uint32_t asked;
    if (!may_query(self) || !key_type_read(given, &asked) ||
        !key_type_choose(self->key_type, asked, key_type))
        return false;
    if (*key_type == PETAL_KEY_TYPE_NONE) *key_type = PETAL_KEY_TYPE_TEXT;
    return true;
}

static petal_static_builder *make_builder(filter_object *self, const petal_options *options)
{
    petal_static_builder *builder;
    petal_error error;
    if (petal_static_create(options, 1, &builder, &error) >= 0) return builder;
    raise_error(self->state, &error, NULL);
    return NULL;
}

static PyObject *index_add_keys(filter_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"", "", "rate", "offsets", "seed", "secret", "key_type", NULL};
    petal_options options = PETAL_OPTIONS_INIT;
    PyObject *name, *keys, *rate = NULL, *offsets = NULL, *seed = NULL, *secret = NULL;
    PyObject *key_type = NULL, *added = NULL;
    Py_buffer buffer = {.obj = NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|O$OOOO", names, &name, &keys, &rate,
                                     &offsets, &seed, &secret, &key_type))
        return NULL;
    options.rate = 0.01;
    if (!rate_read(rate, &options.rate) || !u64_read(seed, "seed", &options.seed) ||
        !choose_key_type(self, key_type, &options.key_type) || !secret_read(secret, &buffer))
        return NULL;
    if (buffer.obj) options.secret = buffer.buf;
    PyObject *bytes = encoded(name);
    petal_static_builder *builder = bytes ? make_builder(self, &options) : NULL;
    if (buffer.obj) PyBuffer_Release(&buffer);
    if (builder && collect(self, builder, options.key_type, keys, offsets))
        added = add_builder(self, PyBytes_AsString(bytes), builder);
    else
        forget(builder);
    Py_XDECREF(bytes);
    return added;
}

/* The names of the filters to leave out. */
struct names {
    PyObject *list; /* of bytes objects */
    const char **each;
    uint64_t count;
};

static void names_free(struct names *names)
{
    Py_XDECREF(names->list);
    PyMem_Free(names->each);
}

static bool names_add(struct names *names, PyObject *name)
{
    PyObject *bytes = encoded(name);
    bool good = bytes && PyList_Append(names->list, bytes) == 0;
    Py_XDECREF(bytes);
    return good;
}

/* Reads any iterable of str. */
static bool names_read(PyObject *iterable, struct names *names)
{
    PyObject *iterator = NULL, *name;
    bool good = (names->list = PyList_New(0)) != NULL;
    if (good && iterable && PyUnicode_Check(iterable)) {
        PyErr_SetString(PyExc_TypeError, "without must be a list of names, not one str");
        return false;
    }
    if (good && iterable) good = (iterator = PyObject_GetIter(iterable)) != NULL;
    while (good && iterator && (name = PyIter_Next(iterator))) {
        good = names_add(names, name);
        Py_DECREF(name);
    }
    Py_XDECREF(iterator);
    if (!good || PyErr_Occurred()) return false;
    names->count = (uint64_t)PyList_Size(names->list);
    names->each = PyMem_Malloc((size_t)(names->count + 1) * sizeof *names->each);
    if (!names->each) PyErr_NoMemory();
    for (uint64_t i = 0; names->each && i < names->count; i++)
        names->each[i] = PyBytes_AsString(PyList_GetItem(names->list, (Py_ssize_t)i));
    return names->each != NULL;
}

static bool is_index(struct state *state, PyObject *object)
{
    return PyObject_TypeCheck(object, state->index);
}

static PyObject *index_update(filter_object *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"", "without", NULL};
    PyObject *object, *without = NULL;
    struct names names = {NULL, NULL, 0};
    petal_error error;
    petal_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O", keywords, &object, &without))
        return NULL;
    filter_object *other = (filter_object *)object;
    if (!is_index(self->state, object) || self == other) {
        PyErr_SetString(PyExc_TypeError, "update() takes another Index");
        return NULL;
    }
    if (!names_read(without, &names) || !enter_both(self, other)) {
        names_free(&names);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    status = petal_index_add_index(self->index, other->index, names.each, names.count, &error);
    Py_END_ALLOW_THREADS
    leave(other);
    names_free(&names);
    return changed(self, status, &error);
}

/* Rebuilds the index without this filter. */
static petal_status without(filter_object *self, const char *name, petal_index **made,
                            petal_error *error)
{
    petal_status status = petal_index_create(&((index_object *)self)->options, made, error);
    if (status >= 0) status = petal_index_add_index(*made, self->index, &name, 1, error);
    if (status < 0) petal_index_free(*made);
    return status;
}

static PyObject *index_drop(filter_object *self, PyObject *name)
{
    petal_index *made = NULL;
    petal_error error;
    petal_status status;
    PyObject *bytes = encoded(name);
    if (!bytes || !enter_change(self)) {
        Py_XDECREF(bytes);
        return NULL;
    }
    if (info_of(self).opened) {
        leave(self);
        Py_DECREF(bytes);
        PyErr_SetString(self->state->error,
                        "an opened index is read-only: make a new one by update(), with without=");
        return NULL;
    }
    const char *text = PyBytes_AsString(bytes);
    Py_BEGIN_ALLOW_THREADS
    status = without(self, text, &made, &error);
    Py_END_ALLOW_THREADS
    Py_DECREF(bytes);
    if (status >= 0) take(self, made, NULL);
    return changed(self, status, &error);
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Returns a bytearray with one byte per key, which is ANSWER_NULL if the key is null. */
static PyObject *run(filter_object *self, struct rows *rows, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"", "offsets", NULL};
    PyObject *keys, *offsets = NULL;
    struct work work = {.filter = self, .verb = VERB_WHICH, .rows = rows};
    *rows = (struct rows){.words = NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &keys, &offsets)) return NULL;
    work.key_type = self->key_type;
    return batch_run(&work, true, keys, offsets);
}

/* Returns the names of the filters whose bits are set in a row. Fails if the index has changed
 * since the query. */
static PyObject *names_in(filter_object *self, const struct rows *rows, uint64_t number)
{
    const uint64_t *row = rows->words + number * rows->row_words;
    PyObject *list = PyList_New(0);
    for (uint64_t i = 0; list && i < rows->row_words; i++) {
        for (uint64_t left = row[i], bit = 0; list && left; left >>= 1, bit++) {
            if (!(left & 1)) continue;
            PyObject *name = name_at(self, 64 * i + bit);
            if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
            Py_XDECREF(name);
        }
    }
    return list;
}

static PyObject *lists_of(filter_object *self, const struct rows *rows, PyObject *answers)
{
    Py_ssize_t count = PyByteArray_Size(answers);
    const char *each = PyByteArray_AsString(answers);
    PyObject *lists = PyList_New(count);
    uint64_t number = 0;
    for (Py_ssize_t i = 0; lists && i < count; i++) {
        PyObject *one = each[i] == ANSWER_NULL ? Py_NewRef(Py_None) : names_in(self, rows, number);
        if (each[i] != ANSWER_NULL) number++;
        if (!one || PyList_SetItem(lists, i, one) < 0) Py_CLEAR(lists);
    }
    return lists;
}

static PyObject *index_which_batch(filter_object *self, PyObject *args, PyObject *kwargs)
{
    struct rows rows;
    PyObject *answers = run(self, &rows, args, kwargs), *lists = NULL;
    if (answers && may_query(self)) {
        if (rows_are_current(self, &rows))
            lists = lists_of(self, &rows, answers);
        else
            PyErr_SetString(self->state->error, "the index was changed during the call");
    }
    Py_XDECREF(answers);
    free(rows.words);
    return lists;
}

/* Returns the rows of all keys as bytes. Rows for nulls are zero. */
static PyObject *bytes_of(const struct rows *rows, PyObject *answers)
{
    size_t row_bytes = (size_t)rows->row_words * sizeof *rows->words;
    Py_ssize_t count = PyByteArray_Size(answers);
    const char *each = PyByteArray_AsString(answers);
    if (row_bytes > 0 && (size_t)count > PY_SSIZE_T_MAX / row_bytes) return PyErr_NoMemory();
    PyObject *bytes = PyByteArray_FromStringAndSize(NULL, count * (Py_ssize_t)row_bytes);
    if (!bytes || row_bytes == 0) return bytes;
    char *to = PyByteArray_AsString(bytes);
    const uint64_t *row = rows->words;
    for (Py_ssize_t i = 0; i < count; i++, to += row_bytes) {
        if (each[i] == ANSWER_NULL) {
            memset(to, 0, row_bytes);
        } else {
            memcpy(to, row, row_bytes);
            row += rows->row_words;
        }
    }
    return bytes;
}

static PyObject *index_bits_batch(filter_object *self, PyObject *args, PyObject *kwargs)
{
    struct rows rows;
    PyObject *answers = run(self, &rows, args, kwargs);
    PyObject *bytes = answers ? bytes_of(&rows, answers) : NULL;
    PyObject *view = bytes ? PyMemoryView_FromObject(bytes) : NULL;
    PyObject *words = view ? PyObject_CallMethod(view, "cast", "s", "Q") : NULL;
    Py_XDECREF(answers);
    Py_XDECREF(bytes);
    Py_XDECREF(view);
    free(rows.words);
    return words;
}

/* Queries one key. If this fails, it sets an exception and returns false. */
static bool query_one(filter_object *self, PyObject *object, struct rows *rows)
{
    struct key key;
    petal_batch batch = PETAL_BATCH_INIT;
    struct work work = {.filter = self, .verb = VERB_WHICH, .rows = rows};
    *rows = (struct rows){.words = NULL};
    if (!key_read(object, self->key_type, &key)) return false;
    petal_key one = {key.data, key.size};
    batch.data = &one;
    batch.count = 1;
    bool may = may_query(self), good = may && which_run(&work, &batch, NULL);
    key_release(&key);
    if (good || !may) return good;
    work.error.offset = PETAL_NO_OFFSET; /* the index would always be 0 */
    raise_it(self, &work.error);
    return false;
}

static PyObject *index_which(filter_object *self, PyObject *key)
{
    struct rows rows;
    PyObject *list = query_one(self, key, &rows) ? names_in(self, &rows, 0) : NULL;
    free(rows.words);
    return list;
}

static int index_contains(PyObject *object, PyObject *key)
{
    struct rows rows;
    int found = query_one((filter_object *)object, key, &rows) ? 0 : -1;
    for (uint64_t i = 0; found == 0 && i < rows.row_words; i++) found = rows.words[i] != 0;
    free(rows.words);
    return found;
}

/* ---- files ----------------------------------------------------------------------------------- */

static PyObject *index_open(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "secret", "verify", "memory_limit", NULL};
    PyObject *object, *secret = NULL, *verify = NULL, *limit = NULL;
    PyObject *path = NULL, *shown = NULL, *made = NULL;
    petal_open_options options = PETAL_OPEN_OPTIONS_INIT;
    petal_index *index = NULL;
    petal_error error;
    petal_status status;
    Py_buffer buffer = {.obj = NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOO", names, &object, &secret, &verify,
                                     &limit) ||
        !verify_read(verify, &options.flags) ||
        !u64_read(limit, "memory_limit", &options.memory_limit))
        return NULL;
    if (path_read(object, &path, &shown) && secret_read(secret, &buffer) &&
        (made = index_new((PyTypeObject *)type, NULL, NULL))) {
        if (buffer.obj) options.secret = buffer.buf;
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        status = petal_index_open(name, &options, &index, &error);
        Py_END_ALLOW_THREADS
        if (status >= 0) {
            take((filter_object *)made, index, shown);
        } else {
            raise_error(((filter_object *)made)->state, &error, shown);
            Py_CLEAR(made);
        }
    }
    if (buffer.obj) PyBuffer_Release(&buffer);
    Py_XDECREF(path);
    Py_XDECREF(shown);
    return made;
}

static PyObject *index_save(filter_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "replace", "no_lock", "new_owner", NULL};
    PyObject *object, *path = NULL, *shown = NULL, *result = NULL;
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    int replace = 1, no_lock = 0, new_owner = 0;
    petal_error error;
    petal_status status;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$ppp", names, &object, &replace, &no_lock,
                                     &new_owner))
        return NULL;
    options.flags = (replace ? 0 : PETAL_SAVE_NO_REPLACE) | (no_lock ? PETAL_SAVE_NO_LOCK : 0) |
                    (new_owner ? PETAL_SAVE_NEW_OWNER : 0);
    if (path_read(object, &path, &shown) && enter_query(self)) {
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        status = petal_index_save(self->index, name, &options, &error);
        Py_END_ALLOW_THREADS
        leave(self);
        result = status < 0 ? raise_error(self->state, &error, shown) : Py_NewRef(Py_None);
    }
    Py_XDECREF(path);
    Py_XDECREF(shown);
    return result;
}

static PyObject *index_verify(filter_object *self, PyObject *unused)
{
    petal_error error;
    petal_status status;
    (void)unused;
    if (!enter_query(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_index_verify(self->index, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    return status < 0 ? raise_it(self, &error) : PyBool_FromLong(status == PETAL_OK);
}

/* ---- looking --------------------------------------------------------------------------------- */

static PyObject *index_info(filter_object *self, PyObject *unused)
{
    (void)unused;
    if (!may_query(self)) return NULL;
    petal_index_info info = info_of(self);
    PyObject *secret_id =
        info.secret_id ? PyLong_FromUnsignedLong(info.secret_id) : Py_NewRef(Py_None);
    if (!secret_id) return NULL;
    return PyObject_CallFunction(
        self->state->index_info, "KIKKKKKzNO", (unsigned long long)info.filters,
        (unsigned int)info.groups, (unsigned long long)info.row_words,
        (unsigned long long)info.bytes, (unsigned long long)info.bits_bytes,
        (unsigned long long)info.filter_bytes, (unsigned long long)info.memory_bytes,
        key_type_name(info.key_type), secret_id, info.opened ? Py_True : Py_False);
}

static PyObject *index_repr(PyObject *object)
{
    filter_object *self = (filter_object *)object;
    char text[128];
    if (!self->index) return PyUnicode_FromString("<petal.Index, closed>");
    if (!may_query(self)) return NULL;
    petal_index_info info = info_of(self);
    PyOS_snprintf(text, sizeof text, "<petal.Index of %llu filters, %llu bytes>",
                  (unsigned long long)info.filters, (unsigned long long)info.bytes);
    return PyUnicode_FromString(text);
}

static PyObject *index_sizeof(filter_object *self, PyObject *unused)
{
    (void)unused;
    if (self->index && !may_query(self)) return NULL;
    uint64_t bytes = self->index ? info_of(self).memory_bytes : 0;
    return PyLong_FromUnsignedLongLong(sizeof(index_object) + bytes);
}

static PyObject *get_closed(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(!((filter_object *)object)->index);
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

static PyGetSetDef getset[] = {
    {"closed", get_closed, NULL, "Whether close() was called.", NULL},
    {"key_type", get_key_type, NULL, "What the keys of all filters are; None: no filters yet.",
     NULL},
    {"path", get_path, NULL, "The file that it was opened from, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

#define CALL(name) ((PyCFunction)(void (*)(void))(name))
#define WITH_NAMES (METH_VARARGS | METH_KEYWORDS)

#include "docs.h"

static PyMethodDef methods[] = {
    {"add", CALL(index_add), METH_VARARGS, DOC_INDEX_ADD},
    {"add_keys", CALL(index_add_keys), WITH_NAMES, DOC_INDEX_ADD_KEYS},
    {"update", CALL(index_update), WITH_NAMES, DOC_INDEX_UPDATE},
    {"drop", CALL(index_drop), METH_O, DOC_INDEX_DROP},
    {"names", CALL(index_names), METH_NOARGS, DOC_INDEX_NAMES},
    {"which", CALL(index_which), METH_O, DOC_INDEX_WHICH},
    {"which_batch", CALL(index_which_batch), WITH_NAMES, DOC_INDEX_WHICH_BATCH},
    {"bits_batch", CALL(index_bits_batch), WITH_NAMES, DOC_INDEX_BITS_BATCH},
    {"info", CALL(index_info), METH_NOARGS, DOC_INDEX_INFO},
    {"open", CALL(index_open), WITH_NAMES | METH_CLASS, DOC_INDEX_OPEN},
    {"save", CALL(index_save), WITH_NAMES, DOC_INDEX_SAVE},
    {"verify", CALL(index_verify), METH_NOARGS, DOC_INDEX_VERIFY},
    {"close", CALL(index_close), METH_NOARGS, DOC_INDEX_CLOSE},
    {"__sizeof__", CALL(index_sizeof), METH_NOARGS, DOC_SIZEOF},
    {"__enter__", CALL(index_enter), METH_NOARGS, NULL},
    {"__exit__", CALL(index_exit), METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(filter_object, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, DOC_INDEX},
    {Py_tp_new, index_new},
    {Py_tp_init, index_init},
    {Py_tp_members, members},
    {Py_tp_dealloc, index_dealloc},
    {Py_tp_repr, index_repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_sq_contains, index_contains},
    {Py_sq_length, index_length},
    {0, NULL},
};

PyType_Spec index_spec = {
    .name = "petal.Index",
    .basicsize = sizeof(index_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
