/* options.c - converts the keyword arguments of Filter() and plan() to petal_options. */
#include "module.h"

#include <math.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

/* Converts a float with an integer value, such as 1e6, to an int. */
static PyObject *integral(PyObject *object)
{
    if (object == Py_True || object == Py_False) return NULL;
    if (!PyFloat_Check(object)) return PyNumber_Index(object);
    double value = PyFloat_AsDouble(object);
    return value == floor(value) && isfinite(value) ? PyLong_FromDouble(value) : NULL;
}

/* Parses an integer. None leaves *value unchanged. */
bool u64_read(PyObject *object, const char *name, uint64_t *value)
{
    if (!object || object == Py_None) return true;
    PyObject *number = integral(object);
    if (!number) {
        PyErr_Format(PyExc_TypeError, "%s must be an int", name);
        return false;
    }
    *value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (!PyErr_Occurred()) return true;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_OverflowError, "%s must be from 0 to 2**64 - 1", name);
    return false;
}

static bool u32_read(PyObject *object, const char *name, uint32_t *value)
{
    uint64_t wide = *value;
    if (!u64_read(object, name, &wide)) return false;
    *value = (uint32_t)wide;
    if (wide <= UINT32_MAX) return true;
    PyErr_Format(PyExc_OverflowError, "%s must be below 2**32", name);
    return false;
}

static bool double_read(PyObject *object, const char *name, double *value)
{
    if (!object || object == Py_None) return true;
    bool is_bool = object == Py_True || object == Py_False;
    *value = is_bool ? -1 : PyFloat_AsDouble(object);
    if (!is_bool && !PyErr_Occurred()) return true;
    PyErr_Format(PyExc_TypeError, "%s must be a number", name);
    return false;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " ");
}

/* Parses a number, and returns a pointer to its end. */
static bool take_number(const char *text, double *value, const char **rest)
{
    char *end;
    *value = PyOS_string_to_double(text, &end, NULL);
    PyErr_Clear();
    *rest = skip_blanks(end);
    return end != text;
}

/* Accepts "0.01", "1%", "1:1000", "1/1000" and "1 in 1000", like the tool. */
static bool parse_rate(const char *text, double *rate)
{
    const char *rest;
    double of = 100;
    if (!take_number(skip_blanks(text), rate, &rest)) return false;
    if (*rest == '\0') return true;
    bool is_ratio = *rest == ':' || *rest == '/' || strncmp(rest, "in ", 3) == 0;
    const char *next = rest + (*rest == 'i' ? 3 : 1);
    if (is_ratio && !take_number(skip_blanks(next), &of, &next)) return false;
    *rate /= of;
    return (is_ratio || *rest == '%') && *skip_blanks(next) == '\0';
}

/* Rejects 0, which the core would interpret as "not given". */
bool rate_read(PyObject *object, double *rate)
{
    if (!object || object == Py_None) return true;
    if (PyUnicode_Check(object)) {
        const char *text = PyUnicode_AsUTF8AndSize(object, NULL);
        if (!text) return false;
        if (!parse_rate(text, rate)) {
            PyErr_Format(PyExc_ValueError, "'%s' is no rate; write 0.01, '1%%' or '1:1000'", text);
            return false;
        }
    } else if (!double_read(object, "rate", rate)) {
        return false;
    }
    if (*rate != 0) return true;
    PyErr_SetString(PyExc_ValueError, "a false-positive rate must be above 0 and below 1, not 0");
    return false;
}

/* Parses a number of seconds, a datetime or a timedelta. */
bool milliseconds_read(PyObject *object, const char *name, uint64_t *value)
{
    PyObject *seconds = NULL;
    double number = 0;
    if (!object || object == Py_None) return true;
    if (PyObject_HasAttrString(object, "timestamp"))
        seconds = PyObject_CallMethod(object, "timestamp", NULL);
    else if (PyObject_HasAttrString(object, "total_seconds"))
        seconds = PyObject_CallMethod(object, "total_seconds", NULL);
    else
        seconds = Py_NewRef(object);
    bool good = seconds && double_read(seconds, name, &number);
    Py_XDECREF(seconds);
    if (!good) return false;
    double rounded = number * 1000 + 0.5;
    if (rounded >= 0.5 && rounded < 9.2e18) {
        *value = (uint64_t)rounded;
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%s is negative or too large", name);
    return false;
}

bool secret_read(PyObject *object, Py_buffer *buffer)
{
    buffer->obj = NULL;
    if (!object || object == Py_None) return true;
    if (PyUnicode_Check(object) || !PyObject_CheckBuffer(object)) {
        PyErr_SetString(PyExc_TypeError, "secret must be bytes");
        return false;
    }
    if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE) < 0) return false;
    if (buffer->len == PETAL_SECRET_BYTES) return true;
    PyErr_Format(PyExc_ValueError, "secret must be %d bytes, not %zd", PETAL_SECRET_BYTES,
                 buffer->len);
    PyBuffer_Release(buffer);
    buffer->obj = NULL;
    return false;
}

