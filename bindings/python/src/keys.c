/* keys.c - converts one Python object to key bytes, which are the same in every language
 * (petal_encode_*):
 *
 *   str                      UTF-8 (UTF-16LE for a filter of UTF-16LE keys)
 *   bytes-like               these bytes
 *   int, and what has        8 bytes, little-endian (4 for a filter of i32 keys);
 *   __index__ (numpy.int32)  outside that range, OverflowError
 *   float, numpy.float32     the 8 bytes of a double, -0.0 as 0.0, one NaN
 *
 * bool, None and all other types: TypeError. True is 1 in Python but "true" or "1" in other
 * languages, so the caller must choose. If a filter's file records a key type, the filter accepts
 * only this type and bytes, because keys of other types were certainly never added. */
#include "module.h"

#include <string.h>

static const char *const type_names[] = {
    [PETAL_KEY_TYPE_TEXT] = "text",     [PETAL_KEY_TYPE_UTF16LE] = "utf16le",
    [PETAL_KEY_TYPE_I32] = "i32",       [PETAL_KEY_TYPE_I64] = "i64",
    [PETAL_KEY_TYPE_F64] = "f64",       [PETAL_KEY_TYPE_HEX] = "hex",
    [PETAL_KEY_TYPE_BASE64] = "base64",
};
enum { TYPES = sizeof type_names / sizeof type_names[0] };

/* ---- key types ------------------------------------------------------------------------------- */

const char *key_type_name(uint32_t key_type)
{
    return key_type < TYPES ? type_names[key_type] : NULL;
}

bool key_type_read(PyObject *name, uint32_t *key_type)
{
    *key_type = PETAL_KEY_TYPE_NONE;
    if (!name || name == Py_None) return true;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (!text) return false;
    for (uint32_t type = 1; type < TYPES; type++)
        if (strcmp(type_names[type], text) == 0) *key_type = type;
    if (*key_type == PETAL_KEY_TYPE_NONE)
        PyErr_Format(PyExc_ValueError,
                     "unknown key_type '%s'; choose text, utf16le, i32, i64, f64, hex or base64",
                     text);
    return *key_type != PETAL_KEY_TYPE_NONE;
}

static bool is_bytes(uint32_t key_type)
{
    return key_type == PETAL_KEY_TYPE_HEX || key_type == PETAL_KEY_TYPE_BASE64;
}

bool key_type_choose(uint32_t recorded, uint32_t asked, uint32_t *key_type)
{
    *key_type = recorded == PETAL_KEY_TYPE_NONE ? asked : recorded;
    if (!recorded || !asked || recorded == asked || (is_bytes(recorded) && is_bytes(asked)))
        return true;
    PyErr_Format(PyExc_ValueError, "the filter has %s keys, not %s", type_names[recorded],
                 type_names[asked]);
    return false;
}

bool key_kind_fits(int kind, uint32_t key_type)
{
    static const char *const kinds[] = {"str", "bytes", "int", "float"};
    bool fits = key_type == PETAL_KEY_TYPE_NONE || kind == KEY_BYTES;
    switch (key_type) {
    case PETAL_KEY_TYPE_TEXT:
    case PETAL_KEY_TYPE_UTF16LE: fits = fits || kind == KEY_TEXT; break;
    case PETAL_KEY_TYPE_I32:
    case PETAL_KEY_TYPE_I64: fits = fits || kind == KEY_INT; break;
    case PETAL_KEY_TYPE_F64: fits = fits || kind == KEY_FLOAT; break;
    default: break;
    }
    if (!fits)
        PyErr_Format(PyExc_TypeError, "the filter has %s keys, not %s", type_names[key_type],
                     kinds[kind]);
    return fits;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool read_text(PyObject *object, uint32_t key_type, struct key *key)
{
    Py_ssize_t size;
    if (key_type != PETAL_KEY_TYPE_UTF16LE) {
        key->data = PyUnicode_AsUTF8AndSize(object, &size);
        key->size = (size_t)size;
        return key->data && (!key_type || key_kind_fits(KEY_TEXT, key_type));
    }
    char *units;
    key->owner = PyUnicode_AsEncodedString(object, "utf-16-le", "surrogatepass");
    if (!key->owner || PyBytes_AsStringAndSize(key->owner, &units, &size) < 0) return false;
    key->data = units;
    key->size = (size_t)size;
    return true;
}

static bool read_int(PyObject *object, uint32_t key_type, struct key *key)
{
    int overflow;
    bool narrow = key_type == PETAL_KEY_TYPE_I32;
    if (key_type && !key_kind_fits(KEY_INT, key_type)) return false;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (value == -1 && !overflow && PyErr_Occurred()) return false;
    if (overflow || (narrow && (value < INT32_MIN || value > INT32_MAX))) {
        PyErr_Format(PyExc_OverflowError, "int key outside %d bits, signed", narrow ? 32 : 64);
        return false;
    }
    if (narrow)
        petal_encode_i32((int32_t)value, key->number);
    else
        petal_encode_i64(value, key->number);
    key->data = key->number;
    key->size = narrow ? 4 : 8;
    return true;
}

static bool read_float(PyObject *object, uint32_t key_type, struct key *key)
{
    if (key_type && !key_kind_fits(KEY_FLOAT, key_type)) return false;
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) return false;
    petal_encode_f64(value, key->number);
    key->data = key->number;
    key->size = sizeof key->number;
    return true;
}

