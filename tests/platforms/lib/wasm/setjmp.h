/* setjmp.h - empty: WASI has no setjmp(), and only cmocka needs it. */
