/* module.c - bundled.ask(added, asked): adds one key to a new filter and queries another key. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "petal.h"

static PyObject *ask(PyObject *self, PyObject *args)
{
    const char *added, *asked;
    Py_ssize_t added_bytes, asked_bytes;
    (void)self;
    if (!PyArg_ParseTuple(args, "y#y#", &added, &added_bytes, &asked, &asked_bytes)) return NULL;
    petal_options options = PETAL_OPTIONS_INIT;
    petal_filter *filter = NULL;
    options.capacity = 1000;
    options.rate = 0.01;
    if (petal_create(&options, &filter, NULL) != PETAL_OK) return PyErr_NoMemory();
    petal_add(filter, added, (size_t)added_bytes);
    bool found = petal_contains(filter, asked, (size_t)asked_bytes);
    petal_free(filter);
    return PyBool_FromLong(found);
}

static PyMethodDef methods[] = {{"ask", ask, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "bundled", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_bundled(void)
{
    return PyModule_Create(&module);
}
