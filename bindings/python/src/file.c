/* file.c - reads filters from files, bytes and file objects, and writes them. */
#include "module.h"

#include <petal/petal_host.h>

#include <string.h>

enum { PIECE_BYTES = 1 << 18 };

/* ---- what they have in common ---------------------------------------------------------------- */

/* The arguments for opening a filter. */
struct opening {
    petal_open_options core;
    Py_buffer secret;
    char format[64];
    uint32_t key_type;
};

static bool opening_read(struct opening *opening, PyObject *format, PyObject *secret,
                         PyObject *key_type, PyObject *memory_limit)
{
    memset(opening, 0, sizeof *opening);
    opening->core.struct_size = sizeof opening->core;
    if (!format_read(format, "auto", opening->format) ||
        !key_type_read(key_type, &opening->key_type) ||
        !u64_read(memory_limit, "memory_limit", &opening->core.memory_limit) ||
        !secret_read(secret, &opening->secret))
        return false;
    opening->core.format = opening->format;
    if (opening->secret.obj) opening->core.secret = opening->secret.buf;
    return true;
}

static void opening_release(struct opening *opening)
{
    if (opening->secret.obj) PyBuffer_Release(&opening->secret);
    opening->secret.obj = NULL;
}

/* Returns the object for the opened filter, or sets the exception. Frees the arguments in either
 * case. */
static PyObject *opened(PyObject *type, struct opening *opening, petal_filter *core,
                        petal_status status, const petal_error *error, PyObject *path)
{
    opening_release(opening);
    struct state *state = state_of_type((PyTypeObject *)type);
    if (!state) {
        petal_free(core);
        return NULL;
    }
    if (status < 0) return raise_error(state, error, path);
    return filter_wrap((PyTypeObject *)type, state, core, path, opening->key_type);
}

static bool flag_format(PyObject *args, PyObject *kwargs, char format[64])
{
    static char *names[] = {"format", NULL};
    PyObject *name = NULL;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &name) &&
           format_read(name, NULL, format);
}

static petal_save_options save_as(const char format[64])
{
    petal_save_options options = PETAL_SAVE_OPTIONS_INIT;
    if (format[0]) options.format = format;
    return options;
}

bool verify_read(PyObject *object, uint32_t *flags)
{
    int all = object && object != Py_None ? PyObject_IsTrue(object) : -1;
    if (all < 0 && PyErr_Occurred()) return false;
    if (all != 0) *flags |= PETAL_OPEN_VERIFY_ON_USE;
    if (all > 0) *flags |= PETAL_OPEN_VERIFY;
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool read_mode(const char *mode, uint32_t *flags)
{
    if (strcmp(mode, "r") == 0)
        *flags = PETAL_OPEN_MAP;
    else if (strcmp(mode, "r+") == 0)
        *flags = PETAL_OPEN_WRITABLE;
    else if (strcmp(mode, "load") == 0)
        *flags = PETAL_OPEN_LOAD;
    else {
        PyErr_Format(PyExc_ValueError, "unknown mode '%s'; choose 'r', 'r+' or 'load'", mode);
        return false;
    }
    return true;
}

bool path_read(PyObject *object, PyObject **bytes, PyObject **shown)
{
    *bytes = NULL;
    *shown = PyOS_FSPath(object);
    return *shown && PyUnicode_FSConverter(*shown, bytes);
}

PyObject *filter_open(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path",    "mode", "format", "secret",  "key_type",     "verify",
                            "recover", "live", "locked", "no_lock", "memory_limit", NULL};
    PyObject *object, *format = NULL, *secret = NULL, *key_type = NULL, *limit = NULL;
    PyObject *path = NULL, *shown = NULL, *made = NULL, *verify = NULL;
    const char *mode = "r";
    int recover = 0, live = 0, locked = 0, no_lock = 0;
    struct opening opening;
    uint32_t flags;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|s$OOOOppppO", names, &object, &mode, &format,
                                     &secret, &key_type, &verify, &recover, &live, &locked,
                                     &no_lock, &limit) ||
        !read_mode(mode, &flags) || !verify_read(verify, &flags))
        return NULL;
    if (path_read(object, &path, &shown) &&
        opening_read(&opening, format, secret, key_type, limit)) {
        petal_filter *core = NULL;
        petal_error error;
        petal_status status;
        opening.core.flags = flags | (recover ? PETAL_OPEN_RECOVER : 0) |
                             (live ? PETAL_OPEN_LIVE : 0) | (locked ? PETAL_OPEN_LOCKED : 0) |
                             (no_lock ? PETAL_OPEN_NO_LOCK : 0);
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        status = petal_open(name, &opening.core, &core, &error);
        Py_END_ALLOW_THREADS
        made = opened(type, &opening, core, status, &error, shown);
    }
    Py_XDECREF(path);
    Py_XDECREF(shown);
    return made;
}