static bool refuse(PyObject *object)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__qualname__");
    if (name) PyErr_Format(PyExc_TypeError, "a key is str, bytes, int or float, not %S", name);
    Py_XDECREF(name);
    return false;
}

/* Reads a buffer's bytes, or a number that exports a buffer, such as numpy.float32. Other buffers
 * are arrays, whose bytes no other program would use as a key. */
static bool read_buffer(PyObject *object, uint32_t key_type, struct key *key)
{
    Py_buffer *view = &key->buffer;
    if (!PyObject_CheckBuffer(object)) return refuse(object);
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) < 0) {
        view->obj = NULL;
        if (!PyErr_ExceptionMatches(PyExc_BufferError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            return false;
        PyErr_Clear();
        return refuse(object);
    }
    const char *format = view->format ? view->format : "B";
    if (view->ndim == 0 && strchr("fde", format[0]) && format[1] == '\0') {
        PyBuffer_Release(view);
        view->obj = NULL;
        return read_float(object, key_type, key);
    }
    key->data = view->buf;
    key->size = (size_t)view->len;
    /* numpy.datetime64 exposes its number as a buffer of bytes */
    bool is_numpy = PyObject_HasAttrString(object, "dtype");
    if (view->ndim == 1 && strchr("Bbc", format[0]) && format[1] == '\0' && !is_numpy) return true;
    PyBuffer_Release(view);
    view->obj = NULL;
    return refuse(object);
}

static bool read_other(PyObject *object, uint32_t key_type, struct key *key)
{
    if (PyFloat_Check(object)) return read_float(object, key_type, key);
    if (PyByteArray_Check(object) || PyMemoryView_Check(object) || !PyIndex_Check(object))
        return read_buffer(object, key_type, key);
    PyObject *number = PyNumber_Index(object);
    /* Arrays have __index__(), but it raises an exception. */
    if (!number && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return read_buffer(object, key_type, key);
    }
    if (!number) return false;
    bool good = read_int(number, key_type, key);
    Py_DECREF(number);
    return good;
}

bool key_read(PyObject *object, uint32_t key_type, struct key *key)
{
    Py_ssize_t size;
    char *bytes;
    key->owner = NULL;
    key->buffer.obj = NULL;
    if (PyUnicode_Check(object)) return read_text(object, key_type, key);
    if (PyBytes_Check(object)) {
        if (PyBytes_AsStringAndSize(object, &bytes, &size) < 0) return false;
        key->data = bytes;
        key->size = (size_t)size;
        return true;
    }
    if (object == Py_True || object == Py_False) return refuse(object);
    if (PyLong_Check(object)) return read_int(object, key_type, key);
    return read_other(object, key_type, key);
}

void key_release(struct key *key)
{
    Py_CLEAR(key->owner);
    if (key->buffer.obj) PyBuffer_Release(&key->buffer);
}
