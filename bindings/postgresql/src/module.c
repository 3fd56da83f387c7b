/* module.c - marks the library as a module for this major version of PostgreSQL. */
#include "glue.h"

extern VISIBLE const Pg_magic_struct *Pg_magic_func(void);
PG_MODULE_MAGIC;
