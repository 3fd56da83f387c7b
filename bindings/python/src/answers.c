/* answers.c - the class petal.Answers, a sequence with the answers for an Arrow column: True,
 * False, or None for a null. pyarrow.array(), polars.Series() and so on accept it as a bool column
 * with nulls (__arrow_c_array__), and numpy as a bool array. numpy can't express nulls, so a
 * conversion to numpy fails if there are any. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

typedef struct answers_object {
    PyObject_HEAD PyObject *bytes; /* a bytearray */
} answers_object;

PyObject *answers_wrap(struct state *state, PyObject *bytes)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(state->answers, Py_tp_alloc);
    answers_object *self = (answers_object *)alloc(state->answers, 0);
    if (!self)
        Py_DECREF(bytes);
    else
        self->bytes = bytes;
    return (PyObject *)self;
}

static void dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(((answers_object *)object)->bytes);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static const uint8_t *flags_of(PyObject *object)
{
    return (const uint8_t *)PyByteArray_AsString(((answers_object *)object)->bytes);
}

static Py_ssize_t length(PyObject *object)
{
    return PyByteArray_Size(((answers_object *)object)->bytes);
}

static PyObject *flag_object(uint8_t flag)
{
    return Py_NewRef(flag == ANSWER_NULL ? Py_None : flag ? Py_True : Py_False);
}

static PyObject *get(PyObject *object, Py_ssize_t index)
{
    if (index < 0 || index >= length(object)) {
        PyErr_SetString(PyExc_IndexError, "no such answer");
        return NULL;
    }
    return flag_object(flags_of(object)[index]);
}

static Py_ssize_t count_nulls(PyObject *object)
{
    Py_ssize_t nulls = 0;
    for (Py_ssize_t i = 0; i < length(object); i++) nulls += flags_of(object)[i] == ANSWER_NULL;
    return nulls;
}

static PyObject *null_count(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(count_nulls(object));
}

PyObject *answers_list(const uint8_t *flags, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) PyList_SetItem(list, i, flag_object(flags[i]));
    return list;
}

static PyObject *to_list(PyObject *object, PyObject *unused)
{
    (void)unused;
    return answers_list(flags_of(object), length(object));
}

/* A list implements the sequence protocol, except for access to single items. */
static PyObject *by_list(PyObject *object, const char *method, PyObject *argument)
{
    PyObject *list = to_list(object, NULL);
    PyObject *found = list ? PyObject_CallMethod(list, method, "O", argument) : NULL;
    Py_XDECREF(list);
    return found;
}

static PyObject *count_of(PyObject *object, PyObject *value)
{
    return by_list(object, "count", value);
}

static PyObject *index_of(PyObject *object, PyObject *args)
{
    PyObject *list = to_list(object, NULL);
    PyObject *method = list ? PyObject_GetAttrString(list, "index") : NULL;
    PyObject *found = method ? PyObject_CallObject(method, args) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(list);
    return found;
}

static PyObject *subscript(PyObject *object, PyObject *at)
{
    return by_list(object, "__getitem__", at);
}

static PyObject *repr(PyObject *object)
{
    return PyUnicode_FromFormat("<petal.Answers of %zd keys>", length(object));
}

/* ---- as memory, for numpy -------------------------------------------------------------------- */

/* Without this check, the value 2 would count as true. */
static bool answers_refuse_nulls(const uint8_t *flags, Py_ssize_t count, PyObject *kind)
{
    Py_ssize_t nulls = 0, first = 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (flags[i] == ANSWER_NULL && nulls++ == 0) first = i;
    if (nulls > 0)
        PyErr_Format(kind,
                     "%zd of the keys %s null, the first at index %zd, and an array of bool has no "
                     "null: leave them out (drop_nulls(), dropna()), or fill them in",
                     nulls, nulls == 1 ? "is" : "are", first);
    return nulls == 0;
}

static int get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    const uint8_t *bytes = flags_of(object);
    view->obj = NULL;
    if (!answers_refuse_nulls(bytes, length(object), PyExc_BufferError) ||
        PyBuffer_FillInfo(view, object, (void *)bytes, length(object), 1, flags) < 0)
        return -1;
    if (flags & PyBUF_FORMAT) view->format = "?";
    return 0;
}

PyObject *answers_numpy(PyObject *bytes)
{
    if (!answers_refuse_nulls((const uint8_t *)PyByteArray_AsString(bytes), PyByteArray_Size(bytes),
                              PyExc_ValueError))
        return NULL;
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *made = numpy ? PyObject_CallMethod(numpy, "frombuffer", "Os", bytes, "bool") : NULL;
    Py_XDECREF(numpy);
    return made;
}

