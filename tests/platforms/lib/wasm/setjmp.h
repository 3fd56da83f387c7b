/* setjmp.h - an empty file, since WASI has no setjmp(), and only cmocka needs it. */
