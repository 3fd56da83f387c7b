# lib.sh - compiles the library and the tool for any system with zig (the package ziglang from
# PyPI), which includes headers and C libraries, and links zlib from Debian's sources.
# packaging/make and tests/packages source this file from the top of the tree; it is not run. `./dev
# package` sets the input variables: ZIG (the interpreter of build/ziglang) and ZLIB
# (packaging/source zlib), MAVEN for the jar (a store with everything that bindings/java/pom.xml
# names), and DUCKDB_HEADERS (bindings/duckdb/headers).
ZIG=${ZIG:-$PWD/build/ziglang/bin/python}
ZLIB=${ZLIB:-$PWD/build/zlib}
DUCKDB_HEADERS=${DUCKDB_HEADERS:-$PWD/build/duckdb-headers}
MAVEN=${MAVEN:-$PWD/build/maven}
ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$PWD/build/zig-cache}
ZIG_LOCAL_CACHE_DIR=${ZIG_LOCAL_CACHE_DIR:-$ZIG_GLOBAL_CACHE_DIR}
export ZIG ZLIB DUCKDB_HEADERS MAVEN ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR

# Maps the name of a system's package to zig's name for the system. The Linux targets use musl, so
# that the tool runs on every distribution. Windows must be 10 or later, and macOS 13 or later.
zig_target() {
    case $1 in
    linux-x86_64) echo x86_64-linux-musl ;;
    linux-aarch64) echo aarch64-linux-musl ;;
    windows-x86_64) echo x86_64-windows.win10-gnu ;;
    macos-x86_64) echo x86_64-macos.13.0 ;;
    macos-aarch64) echo aarch64-macos.13.0 ;;
    *) echo "$1" ;;
    esac
}

# Prints zig's own folder, which contains the licences of the code that zig links.
zig_folder() { "$ZIG" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))'; }

library_sources() { ls src/*/*.c src/*/*/*.c; }

# Prints the source files of zlib's inflate and deflate, which read and write gzip data.
zlib_sources() {
    for name in adler32 crc32 deflate inffast inflate inftrees trees zutil; do
        echo "$ZLIB/$name.c"
    done
}

# Prints a folder that contains only xxHash's headers, and none of this machine's other headers.
# Several compilers use the folder concurrently, so each file is created atomically.
xxhash_headers() {
    mkdir -p build/xxhash
    for header in "${XXHASH:-/usr/include}"/xxh*.h; do
        header_copy=build/xxhash/${header##*/}
        cmp -s "$header" "$header_copy" ||
            { cp "$header" "$header_copy.$$" && mv "$header_copy.$$" "$header_copy"; } || return 1
    done
    echo build/xxhash
}

# cross SYSTEM OPTION-or-FILE...: runs zig cc with Petal's flags; the output is the same in any
# folder.
cross() {
    cross_target=$(zig_target "$1")
    shift
    cross_headers=$(xxhash_headers) || return 1
    # zlib's test for fdopen() on a Mac predates macOS, and would hide the function.
    case $cross_target in *-macos*) set -- -Dfdopen=fdopen -Wno-macro-redefined "$@" ;; esac
    "$ZIG" -m ziglang cc -target "$cross_target" -std=c11 -O3 -g0 -DNDEBUG -DPETAL_WITH_ZLIB \
        -fvisibility=hidden -ffile-prefix-map="$PWD"=. -ffile-prefix-map="$ZLIB"=zlib \
        -Wno-deprecated-non-prototype -D_LARGEFILE64_SOURCE=1 \
        -Iinclude -Isrc -Icli -isystem "$cross_headers" -isystem "$ZLIB" "$@"
}

# cross_objects SYSTEM FOLDER FLAGS FILE...: compiles each FILE to an object in FOLDER. The object's
# name contains the whole path, since two folders contain a keys.c.
cross_objects() {
    objects_system=$1 objects_folder=$2 objects_flags=$3
    shift 3
    mkdir -p "$objects_folder"
    printf '%s\n' "$@" | SYSTEM=$objects_system FOLDER=$objects_folder FLAGS=$objects_flags \
        xargs -P "$(nproc)" -n 1 sh -c '. packaging/lib.sh
            cross "$SYSTEM" $FLAGS -c "$0" -o "$FOLDER/$(printf %s "$0" | tr / -).o"'
}

# The library is compiled with the same flags for the tool and for Python's module, so that zig
# compiles it only once. On Linux, these are the flags for a shared library.
cross_flags() { case $1 in *linux-*) echo -fPIC ;; esac; }

