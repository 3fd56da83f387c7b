/* batch.c - processes many keys in one call, from lists and other iterables, from buffers such as
 * numpy arrays, and from bytes with offsets. arrow.c handles Arrow's arrays.
 *
 * The GIL is released while the core works, unless there are only a few keys. A list's keys are
 * pinned piece by piece. Short strings are copied instead, which doesn't touch their reference
 * counts. */
#include "module.h"

#include <string.h>

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

enum { LIST_PIECE = 2048, MAX_COPIED_BYTES = 64 };

static bool changes(enum verb verb)
{
    return verb == VERB_ADD || verb == VERB_DISCARD;
}

/* ---- lists and iterables --------------------------------------------------------------------- */

/* Keys from Python objects. Each object is either kept alive or has its bytes copied. */
struct pinned {
    Py_ssize_t count, room, object_count, held_count, held_room;
    PyObject **objects;
    petal_key *keys;
    char *copies, *next_copy; /* MAX_COPIED_BYTES per key */
    struct key *held;         /* the few keys that hold a buffer or a reference */
};

static bool pinned_create(struct pinned *pinned, Py_ssize_t room)
{
    size_t bytes = sizeof *pinned->keys + sizeof *pinned->objects + MAX_COPIED_BYTES;
    memset(pinned, 0, sizeof *pinned);
    pinned->room = room;
    pinned->keys = PyMem_Malloc((size_t)room * bytes);
    if (!pinned->keys) {
        PyErr_NoMemory();
        return false;
    }
    pinned->objects = (PyObject **)(pinned->keys + room);
    pinned->copies = pinned->next_copy = (char *)(pinned->objects + room);
    return true;
}

static void pinned_clear(struct pinned *pinned)
{
    for (Py_ssize_t i = 0; i < pinned->held_count; i++) key_release(&pinned->held[i]);
    for (Py_ssize_t i = 0; i < pinned->object_count; i++) Py_DECREF(pinned->objects[i]);
    pinned->count = pinned->object_count = pinned->held_count = 0;
    pinned->next_copy = pinned->copies;
}

static void pinned_free(struct pinned *pinned)
{
    pinned_clear(pinned);
    PyMem_Free(pinned->held);
    PyMem_Free(pinned->keys);
}

static bool hold(struct pinned *pinned, struct key *key)
{
    if (pinned->held_count == pinned->held_room) {
        Py_ssize_t room = pinned->held_room ? 2 * pinned->held_room : 64;
        struct key *held = PyMem_Realloc(pinned->held, (size_t)room * sizeof *held);
        if (!held) {
            key_release(key);
            PyErr_NoMemory();
            return false;
        }
        pinned->held = held;
        pinned->held_room = room;
    }
    pinned->held[pinned->held_count++] = *key;
    return true;
}

/* Copies 16 bytes at a time. The last 16 bytes may overlap the previous ones. Calling memcpy()
 * would take longer. */
static inline char *copy_bytes(char *to, const char *from, size_t size)
{
    if (size < 16) return (char *)memcpy(to, from, size) + size;
    for (size_t i = 0; i < size - 16; i += 16) memcpy(to + i, from + i, 16);
    memcpy(to + size - 16, from + size - 16, 16);
    return to + size;
}

/* Most keys are short strings whose objects already contain their UTF-8 form. Copies keys up to the
 * first one of another kind, and returns the number of copied keys. Runs no Python code. */
static int copy_texts(struct pinned *pinned, PyObject *const *objects, int count, uint32_t key_type)
{
    petal_key *key = pinned->keys + pinned->count;
    char *to = pinned->next_copy;
    int done = 0;
    if (key_type > PETAL_KEY_TYPE_TEXT) return 0;
    for (; done < count && PyUnicode_CheckExact(objects[done]); done++) {
        Py_ssize_t size;
        const char *text = PyUnicode_AsUTF8AndSize(objects[done], &size);
        if (!text) PyErr_Clear(); /* pin() will report the error */
        if (!text || size > MAX_COPIED_BYTES) break;
        *key++ = (petal_key){to, (size_t)size};
        to = copy_bytes(to, text, (size_t)size);
    }
    pinned->count += done;
    pinned->next_copy = to;
    return done;
}

