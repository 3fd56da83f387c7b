/* secret.c - see secret.h. */
#include "files/secret.h"

#include "files/paths.h"
#include "options/decode.h"
#include "output/report.h"

#include <stdlib.h>
#include <string.h>

void wipe(void *memory, size_t size_bytes)
{
    volatile uint8_t *at = memory; /* otherwise the compiler would remove the loop */
    while (size_bytes-- > 0) *at++ = 0;
}

static bool secret_of_hex(const uint8_t *text, uint8_t secret[PETAL_SECRET_BYTES])
{
    for (size_t i = 0; i < PETAL_SECRET_BYTES; i++) {
        int high = hex_digit((char)text[2 * i]), low = hex_digit((char)text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        secret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool read_secret(const char *path, uint8_t secret[PETAL_SECRET_BYTES])
{
    enum { HEX = 2 * PETAL_SECRET_BYTES };
    size_t size;
    uint8_t *bytes = read_small_file(path, HEX + 2, &size);
    if (!bytes) return false;
    bool good = size == PETAL_SECRET_BYTES;
    if (good) memcpy(secret, bytes, PETAL_SECRET_BYTES);
    size_t line = size;
    while (line > HEX && (bytes[line - 1] == '\n' || bytes[line - 1] == '\r')) line--;
    if (line == HEX) good = secret_of_hex(bytes, secret);
    wipe(bytes, size);
    free(bytes);
    return good ||
           complain(
               path,
               "not a secret; expected 16 bytes or 32 hex digits: head -c 16 /dev/urandom > FILE");
}
