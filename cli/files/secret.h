/* secret.h - reads the secret from the file named by --secret-file. */
#ifndef PETAL_CLI_SECRET_H
#define PETAL_CLI_SECRET_H

#include <petal/petal.h>
#include <stdbool.h>

/* Reads the 16 bytes of the file named by --secret-file. Returns false after reporting an error. */
bool read_secret(const char *path, uint8_t secret[PETAL_SECRET_BYTES]);

/* Overwrites memory that held a secret. */
void wipe(void *memory, size_t size_bytes);

#endif