/* Pins a key of any kind, and takes ownership of the reference. */
static bool pin(struct pinned *pinned, PyObject *object, uint32_t key_type)
{
    struct key key;
    if (!key_read(object, key_type, &key) ||
        ((key.owner || key.buffer.obj) && !hold(pinned, &key))) {
        Py_DECREF(object);
        return false;
    }
    pinned->objects[pinned->object_count++] = object;
    petal_key *slot = &pinned->keys[pinned->count++];
    *slot = (petal_key){key.data, key.size};
    if (key.data == key.number) {
        slot->data = memcpy(pinned->next_copy, key.number, sizeof key.number);
        pinned->next_copy += sizeof key.number;
    }
    return true;
}

/* The caller holds the GIL. */
static bool run_pinned(struct work *work, struct pinned *pinned, uint8_t *answers)
{
    filter_object *filter = work->filter;
    bool good;
    petal_batch batch = PETAL_BATCH_INIT;
    batch.layout = PETAL_LAYOUT_POINTERS;
    batch.data = pinned->keys;
    batch.count = (uint64_t)pinned->count;
    if (pinned->count <= FEW_KEYS) {
        if (!(changes(work->verb) ? may_change(filter) : may_query(filter))) return false;
        good = work_run(work, &batch, answers);
    } else {
        if (!(changes(work->verb) ? enter_change(filter) : enter_query(filter))) return false;
        Py_BEGIN_ALLOW_THREADS
        good = work_run(work, &batch, answers);
        Py_END_ALLOW_THREADS
        leave(filter);
    }
    if (good) return true;
    if (work->error.offset < batch.count) work->error.offset += work->rows_before;
    work_raise(work);
    return false;
}

/* Processes the keys in a piece. The key after the piece may already have raised an exception, but
 * if the piece determines the answer, the exception doesn't matter. */
