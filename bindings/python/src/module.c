/* module.c - the module petal._petal: its set-up, and functions that need no filter. The state is
 * stored in the module, so that each interpreter has its own. */
#include "module.h"

#include "docs.h"

struct state *state_of_module(PyObject *module)
{
    return PyModule_GetState(module);
}

/* The base type that this module created refers to the module. */
struct state *state_of_type(PyTypeObject *type)
{
    PyObject *ancestry = PyObject_GetAttrString((PyObject *)type, "__mro__");
    struct state *state = NULL;
    for (Py_ssize_t i = 0; ancestry && !state && i < PyTuple_Size(ancestry); i++) {
        PyTypeObject *one = (PyTypeObject *)PyTuple_GetItem(ancestry, i);
        bool is_heap = PyType_GetFlags(one) & Py_TPFLAGS_HEAPTYPE;
        PyObject *module = is_heap ? PyType_GetModule(one) : NULL;
        if (module && PyModule_GetDef(module) == &petal_module) state = state_of_module(module);
        PyErr_Clear();
    }
    Py_XDECREF(ancestry);
    if (!state) PyErr_SetString(PyExc_TypeError, "that is no type of petal");
    return state;
}

/* ---- functions ------------------------------------------------------------------------------- */

static PyObject *recognize(PyObject *module, PyObject *object)
{
    const char *names[64];
    Py_buffer data;
    (void)module;
    if (PyObject_GetBuffer(object, &data, PyBUF_SIMPLE) < 0) return NULL;
    uint64_t count = petal_recognize(data.buf, (uint64_t)data.len, names, 64);
    PyBuffer_Release(&data);
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < count && i < 64; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *shard_of(PyObject *module, PyObject *args)
{
    PyObject *object, *shards;
    uint64_t count = 0;
    struct key key;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &object, &shards) || !u64_read(shards, "shards", &count))
        return NULL;
    if (count == 0 || count > UINT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "shards must be from 1 to 2**32 - 1");
        return NULL;
    }
    if (!key_read(object, PETAL_KEY_TYPE_NONE, &key)) return NULL;
    uint32_t shard = petal_shard_of(key.data, key.size, (uint32_t)count);
    key_release(&key);
    return PyLong_FromUnsignedLong(shard);
}

static PyMethodDef functions[] = {
    {"plan", (PyCFunction)(void (*)(void))module_plan, METH_VARARGS | METH_KEYWORDS, DOC_PLAN},
    {"_rate_at", module_rate_at, METH_VARARGS, NULL},
    {"formats", module_formats, METH_NOARGS, DOC_FORMATS},
    {"parquet_filters", module_parquet_filters, METH_O, DOC_PARQUET_FILTERS},
    {"recognize", recognize, METH_O, DOC_RECOGNIZE},
    {"shard_of", shard_of, METH_VARARGS, DOC_SHARD_OF},
    {NULL, NULL, 0, NULL},
};

/* ---- set-up ---------------------------------------------------------------------------------- */

static int add_types(PyObject *module, struct state *state)
{
    state->filter = (PyTypeObject *)PyType_FromModuleAndSpec(module, &filter_spec, NULL);
    state->answers = (PyTypeObject *)PyType_FromModuleAndSpec(module, &answers_spec, NULL);
    state->index = (PyTypeObject *)PyType_FromModuleAndSpec(module, &index_spec, NULL);
    if (!state->filter || !state->answers || !state->index) return -1;
    return PyModule_AddType(module, state->filter) < 0 ||
                   PyModule_AddType(module, state->answers) < 0 ||
                   PyModule_AddType(module, state->index) < 0
               ? -1
               : 0;
}

static int take_classes(struct state *state)
{
    PyObject *types = PyImport_ImportModule("petal._types");
    if (!types) return -1;
    state->error = PyObject_GetAttrString(types, "Error");
    state->info = PyObject_GetAttrString(types, "Info");
    state->stats = PyObject_GetAttrString(types, "Stats");
    state->comparison = PyObject_GetAttrString(types, "Comparison");
    state->format = PyObject_GetAttrString(types, "Format");
    state->parquet_filter = PyObject_GetAttrString(types, "ParquetFilter");
    state->index_info = PyObject_GetAttrString(types, "IndexInfo");
    Py_DECREF(types);
    return PyErr_Occurred() ? -1 : 0;
}

static int set_up(PyObject *module)
{
    struct state *state = state_of_module(module);
    if (add_types(module, state) < 0 || take_classes(state) < 0) return -1;
    return PyModule_AddStringConstant(module, "__version__", petal_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = state_of_module(module);
    Py_VISIT(state->filter);
    Py_VISIT(state->answers);
    Py_VISIT(state->index);
    Py_VISIT(state->error);
    Py_VISIT(state->info);
    Py_VISIT(state->stats);
    Py_VISIT(state->comparison);
    Py_VISIT(state->format);
    Py_VISIT(state->parquet_filter);
    Py_VISIT(state->index_info);
    return 0;
}

static int clear(PyObject *module)
{
    struct state *state = state_of_module(module);
    Py_CLEAR(state->filter);
    Py_CLEAR(state->answers);
    Py_CLEAR(state->index);
    Py_CLEAR(state->error);
    Py_CLEAR(state->info);
    Py_CLEAR(state->stats);
    Py_CLEAR(state->comparison);
    Py_CLEAR(state->format);
    Py_CLEAR(state->parquet_filter);
    Py_CLEAR(state->index_info);
    return 0;
}

static void free_module(void *module)
{
    clear(module);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, set_up},
    {0, NULL},
};

struct PyModuleDef petal_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "petal._petal",
    .m_doc = "The part of petal that is C.",
    .m_size = sizeof(struct state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__petal(void);
PyMODINIT_FUNC PyInit__petal(void)
{
    return PyModuleDef_Init(&petal_module);
}
