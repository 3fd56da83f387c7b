/* setjmp.h - empty: WASI has none, and only cmocka needs it. */