PyObject *filter_save(filter_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "format", "replace", "no_lock", "new_owner", NULL};
    PyObject *object, *format_name = NULL, *path = NULL, *shown = NULL, *result = NULL;
    int replace = 1, no_lock = 0, new_owner = 0;
    char format[64];
    petal_error error;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$Oppp", names, &object, &format_name,
                                     &replace, &no_lock, &new_owner) ||
        !format_read(format_name, NULL, format))
        return NULL;
    petal_save_options options = save_as(format);
    options.flags = (replace ? 0 : PETAL_SAVE_NO_REPLACE) | (no_lock ? PETAL_SAVE_NO_LOCK : 0) |
                    (new_owner ? PETAL_SAVE_NEW_OWNER : 0);
    /* Saving to the file that the filter maps is a sync, which requires exclusive access to the
     * filter. */
    if (path_read(object, &path, &shown) && enter_change(self)) {
        petal_status status;
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        status = petal_save(self->core, name, &options, &error);
        Py_END_ALLOW_THREADS
        leave(self);
        result = status < 0 ? raise_error(self->state, &error, shown) : Py_NewRef(Py_None);
    }
    Py_XDECREF(path);
    Py_XDECREF(shown);
    return result;
}

PyObject *filter_sync(filter_object *self, PyObject *unused)
{
    petal_error error;
    petal_status status;
    (void)unused;
    if (!enter_change(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_sync(self->core, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    return status < 0 ? raise_error(self->state, &error, self->path) : Py_NewRef(Py_None);
}

PyObject *filter_verify(filter_object *self, PyObject *unused)
{
    petal_error error;
    petal_status status;
    (void)unused;
    if (!enter_query(self)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = petal_verify(self->core, &error);
    Py_END_ALLOW_THREADS
    leave(self);
    if (status < 0) return raise_error(self->state, &error, self->path);
    return PyBool_FromLong(status == PETAL_OK);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A copy is always verified, a view only on request. */
static bool read_bytes_arguments(PyObject *args, PyObject *kwargs, bool is_view, Py_buffer *data,
                                 struct opening *opening)
{
    static char *names[] = {"data",    "format",       "secret", "key_type",
                            "recover", "memory_limit", "verify", NULL};
    static char *of_copy[] = {"data",    "format",       "secret", "key_type",
                              "recover", "memory_limit", NULL};
    PyObject *format = NULL, *secret = NULL, *key_type = NULL, *limit = NULL, *verify = NULL;
    PyObject *object;
    int recover = 0;
    uint32_t flags = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, is_view ? "O|$OOOpOO" : "O|$OOOpO",
                                     is_view ? names : of_copy, &object, &format, &secret,
                                     &key_type, &recover, &limit, &verify) ||
        !verify_read(verify, &flags) || PyObject_GetBuffer(object, data, PyBUF_SIMPLE) < 0)
        return false;
    if (!opening_read(opening, format, secret, key_type, limit)) {
        PyBuffer_Release(data);
        return false;
    }
    opening->core.flags = flags | (recover ? PETAL_OPEN_RECOVER : 0);
    return true;
}

PyObject *filter_from_bytes(PyObject *type, PyObject *args, PyObject *kwargs)
{
    struct opening opening;
    Py_buffer data;
    petal_filter *core = NULL;
    petal_error error;
    petal_status status;
    if (!read_bytes_arguments(args, kwargs, false, &data, &opening)) return NULL;
    opening.core.flags = PETAL_OPEN_LOAD | (opening.core.flags & PETAL_OPEN_RECOVER);
    Py_BEGIN_ALLOW_THREADS
    status = petal_load(data.buf, (uint64_t)data.len, &opening.core, &core, &error);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    return opened(type, &opening, core, status, &error, NULL);
}

/* petal_free() must be called with the GIL held if the filter is a view. */
static void give_back(void *context, const void *bytes, uint64_t size_bytes)
{
    (void)bytes, (void)size_bytes;
    PyBuffer_Release(context);
    PyMem_Free(context);
}

PyObject *filter_view(PyObject *type, PyObject *args, PyObject *kwargs)
{
    struct opening opening;
    petal_filter *core = NULL;
    petal_error error;
    Py_buffer *data = PyMem_Malloc(sizeof *data);
    if (!data) return PyErr_NoMemory();
    if (!read_bytes_arguments(args, kwargs, true, data, &opening)) {
        PyMem_Free(data);
        return NULL;
    }
    opening.core.flags |= PETAL_OPEN_MAP;
    opening.core.release = give_back;
    opening.core.release_context = data;
    petal_status status = petal_view(data->buf, (uint64_t)data->len, &opening.core, &core, &error);
    if (status < 0) give_back(data, NULL, 0);
    return opened(type, &opening, core, status, &error, NULL);
}

PyObject *filter_to_bytes(filter_object *self, PyObject *args, PyObject *kwargs)
{
    char format[64];
    petal_error error;
    petal_status status = PETAL_OK;
    if (!flag_format(args, kwargs, format) || !enter_query(self)) return NULL;
    /* If the format can't represent the filter, the size is 0, and the call below reports the
     * reason. */
    petal_save_options options = save_as(format);
    uint64_t size = petal_serialized_bytes(self->core, &options);
    PyObject *bytes = size > PY_SSIZE_T_MAX ? PyErr_NoMemory()
                                            : PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes) {
        char *at = PyBytes_AsString(bytes);
        Py_BEGIN_ALLOW_THREADS
        status = petal_serialize(self->core, &options, at, size, &error);
        Py_END_ALLOW_THREADS
    }
    leave(self);
    if (status >= 0) return bytes;
    Py_DECREF(bytes);
    return raise_error(self->state, &error, self->path);
}

/* ---- file objects ---------------------------------------------------------------------------- */

/* Writes all of these bytes. Raw files may accept only part of them at a time. */
static bool write_all(PyObject *file, const char *bytes, size_t size)
{
    while (size > 0) {
        PyObject *piece = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
        PyObject *result = piece ? PyObject_CallMethod(file, "write", "O", piece) : NULL;
        Py_XDECREF(piece);
        if (!result) return false;
        size_t taken = size;
        if (PyLong_Check(result)) taken = PyLong_AsSize_t(result);
        Py_DECREF(result);
        if (PyErr_Occurred()) return false;
        if (taken == 0 || taken > size) {
            PyErr_SetString(PyExc_OSError, "write() took none, or more than all, of the bytes");
            return false;
        }
        bytes += taken;
        size -= taken;
    }
    return true;
}

/* The core runs without the GIL, which is acquired only to write each piece. */
struct output {
    PyObject *file;
    PyThreadState *thread;
};

static int32_t sink(void *context, const void *bytes, size_t size_bytes)
{
    struct output *output = context;
    PyEval_RestoreThread(output->thread);
    bool good = write_all(output->file, bytes, size_bytes);
    output->thread = PyEval_SaveThread();
    return good ? 0 : 1;
}

PyObject *filter_write_to(filter_object *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"file", "format", NULL};
    PyObject *name = NULL;
    struct output output;
    char format[64];
    petal_error error;
    petal_status status;
    struct writing writing;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &output.file, &name) ||
        !format_read(name, NULL, format) || !enter_query(self))
        return NULL;
    petal_save_options options = save_as(format);
    begin_writing(self, &writing);
    output.thread = PyEval_SaveThread();
    status = petal_write(self->core, &options, sink, &output, &error);
    PyEval_RestoreThread(output.thread);
    end_writing(self, &writing);
    leave(self);
    if (status >= 0) return Py_NewRef(Py_None);
    return PyErr_Occurred() ? NULL : raise_error(self->state, &error, self->path);
}

