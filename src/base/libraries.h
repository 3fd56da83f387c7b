/* libraries.h - selects the libraries whose formats, schemes and hashes are part of this build. By
 * default, the build includes all libraries. If PETAL_FORMATS_LISTED is defined, the build includes
 * Petal itself and each LIBRARY for which PETAL_WITH_LIBRARY is defined as 1
 * (cc -DPETAL_WITH_GUAVA). The lists of formats, schemes and hashes name the LIBRARY of each line.
 * Code that is left out is compiled, but nothing refers to it, so it is not linked. */
#ifndef PETAL_BASE_LIBRARIES_H
#define PETAL_BASE_LIBRARIES_H

#ifdef PETAL_FORMATS_LISTED

#define PETAL_WITH_PETAL 1

/* If a name is defined as 1, this macro's comma moves that 1 to the second argument. */
#define PETAL_COMMA_1 ,
#define PETAL_SECOND(first, second, ...) second
#define PETAL_IS_SECOND(...) PETAL_SECOND(__VA_ARGS__)
#define PETAL_IS_PASTED(value) PETAL_IS_SECOND(PETAL_COMMA_##value 1, 0, )
#define PETAL_IS_1(value) PETAL_IS_PASTED(value)

#define PETAL_TAKE_1(...) __VA_ARGS__
#define PETAL_TAKE_0(...)
#define PETAL_TAKE_PASTED(is) PETAL_TAKE_##is
#define PETAL_TAKE(is) PETAL_TAKE_PASTED(is)

/* Expands to the text after LIBRARY if the build includes that library, otherwise to nothing. */
#define PETAL_IF(LIBRARY, ...) PETAL_TAKE(PETAL_IS_1(PETAL_WITH_##LIBRARY))(__VA_ARGS__)

#else
#define PETAL_IF(LIBRARY, ...) __VA_ARGS__
#endif

#endif