static bool run_piece(struct work *work, struct pinned *pinned, bool is_whole, uint8_t *answers)
{
    PyObject *type, *value, *traceback;
    if (is_whole) return pinned->count == 0 || run_pinned(work, pinned, answers);
    PyErr_Fetch(&type, &value, &traceback);
    bool good = pinned->count == 0 || run_pinned(work, pinned, answers);
    if (good && !work->decided) {
        PyErr_Restore(type, value, traceback);
        return false;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return good;
}

static PyObject *new_answers(Py_ssize_t count)
{
    return PyByteArray_FromStringAndSize(NULL, count);
}

static uint8_t *answers_at(PyObject *answers, Py_ssize_t from)
{
    return answers ? (uint8_t *)PyByteArray_AsString(answers) + from : NULL;
}

/* Pins the next objects from a list or tuple. Prefetches a few objects at a time, because each of
 * them would be a cache miss. */
static bool pin_some(PyObject *list, bool is_list, Py_ssize_t from, Py_ssize_t to,
                     struct pinned *pinned, uint32_t key_type)
{
    enum { AT_ONCE = 16 };
    PyObject *next[AT_ONCE];
    for (Py_ssize_t i = from; i < to;) {
        int count = to - i < AT_ONCE ? (int)(to - i) : AT_ONCE, done;
        for (int j = 0; j < count; j++) {
            next[j] = is_list ? PyList_GetItem(list, i + j) : PyTuple_GetItem(list, i + j);
            if (!next[j]) return false;
            PREFETCH(next[j]);
            PREFETCH((char *)next[j] + 64);
        }
        done = copy_texts(pinned, next, count, key_type);
        for (int j = done; j < count; j++) Py_INCREF(next[j]);
        while (done < count && pin(pinned, next[done], key_type)) done++;
        if (done < count) {
            while (++done < count) Py_DECREF(next[done]);
            return false;
        }
        i += count;
    }
    return true;
}

static bool run_list(struct work *work, PyObject *list, bool is_list, PyObject *answers,
                     Py_ssize_t count)
{
    struct pinned pinned;
    bool good = true;
    if (!pinned_create(&pinned, count < LIST_PIECE ? count + 1 : LIST_PIECE)) return false;
    for (Py_ssize_t from = 0; good && from < count && !work->decided; from += LIST_PIECE) {
        Py_ssize_t to = count - from < LIST_PIECE ? count : from + LIST_PIECE;
        work->rows_before = (uint64_t)from;
        good = pin_some(list, is_list, from, to, &pinned, work->key_type);
        if (!good) note_index(work->rows_before + (uint64_t)pinned.count);
        good = run_piece(work, &pinned, good, answers_at(answers, from));
        pinned_clear(&pinned);
    }
    pinned_free(&pinned);
    return good;
}

/* Returns false at the end of the iterator, or if the iterator or a key raised an exception. */
static bool pin_next(struct work *work, PyObject *iterator, struct pinned *pinned)
{
    uint32_t key_type = work->key_type;
    PyObject *object = PyIter_Next(iterator);
    if (!object) return false;
    if (copy_texts(pinned, &object, 1, key_type)) {
        Py_DECREF(object);
        return true;
    }
    if (pin(pinned, object, key_type)) return true;
    note_index(work->rows_before + (uint64_t)pinned->count);
    return false;
}

static bool run_iterator(struct work *work, PyObject *iterator, PyObject *answers)
{
    struct pinned pinned;
    bool good = true, more = true;
    if (!pinned_create(&pinned, LIST_PIECE)) return false;
    while (good && more && !work->decided) {
        while (more && pinned.count < pinned.room) more = pin_next(work, iterator, &pinned);
        Py_ssize_t from = (Py_ssize_t)work->rows_before;
        bool is_whole = !PyErr_Occurred();
        good = is_whole && answers ? PyByteArray_Resize(answers, from + pinned.count) == 0 : true;
        good =
            good && run_piece(work, &pinned, is_whole, is_whole ? answers_at(answers, from) : NULL);
        work->rows_before += (uint64_t)pinned.count;
        pinned_clear(&pinned);
    }
    pinned_free(&pinned);
    return good;
}

static PyObject *objects_run(struct work *work, PyObject *keys, bool flags)
{
    bool is_list = PyList_Check(keys), good;
    Py_ssize_t count = is_list ? PyList_Size(keys) : PyTuple_Check(keys) ? PyTuple_Size(keys) : 0;
    PyObject *answers = flags ? new_answers(count) : Py_NewRef(Py_None);
    if (!answers) return NULL;
    if (is_list || PyTuple_Check(keys)) {
        good = run_list(work, keys, is_list, flags ? answers : NULL, count);
    } else {
        PyObject *iterator = PyObject_GetIter(keys);
        good = iterator && run_iterator(work, iterator, flags ? answers : NULL);
        Py_XDECREF(iterator);
    }
    if (good) return answers;
    Py_DECREF(answers);
    return NULL;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

/* Parses the format of a buffer's items, in the syntax of Python's struct module. */
static bool read_format(const Py_buffer *view, struct column *column)
{
    const char *format = view->format ? view->format : "B";
    bool little = is_little_endian();
    column->width = (uint64_t)view->itemsize;
    if (strchr("<>=@|!", format[0])) {
        column->swapped = little ? format[0] == '>' || format[0] == '!' : format[0] == '<';
        format++;
    }
    size_t digits = strspn(format, "0123456789");
    if (format[digits] == '\0' || format[digits + 1] != '\0') return false;
    char letter = format[digits];
    bool is_scalar = digits == 0 && (column->width == 1 || column->width == 2 ||
                                     column->width == 4 || column->width == 8);
    if (letter == 's')
        column->kind = COLUMN_PADDED;
    else if (letter == 'x')
        column->kind = COLUMN_FIXED;
    else if (letter == 'w')
        column->kind = COLUMN_UCS4;
    else if (is_scalar && strchr("bhilqn", letter))
        column->kind = COLUMN_SIGNED;
    else if (is_scalar && strchr("BHILQN", letter))
        column->kind = COLUMN_UNSIGNED;
    else if (is_scalar && strchr("efd", letter))
        column->kind = COLUMN_FLOATING;
    else
        return false;
    if (column->kind == COLUMN_PADDED || column->kind == COLUMN_FIXED || column->width == 1)
        column->swapped = false;
    return true;
}

static bool read_buffer_of_keys(const Py_buffer *view, struct column *column)
{
    memset(column, 0, sizeof *column);
    if (view->ndim != 1) {
        PyErr_Format(PyExc_ValueError, "keys must have one dimension, not %d", view->ndim);
        return false;
    }
    if (!read_format(view, column)) {
        PyErr_Format(PyExc_TypeError, "an array of '%s' holds no keys", view->format);
        return false;
    }
    column->data = view->buf;
    column->count = (uint64_t)view->shape[0];
    column->stride = view->strides ? view->strides[0] : view->itemsize;
    return true;
}

/* For a numpy or pandas array, the result is a numpy array of bool that uses the same bytes. */
static PyObject *like_numpy(PyObject *answers)
{
    PyObject *made = answers_numpy(answers);
    Py_DECREF(answers);
    return made;
}

static PyObject *column_answers(struct work *work, const struct column *column, bool flags)
{
    PyObject *answers = flags ? new_answers((Py_ssize_t)column->count) : Py_NewRef(Py_None);
    if (!answers) return NULL;
    if (column_run(work, column, answers_at(flags ? answers : NULL, 0))) return answers;
    Py_DECREF(answers);
    return NULL;
}

static PyObject *buffer_run(struct work *work, Py_buffer *view, bool flags)
{
    struct column column;
    PyObject *answers = NULL;
    if (read_buffer_of_keys(view, &column)) answers = column_answers(work, &column, flags);
    PyBuffer_Release(view);
    return answers;
}

/* ---- bytes with offsets ---------------------------------------------------------------------- */

static bool read_offsets(const Py_buffer *view, struct column *column)
{
    struct column numbers;
    if (!read_buffer_of_keys(view, &numbers)) return false;
    bool is_integer = numbers.kind == COLUMN_SIGNED || numbers.kind == COLUMN_UNSIGNED;
    if (!is_integer || numbers.swapped || (numbers.width != 4 && numbers.width != 8) ||
        (uintptr_t)view->buf % numbers.width != 0) {
        PyErr_SetString(PyExc_TypeError, "offsets must be aligned integers of 32 or 64 bits");
        return false;
    }
    if (numbers.count == 0) {
        PyErr_SetString(PyExc_ValueError, "offsets must have one more entry than there are keys");
        return false;
    }
    column->kind = numbers.width == 4 ? COLUMN_OFFSETS32 : COLUMN_OFFSETS64;
    column->offsets = view->buf;
    column->count = numbers.count - 1;
    return true;
}

/* The core interprets data_bytes 0 as "unknown". So if there is no data, this checks that every
 * offset is 0. */
static bool checks_empty_data(const struct column *column)
{
    bool good = true;
    for (uint64_t i = 0; good && i <= column->count; i++)
        good = column->kind == COLUMN_OFFSETS32 ? ((const uint32_t *)column->offsets)[i] == 0
                                                : ((const uint64_t *)column->offsets)[i] == 0;
    if (!good) PyErr_SetString(PyExc_ValueError, "the offsets go past the data");
    return good;
}

static PyObject *offsets_run(struct work *work, PyObject *keys, PyObject *offsets, bool flags)
{
    struct column column = {.data = NULL};
    Py_buffer data, view;
    PyObject *answers = NULL;
    if (PyObject_GetBuffer(keys, &data, PyBUF_SIMPLE) < 0) return NULL;
    if (PyObject_GetBuffer(offsets, &view, PyBUF_ND | PyBUF_FORMAT) == 0) {
        column.data = data.buf;
        column.data_bytes = (uint64_t)data.len;
        if (read_offsets(&view, &column) && (data.len > 0 || checks_empty_data(&column)))
            answers = column_answers(work, &column, flags);
        PyBuffer_Release(&view);
    }
    PyBuffer_Release(&data);
    return answers;
}

/* ---- any object ------------------------------------------------------------------------------ */

/* Returns 1 if the object is an instance of this class. That is possible only if the class's module
 * is loaded. */
static int is_of(PyObject *object, const char *module_name, const char *class_name)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */
    PyObject *module = PyDict_GetItemString(modules, module_name);
    PyObject *class = module ? PyObject_GetAttrString(module, class_name) : NULL;
    if (!class) {
        PyErr_Clear();
        return 0;
    }
    int is = PyObject_IsInstance(object, class);
    Py_DECREF(class);
    return is;
}

static int is_numpy(PyObject *keys)
{
    return is_of(keys, "numpy", "ndarray");
}

/* Returns true if the object is from pandas, which accepts only certain types as a mask. */
static int is_pandas(PyObject *keys)
{
    static const char *const classes[][2] = {
        {"pandas", "Series"}, {"pandas", "Index"}, {"pandas.api.extensions", "ExtensionArray"}};
    int is = 0;
    for (size_t i = 0; is == 0 && i < sizeof classes / sizeof *classes; i++)
        is = is_of(keys, classes[i][0], classes[i][1]);
    return is;
}

static bool is_one_key(PyObject *keys)
{
    return PyUnicode_Check(keys) || PyBytes_Check(keys) || PyByteArray_Check(keys);
}

/* True if the answers must be converted to the type that suits the keys. */
static bool converts(const struct work *work, bool flags)
{
    return flags && work->verb != VERB_WHICH;
}

static PyObject *any_keys(struct work *work, PyObject *keys, bool flags);

/* Handles a pandas Series, which stores its keys in a numpy array. */
static PyObject *array_run(struct work *work, PyObject *keys, bool flags)
{
    PyObject *array = PyObject_CallMethod(keys, "__array__", NULL);
    if (!array) return NULL;
    int is = is_numpy(array);
    if (is == 0) PyErr_SetString(PyExc_TypeError, "__array__() gave no numpy array");
    PyObject *answers = is > 0 ? any_keys(work, array, flags) : NULL;
    Py_DECREF(array);
    return answers;
}

static PyObject *numpy_run(struct work *work, PyObject *keys, bool flags)
{
    Py_buffer view;
    PyObject *answers;
    if (PyObject_GetBuffer(keys, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) == 0) {
        bool is_objects = view.format && strcmp(view.format, "O") == 0;
        if (is_objects) PyBuffer_Release(&view);
        answers = is_objects ? objects_run(work, keys, flags) : buffer_run(work, &view, flags);
    } else {
        /* Arrays of dates and variable-width strings have no buffer. Each element is either a key
         * or an error. */
        PyErr_Clear();
        answers = objects_run(work, keys, flags);
    }
    return answers && converts(work, flags) ? like_numpy(answers) : answers;
}

static PyObject *any_keys(struct work *work, PyObject *keys, bool flags)
{
    PyObject *answers = NULL;
    Py_buffer view;
    if (PyList_Check(keys) || PyTuple_Check(keys)) return objects_run(work, keys, flags);
    if (is_one_key(keys)) {
        PyErr_Format(PyExc_TypeError,
                     "one %s is no batch of keys; put it into a list, or give offsets",
                     PyUnicode_Check(keys) ? "str" : "bytes object");
        return NULL;
    }
    int is = is_numpy(keys);
    if (is != 0) return is > 0 ? numpy_run(work, keys, flags) : NULL;
    int of_pandas = is_pandas(keys);
    if (of_pandas < 0) return NULL;
    is = arrow_run(work, keys, flags, &answers);
    if (is > 0 && converts(work, flags))
        return of_pandas ? like_numpy(answers) : answers_wrap(work->filter->state, answers);
    if (is != 0) return is > 0 ? answers : NULL;
    if (PyObject_CheckBuffer(keys)) {
        if (PyObject_GetBuffer(keys, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) return NULL;
        if (view.itemsize > 1) return buffer_run(work, &view, flags);
        PyBuffer_Release(&view);
        PyErr_SetString(PyExc_TypeError, "bytes are no batch of keys without offsets");
        return NULL;
    }
    if (PyObject_HasAttrString(keys, "__array__")) return array_run(work, keys, flags);
    return objects_run(work, keys, flags);
}

/* For lists and all other Python objects, the result is a list. */
static PyObject *listed(PyObject *answers)
{
    if (!PyByteArray_CheckExact(answers)) return answers;
    PyObject *list =
        answers_list((const uint8_t *)PyByteArray_AsString(answers), PyByteArray_Size(answers));
    Py_DECREF(answers);
    return list;
}

static PyObject *result_of(struct work *work, PyObject *answers, bool flags)
{
    if (!answers || !work_warn(work)) {
        Py_XDECREF(answers);
        return NULL;
    }
    if (flags) return listed(answers);
    Py_DECREF(answers);
    if (work->verb == VERB_ANY || work->verb == VERB_ALL) return PyBool_FromLong(work->answer);
    return PyLong_FromUnsignedLongLong(work->positive);
}

PyObject *batch_run(struct work *work, bool flags, PyObject *keys, PyObject *offsets)
{
    filter_object *self = work->filter;
    work->error.offset = PETAL_NO_OFFSET;
    /* An unsupported call must fail even without keys. */
    if (!(changes(work->verb) ? may_change(self) : may_query(self))) return NULL;
    return offsets && offsets != Py_None ? offsets_run(work, keys, offsets, flags)
                                         : any_keys(work, keys, flags);
}

PyObject *filter_batch(filter_object *self, enum verb verb, bool flags, PyObject *args,
                       PyObject *kwargs)
{
    static char *names[] = {"", "offsets", NULL};
    struct work work = {
        .filter = self, .verb = verb, .key_type = self->key_type, .answer = verb == VERB_ALL};
    PyObject *keys, *offsets = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &keys, &offsets)) return NULL;
    return result_of(&work, batch_run(&work, flags, keys, offsets), flags);
}