/* Reads a format's name. None selects `absent` or, if `absent` is NULL, an empty name. */
bool format_read(PyObject *object, const char *absent, char format[64])
{
    Py_ssize_t size = 0;
    const char *name = absent ? absent : "";
    if (object && object != Py_None && !PyUnicode_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "format must be str");
        return false;
    }
    if (object && object != Py_None && !(name = PyUnicode_AsUTF8AndSize(object, &size)))
        return false;
    PyOS_snprintf(format, 64, "%s", name);
    return true;
}

static bool scheme_read(PyObject *object, uint32_t *scheme)
{
    static const char *const names[] = {[PETAL_SCHEME_BLOCKED] = "blocked",
                                        [PETAL_SCHEME_CLASSIC] = "classic",
                                        [PETAL_SCHEME_COUNTING] = "counting",
                                        [PETAL_SCHEME_STATIC] = "static"};
    if (!object || object == Py_None) return true;
    const char *name = PyUnicode_AsUTF8AndSize(object, NULL);
    if (!name) return false;
    for (uint32_t i = PETAL_SCHEME_BLOCKED; i <= PETAL_SCHEME_STATIC; i++)
        if (strcmp(names[i], name) == 0) *scheme = i;
    if (*scheme) return true;
    PyErr_Format(PyExc_ValueError,
                 "unknown scheme '%s'; choose blocked, classic, counting or static", name);
    return false;
}

static bool metadata_read(PyObject *object, Py_buffer *buffer)
{
    if (!object || object == Py_None) return true;
    if (PyUnicode_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "metadata must be bytes");
        return false;
    }
    if (PyObject_GetBuffer(object, buffer, PyBUF_SIMPLE) == 0) return true;
    buffer->obj = NULL;
    return false;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_given(PyObject *object)
{
    return object && object != Py_None;
}

static bool read_values(PyObject *args, PyObject *kwargs, struct options *options)
{
    static char *names[] = {
        "capacity",        "rate",        "scheme",      "seed",         "secret",   "grow",
        "window",          "window_time", "format",      "memory",       "bits",     "hashes",
        "lines_per_key",   "generations", "growth_step", "growth_ratio", "key_type", "metadata",
        "refuse_overfull", "foldable",    NULL};
    petal_options *core = &options->core;
    PyObject *capacity = NULL, *rate = NULL, *scheme = NULL, *seed = NULL, *secret = NULL;
    PyObject *window = NULL, *window_time = NULL, *format = NULL, *memory = NULL, *bits = NULL;
    PyObject *hashes = NULL, *lines = NULL, *generations = NULL, *step = NULL, *ratio = NULL;
    PyObject *key_type = NULL, *metadata = NULL;
    int grow = 0, refuse = 0, foldable = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO$OOOpOOOOOOOOOOOOpp", names, &capacity,
                                     &rate, &scheme, &seed, &secret, &grow, &window, &window_time,
                                     &format, &memory, &bits, &hashes, &lines, &generations, &step,
                                     &ratio, &key_type, &metadata, &refuse, &foldable))
        return false;
    if (!u64_read(capacity, "capacity", &core->capacity) || !rate_read(rate, &core->rate) ||
        !scheme_read(scheme, &core->scheme) || !u64_read(seed, "seed", &core->seed) ||
        !secret_read(secret, &options->secret) || !u64_read(window, "window", &core->window_keys) ||
        !milliseconds_read(window_time, "window_time", &core->window_ms) ||
        !format_read(format, NULL, options->format) ||
        !u64_read(memory, "memory", &core->memory_bytes) || !u64_read(bits, "bits", &core->bits) ||
        !u32_read(hashes, "hashes", &core->hashes) ||
        !u32_read(lines, "lines_per_key", &core->lines_per_key) ||
        !u32_read(generations, "generations", &core->generations) ||
        !u32_read(step, "growth_step", &core->growth_step) ||
        !double_read(ratio, "growth_ratio", &core->growth_ratio) ||
        !key_type_read(key_type, &core->key_type) || !metadata_read(metadata, &options->metadata))
        return false;
    core->growth = grow != 0;
    core->refuse_overfull = refuse != 0;
    core->foldable = foldable != 0;
    bool is_sized = is_given(bits) || is_given(memory),
         has_keys = is_given(capacity) || is_given(window);
    if (!is_sized && has_keys && !is_given(rate)) core->rate = 0.01;
    if (is_sized || has_keys || is_given(rate) || is_given(hashes)) return true;
    PyErr_SetString(PyExc_TypeError,
                    "how many keys? Filter(1_000_000, 0.01), or give memory, bits or window");
    return false;
}

bool options_read(PyObject *args, PyObject *kwargs, struct options *options)
{
    memset(options, 0, sizeof *options);
    options->core.struct_size = sizeof options->core;
    if (!read_values(args, kwargs, options)) {
        options_release(options);
        return false;
    }
    if (options->secret.obj) options->core.secret = options->secret.buf;
    if (options->metadata.obj) {
        options->core.metadata = options->metadata.buf;
        options->core.metadata_bytes = (uint64_t)options->metadata.len;
    }
    if (options->format[0]) options->core.format = options->format;
    return true;
}

void options_release(struct options *options)
{
    if (options->secret.obj) PyBuffer_Release(&options->secret);
    if (options->metadata.obj) PyBuffer_Release(&options->metadata);
}
