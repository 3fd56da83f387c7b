/* field.h - a field of a row, in place in the text. */
#ifndef PETAL_CLI_FIELD_H
#define PETAL_CLI_FIELD_H

#include <stdbool.h>
#include <stddef.h>

enum field_form {
    FIELD_AS_IS,
    FIELD_OF_CSV, /* "" means one quote */
    FIELD_OF_JSON /* with escapes: \n, \u00e4 */
};

struct field {
    const char *text;
    size_t size_bytes;
    enum field_form form;
    const char *why; /* why it is not a valid field, or NULL */
};

#endif
