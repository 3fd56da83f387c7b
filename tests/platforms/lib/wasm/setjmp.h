/* setjmp.h - nothing: WASI has none, and only cmocka wants it. */
