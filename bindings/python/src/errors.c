/* errors.c - converts the core's failures to Python's exceptions, with the message unchanged.
 *
 * MEMORY becomes MemoryError; file failures become OSError with errno and filename (which Python
 * turns into FileNotFoundError and so on); all others become petal.Error, a ValueError. Each has
 * the attributes `status` (the status's name, such as "damaged") and `offset` (the offset, or the
 * key's index, at which the failure was detected, or None). */
#include "module.h"

#include <errno.h>

#ifndef ESTALE /* the error number that Python uses on Windows */
#define ESTALE 10070
#endif

/* Returns the errno for an OSError, or 0 for other exceptions. */
static int errno_of(const petal_error *error, PyObject *path)
{
    int known = error->system_errno;
    switch (error->status) {
    case PETAL_ERR_IO: return known ? known : EIO;
    case PETAL_ERR_EXISTS: return !path ? 0 : known ? known : EEXIST; /* 0: name in an index */
    case PETAL_ERR_BUSY: return known ? known : EAGAIN;
    case PETAL_ERR_REPLACED: return known ? known : ESTALE;
    default: return 0;
    }
}

static PyObject *make(struct state *state, const petal_error *error, PyObject *path)
{
    int number = errno_of(error, path);
    if (error->status == PETAL_ERR_MEMORY)
        return PyObject_CallFunction(PyExc_MemoryError, "s", error->message);
    if (number == 0) return PyObject_CallFunction(state->error, "s", error->message);
    if (!path) return PyObject_CallFunction(PyExc_OSError, "is", number, error->message);
    return PyObject_CallFunction(PyExc_OSError, "isO", number, error->message, path);
}

static bool set(PyObject *exception, const char *name, PyObject *value)
{
    int status = value ? PyObject_SetAttrString(exception, name, value) : -1;
    Py_XDECREF(value);
    return status == 0;
}

static bool describe(PyObject *exception, const petal_error *error, PyObject *path)
{
    PyObject *offset = error->offset == PETAL_NO_OFFSET
                           ? Py_NewRef(Py_None)
                           : PyLong_FromUnsignedLongLong(error->offset);
    if (!set(exception, "offset", offset) ||
        !set(exception, "status", PyUnicode_FromString(petal_status_name(error->status))))
        return false;
    if (!path || PyErr_GivenExceptionMatches(exception, PyExc_OSError)) return true;
    /* str() returns only the core's message. A traceback shows the file's name below it. */
    PyObject *note = PyUnicode_FromFormat("file: %S", path);
    PyObject *noted = note ? PyObject_CallMethod(exception, "add_note", "O", note) : NULL;
    Py_XDECREF(note);
    Py_XDECREF(noted);
    return noted && set(exception, "filename", Py_NewRef(path));
}

PyObject *raise_error(struct state *state, const petal_error *error, PyObject *path)
{
    PyObject *exception = make(state, error, path);
    if (!exception) return NULL;
    if (describe(exception, error, path))
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
    return NULL;
}
