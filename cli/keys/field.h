/* field.h - a field of a row, where it stands in the text. */
#ifndef PETAL_CLI_FIELD_H
#define PETAL_CLI_FIELD_H

#include <stdbool.h>
#include <stddef.h>

enum field_form {
    FIELD_AS_IS,
    FIELD_OF_CSV, /* "" stands for one quote */
    FIELD_OF_JSON /* with escapes: \n, \u00e4 */
};

struct field {
    const char *text;
    size_t size_bytes;
    enum field_form form;
    const char *why; /* it is no field; NULL: it is */
};

#endif
