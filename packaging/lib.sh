# lib.sh - compiles the library and the tool for any system with zig (PyPI's ziglang), which brings
# headers and C libraries, and links zlib from Debian's sources. Sourced from the top of the tree by
# packaging/make and by tests/packages, not run. `./dev package` sets up what it needs: ZIG (the
# interpreter of build/ziglang) and ZLIB (packaging/source zlib), and for the jar MAVEN (a store
# with everything that bindings/java/pom.xml names).
ZIG=${ZIG:-$PWD/build/ziglang/bin/python}
ZLIB=${ZLIB:-$PWD/build/zlib}
MAVEN=${MAVEN:-$PWD/build/maven}
ZIG_GLOBAL_CACHE_DIR=${ZIG_GLOBAL_CACHE_DIR:-$PWD/build/zig-cache}
ZIG_LOCAL_CACHE_DIR=${ZIG_LOCAL_CACHE_DIR:-$ZIG_GLOBAL_CACHE_DIR}
export ZIG ZLIB MAVEN ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR

# The name of each system's package, and zig's name for the system. Linux uses musl, so that the
# tool runs everywhere; Windows 10 and macOS 13, or later.
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

# zig's own folder, with the licences of what it links.
zig_folder() { "$ZIG" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))'; }

library_sources() { ls src/*/*.c src/*/*/*.c; }

# The sources of zlib's inflate and deflate, which read gzip files.
zlib_sources() {
    for name in adler32 crc32 deflate inffast inflate inftrees trees zutil; do
        echo "$ZLIB/$name.c"
    done
}

# A folder with xxHash's headers, and no others from this machine. Several compilers use it
# concurrently, so each file is created atomically.
xxhash_headers() {
    mkdir -p build/xxhash
    for header in "${XXHASH:-/usr/include}"/xxh*.h; do
        header_copy=build/xxhash/${header##*/}
        cmp -s "$header" "$header_copy" ||
            { cp "$header" "$header_copy.$$" && mv "$header_copy.$$" "$header_copy"; } || return 1
    done
    echo build/xxhash
}

# cross SYSTEM OPTION-or-FILE...: runs zig cc with Petal's flags; gives the same bytes in any
# folder.
cross() {
    cross_target=$(zig_target "$1")
    shift
    cross_headers=$(xxhash_headers) || return 1
    # zlib's test for fdopen() on a Mac predates macOS.
    case $cross_target in *-macos*) set -- -Dfdopen=fdopen -Wno-macro-redefined "$@" ;; esac
    "$ZIG" -m ziglang cc -target "$cross_target" -std=c11 -O3 -g0 -DNDEBUG -DPETAL_WITH_ZLIB \
        -fvisibility=hidden -ffile-prefix-map="$PWD"=. -ffile-prefix-map="$ZLIB"=zlib \
        -Wno-deprecated-non-prototype -D_LARGEFILE64_SOURCE=1 \
        -Iinclude -Isrc -Icli -isystem "$cross_headers" -isystem "$ZLIB" "$@"
}

# cross_objects SYSTEM FOLDER FLAGS FILE...: compiles each FILE to FOLDER/NAME.c.o
cross_objects() {
    objects_system=$1 objects_folder=$2 objects_flags=$3
    shift 3
    mkdir -p "$objects_folder"
    printf '%s\n' "$@" | SYSTEM=$objects_system FOLDER=$objects_folder FLAGS=$objects_flags \
        xargs -P "$(nproc)" -n 1 sh -c '. packaging/lib.sh
            cross "$SYSTEM" $FLAGS -c "$0" -o "$FOLDER/$(basename "$0").o"'
}

# The library is compiled with the same flags for the tool and for Python's module, so that zig
# compiles it once: on Linux those of a shared library.
cross_flags() { case $1 in *linux-*) echo -fPIC ;; esac; }

# cross_tool SYSTEM OUT: builds petal, or petal.exe
cross_tool() {
    case $1 in
    windows-*)
        # posix.h is only for the tool, so the library is compiled in a second step. start.c has the
        # signals.
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
    # Otherwise the library's install name would be this file's path.
    macos-*) set -- "$@" "-Wl,-install_name,$(basename "$shared_out")" ;;
    *) set -- "$@" -lm -lpthread ;;
    esac
    cross "$shared_system" $(cross_flags "$shared_system") -shared -s "$@" $(zlib_sources) -o "$shared_out" &&
        rm -f "$shared_out.lib"
}

# cross_module SYSTEM HEADERS OUT: builds Python's module, in the limited API, with the library
# inside. HEADERS are Python's, with a pyconfig.h for that system.
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

# cross_jni SYSTEM HEADERS OUT: builds the jar's library with the JNI functions. HEADERS are those
# that javac made from Core.java, and JNI's own with a jni_md.h for that system.
cross_jni() {
    jni_objects=$(mktemp -d)
    cross_objects "$1" "$jni_objects" "$(cross_flags "$1") -isystem $2" bindings/java/src/native/*.c &&
        cross_shared "$1" "$3" "$jni_objects"/*.o $(library_sources)
    jni_status=$?
    rm -rf "$jni_objects"
    return $jni_status
}

# cross_redis SYSTEM OUT: builds the module for Redis and Valkey, with the library inside
cross_redis() { cross_shared "$1" "$2" redis/*.c $(library_sources); }

# cross_sqlite SYSTEM HEADERS OUT: builds the extension for SQLite, with the library inside
cross_sqlite() { cross_shared "$1" "$3" -isystem "$2" bindings/sqlite/src/*.c $(library_sources); }

# cross_library SYSTEM OUT: builds the library itself, with the calls of petal.h
cross_library() { cross_shared "$1" "$2" -DPETAL_SHARED_LIBRARY -DPETAL_BUILDING $(library_sources); }

# python3_dll FOLDER: makes FOLDER/python3.lib, with which the objects in FOLDER link to the
# python3.dll of any CPython for Windows. It has the names that they need. (A name in a constant,
# such as a type's slot, has no __imp_.)
python3_dll() {
    {
        printf 'LIBRARY python3.dll\nEXPORTS\n'
        nm "$1"/*.o | sed -n 's/.* U \(__imp_\)\{0,1\}\(_*Py\)/\2/p' | sort -u
    } >"$1/python3.def" &&
        "$ZIG" -m ziglang dlltool -m i386:x86-64 -d "$1/python3.def" -l "$1/python3.lib"
}