# cross_tool SYSTEM OUT: builds petal, or petal.exe
cross_tool() {
    case $1 in
    windows-*)
        # Only the tool includes posix.h, so the library is compiled in a second step. start.c
        # handles signals.
        tool_objects=$(mktemp -d)
        cross_objects "$1" "$tool_objects" \
            '-include cli/windows/posix.h -Icli/windows -D_FILE_OFFSET_BITS=64' \
            cli/*.c cli/*/*.c &&
            cross "$1" -s "$tool_objects"/*.o $(library_sources) $(zlib_sources) -lshell32 -o "$2"
        tool_status=$?
        rm -rf "$tool_objects"
        return $tool_status
        ;;
    *) cross "$1" $(cross_flags "$1") -s cli/*.c cli/*/*.c $(library_sources) $(zlib_sources) -o "$2" ;;
    esac
}

# cross_shared SYSTEM OUT OPTION-or-FILE...: builds a shared library from the files and zlib
cross_shared() {
    shared_system=$1 shared_out=$2
    shift 2
    case $shared_system in
    windows-*) set -- "$@" "-Wl,--out-implib,$shared_out.lib" ;;
    # By default, the library's install name would be the path of the file built here.
    macos-*) set -- "$@" "-Wl,-install_name,$(basename "$shared_out")" ;;
    *) set -- "$@" -lm -lpthread ;;
    esac
    cross "$shared_system" $(cross_flags "$shared_system") -shared -s "$@" $(zlib_sources) -o "$shared_out" &&
        rm -f "$shared_out.lib"
}

# cross_module SYSTEM HEADERS OUT: builds Python's module, which uses the limited API and contains
# the library. HEADERS contains Python's headers, with a pyconfig.h for that system.
cross_module() {
    module_system=$1 module_out=$3 module_objects=$(mktemp -d)
    cross_objects "$1" "$module_objects" \
        "$(cross_flags "$1") -DPy_LIMITED_API=0x030b0000 -isystem $2" bindings/python/src/*.c &&
        case $1 in
        windows-*)
            python3_dll "$module_objects" &&
                set -- "$module_objects/python3.lib"
            ;;
        macos-*) set -- -Wl,-undefined,dynamic_lookup ;;
        *) set -- ;;
        esac &&
        cross_shared "$module_system" "$module_out" "$module_objects"/*.o $(library_sources) "$@"
    module_status=$?
    rm -rf "$module_objects"
    return $module_status
}

# cross_extension SYSTEM HEADERS OUT FILE...: builds a shared library from the files, which include
# headers from HEADERS, and Petal's library. Since Petal's library is compiled without HEADERS, zig
# compiles it only once.
cross_extension() {
    extension_system=$1 extension_headers=$2 extension_out=$3 extension_objects=$(mktemp -d)
    shift 3
    cross_objects "$extension_system" "$extension_objects" \
        "$(cross_flags "$extension_system") -isystem $extension_headers" "$@" &&
        cross_shared "$extension_system" "$extension_out" "$extension_objects"/*.o $(library_sources)
    extension_status=$?
    rm -rf "$extension_objects"
    return $extension_status
}

# cross_jni SYSTEM HEADERS OUT: builds the jar's library with the JNI functions. HEADERS contains
# the headers that javac generated from Core.java, and JNI's own with a jni_md.h for that system.
cross_jni() { cross_extension "$1" "$2" "$3" bindings/java/src/native/*.c; }

# cross_redis SYSTEM OUT: builds the module for Redis and Valkey, with the library inside
cross_redis() { cross_shared "$1" "$2" redis/*.c $(library_sources); }

# cross_sqlite SYSTEM HEADERS OUT: builds the extension for SQLite, with the library inside
cross_sqlite() { cross_extension "$1" "$2" "$3" bindings/sqlite/src/*.c bindings/sql/*.c; }

# cross_duckdb SYSTEM HEADERS OUT: builds the extension for DuckDB, without its metadata
cross_duckdb() { cross_extension "$1" "$2" "$3" bindings/duckdb/src/*.c bindings/sql/*.c; }

# cross_library SYSTEM OUT: builds the library itself, with the calls of petal.h
cross_library() { cross_shared "$1" "$2" -DPETAL_SHARED_LIBRARY -DPETAL_BUILDING $(library_sources); }

# python3_dll FOLDER: creates FOLDER/python3.lib, with which the objects in FOLDER link to the
# python3.dll of any CPython for Windows. It contains the names that the objects need. (A name that
# is used in a constant, such as a type's slot, has no __imp_ prefix.)
python3_dll() {
    {
        printf 'LIBRARY python3.dll\nEXPORTS\n'
        nm "$1"/*.o | sed -n 's/.* U \(__imp_\)\{0,1\}\(_*Py\)/\2/p' | sort -u
    } >"$1/python3.def" &&
        "$ZIG" -m ziglang dlltool -m i386:x86-64 -d "$1/python3.def" -l "$1/python3.lib"
}
