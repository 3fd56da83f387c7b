/* field.h - a field of a row, which points into the row's text. */
#ifndef PETAL_CLI_FIELD_H
#define PETAL_CLI_FIELD_H

#include <stdbool.h>
#include <stddef.h>

enum field_form {
    FIELD_AS_IS,
    FIELD_OF_CSV, /* the field contains "" for a quote */
    FIELD_OF_JSON /* the field contains escapes: \n, \u00e4 */
};

struct field {
    const char *text;
    size_t size_bytes;
    enum field_form form;
    const char *why; /* why the field is invalid, or NULL */
};

#endif
