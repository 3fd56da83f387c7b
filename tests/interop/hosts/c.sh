# c.sh - queries the keys with the C library; see hosts.sh.
name=C
prepare() {
    needs cc || return 1
    cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -Iinclude "$hosts/c.c" \
        "-L$PETAL_BUILD_DIR/lib" "-Wl,-rpath,$PETAL_BUILD_DIR/lib" -lpetal -o "$1/program"
}
ask() { "$here/program" "$@"; }
