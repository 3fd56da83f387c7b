/* messages.c - formats an error from the core as one line of text. */
#include "sql.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 200 };

/* Returns how many bytes of the name can be shown without splitting a UTF-8 character. */
static int shown_bytes(const char *name)
{
    size_t size = strlen(name);
    if (size <= NAME_BYTES) return (int)size;
    for (size = NAME_BYTES; size > NAME_BYTES - 4 && (name[size] & 0xc0) == 0x80;) size--;
    return (int)size;
}

const char *failure_text(const char *file, const petal_error *error, char text[MESSAGE_ROOM])
{
    const char *status = petal_status_name(error->status);
    int used = 0;
    if (file) used = snprintf(text, MESSAGE_ROOM, "%.*s: ", shown_bytes(file), file);
    size_t room = MESSAGE_ROOM - (size_t)used;
    if (error->offset == PETAL_NO_OFFSET)
        snprintf(text + used, room, "%s: %s", status, error->message);
    else
        snprintf(text + used, room, "%s: %s (at byte %llu)", status, error->message,
                 (unsigned long long)error->offset);
    return text;
}