/* Returns false at the end of the file, or if an exception or error occurred. */
static bool feed_some(petal_reader *reader, PyObject *file, petal_status *status,
                      petal_error *error)
{
    Py_buffer view;
    PyObject *bytes = PyObject_CallMethod(file, "read", "i", (int)PIECE_BYTES);
    if (!bytes) return false;
    if (PyObject_GetBuffer(bytes, &view, PyBUF_SIMPLE) < 0) {
        Py_DECREF(bytes);
        return false;
    }
    bool more = view.len > 0;
    Py_BEGIN_ALLOW_THREADS
    if (more) *status = petal_reader_feed(reader, view.buf, (size_t)view.len, error);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    Py_DECREF(bytes);
    return more && *status >= 0;
}

PyObject *filter_read_from(PyObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"file", "format", "secret", "key_type", "size", "memory_limit", NULL};
    PyObject *file, *format = NULL, *secret = NULL, *key_type = NULL, *size = NULL, *limit = NULL;
    struct opening opening;
    uint64_t expected = 0;
    petal_reader *reader;
    petal_filter *core = NULL;
    petal_error error;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOOO", names, &file, &format, &secret,
                                     &key_type, &size, &limit) ||
        !u64_read(size, "size", &expected) ||
        !opening_read(&opening, format, secret, key_type, limit))
        return NULL;
    opening.core.flags = PETAL_OPEN_LOAD;
    petal_status status = petal_reader_create(&opening.core, expected, &reader, &error);
    if (status >= 0) {
        while (feed_some(reader, file, &status, &error)) {
        }
        if (status >= 0 && !PyErr_Occurred()) status = petal_reader_finish(reader, &core, &error);
        petal_reader_free(reader);
    }
    if (PyErr_Occurred()) {
        opening_release(&opening);
        return NULL;
    }
    return opened(type, &opening, core, status, &error, NULL);
}