/* numpy calls this method if the object exports no buffer. Without the method, numpy would create
 * an array of objects. */
static PyObject *as_array(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *type = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &type, &copy)) return NULL;
    PyObject *array = answers_numpy(((answers_object *)object)->bytes);
    if (!array || type == Py_None) return array;
    PyObject *cast = PyObject_CallMethod(array, "astype", "O", type);
    Py_DECREF(array);
    return cast;
}

/* ---- as an Arrow array of bool --------------------------------------------------------------- */

struct arrow_schema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    void **children, *dictionary;
    void (*release)(struct arrow_schema *);
    void *private_data;
};

struct arrow_array {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    void **children, *dictionary;
    void (*release)(struct arrow_array *);
    void *private_data; /* the two bitmaps, and the pointers to them */
};

static void release_schema(struct arrow_schema *schema)
{
    schema->release = NULL;
}

static void release_array(struct arrow_array *array)
{
    free(array->private_data);
    array->release = NULL;
}

static void free_schema(PyObject *capsule)
{
    struct arrow_schema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release) schema->release(schema);
    free(schema);
}

static void free_array(PyObject *capsule)
{
    struct arrow_array *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release) array->release(array);
    free(array);
}

static PyObject *schema_capsule(void)
{
    struct arrow_schema *schema = calloc(1, sizeof *schema);
    if (!schema) return PyErr_NoMemory();
    schema->format = "b";
    schema->name = "";
    schema->flags = 2; /* nullable */
    schema->release = release_schema;
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", free_schema);
    if (!capsule) free(schema);
    return capsule;
}

/* Fills two bitmaps: one marks the answers that are not null, the other those that are true. */
static bool fill_array(struct arrow_array *array, const uint8_t *flags, Py_ssize_t count)
{
    size_t bytes = (size_t)(count + 7) / 8 + 8;
    const void **buffers = calloc(1, 2 * sizeof *buffers + 2 * bytes);
    if (!buffers) return false;
    uint8_t *valid = (uint8_t *)(buffers + 2), *yes = valid + bytes;
    for (Py_ssize_t i = 0; i < count; i++) {
        valid[i / 8] |= (uint8_t)((flags[i] != ANSWER_NULL) << i % 8);
        yes[i / 8] |= (uint8_t)((flags[i] == 1) << i % 8);
    }
    buffers[0] = valid;
    buffers[1] = yes;
    array->length = count;
    array->n_buffers = 2;
    array->buffers = array->private_data = buffers;
    array->release = release_array;
    return true;
}

static PyObject *array_capsule(PyObject *object)
{
    struct arrow_array *array = calloc(1, sizeof *array);
    if (!array || !fill_array(array, flags_of(object), length(object))) {
        free(array);
        return PyErr_NoMemory();
    }
    array->null_count = count_nulls(object);
    PyObject *capsule = PyCapsule_New(array, "arrow_array", free_array);
    if (!capsule) {
        free(array->private_data);
        free(array);
    }
    return capsule;
}

static PyObject *arrow_c_array(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *requested = NULL; /* the requested schema, which may be ignored */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &requested)) return NULL;
    PyObject *schema = schema_capsule(), *array = schema ? array_capsule(object) : NULL;
    PyObject *pair = array ? PyTuple_Pack(2, schema, array) : NULL;
    Py_XDECREF(schema);
    Py_XDECREF(array);
    return pair;
}

#define WITH_NAMES (METH_VARARGS | METH_KEYWORDS)

static PyMethodDef methods[] = {
    {"to_list", to_list, METH_NOARGS, "A list of True, False and None."},
    {"count", count_of, METH_O, "How many answers are this one."},
    {"index", index_of, METH_VARARGS, "Where the first of these answers is; else ValueError."},
    {"__array__", (PyCFunction)(void (*)(void))as_array, WITH_NAMES,
     "An array of bool for numpy; with nulls a ValueError."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))arrow_c_array, METH_VARARGS | METH_KEYWORDS,
     "__arrow_c_array__($self, requested_schema=None)\n--\n\nThe answers as an Arrow array of bool."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"null_count", null_count, NULL, "How many answers are None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "What an Arrow column is answered with: True, False or None per key.\n\n"
     "pyarrow.array() and polars.Series() take it as it is, numpy.asarray() as an array of bool if\n"
     "there are no nulls."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_sq_length, length},
    {Py_sq_item, get},
    {Py_mp_length, length},
    {Py_mp_subscript, subscript},
    {Py_bf_getbuffer, get_buffer},
    {0, NULL},
};

PyType_Spec answers_spec = {
    .name = "petal.Answers",
    .basicsize = sizeof(answers_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};
