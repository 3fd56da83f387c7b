#!/bin/sh
# Tests petal.lua in Debian's LuaJIT with the library from the build: the declarations, every test
# vector, the cases of all bindings, key types, misuse, memory and watched files. Repeats these
# tests under AddressSanitizer, and tests the example gateway in nginx with four workers and the
# examples in docs/lua.md.
set -u
. tests/install/lib/tap.sh
here=$PWD/bindings/lua
case ${PETAL_BUILD_DIR:=build/release} in /*) ;; *) PETAL_BUILD_DIR=$PWD/$PETAL_BUILD_DIR ;; esac

# ---- the file ------------------------------------------------------------------------------------

needs python3 || finish
ok 'the declarations are those of the headers' "$here/declare" --check
needs luajit cc || finish
LD_LIBRARY_PATH=$PETAL_BUILD_DIR/lib LUA_PATH="$here/src/?.lua;$here/test/?.lua"
export LD_LIBRARY_PATH LUA_PATH
same_facts() { # compares constants, sizes and offsets in C and in LuaJIT
    "$here/declare" --facts c >"$TMPDIR/facts.c" && "$here/declare" --facts lua >"$TMPDIR/facts.lua" &&
        cc -Iinclude -o "$TMPDIR/facts" "$TMPDIR/facts.c" && "$TMPDIR/facts" >"$TMPDIR/expected" &&
        [ "$(wc -l <"$TMPDIR/expected")" -gt 150 ] &&
        luajit "$TMPDIR/facts.lua" | diff "$TMPDIR/expected" -
}
ok 'the C compiler has the same constants, sizes and offsets' same_facts
one_file() { # checks that petal.lua loads only modules that LuaJIT contains
    ! grep -n 'require' "$here/src/petal.lua" | grep -vE 'require "(petal|bit)"|pcall\(require, "ffi"\)'
}
ok 'it needs no other module' one_file
missing_library() {
    mkdir "$TMPDIR/alone" && cp "$here/src/petal.lua" "$TMPDIR/alone" && echo 'no library' >"$TMPDIR/alone/libpetal.so" &&
        ! LD_LIBRARY_PATH= LUA_PATH="$TMPDIR/alone/?.lua" luajit -e 'require "petal"' 2>"$TMPDIR/said" &&
        grep 'petal: no library libpetal: .*alone/libpetal.so' "$TMPDIR/said"
}
ok 'without the library, loading it fails, and says where it looked' missing_library
beside() { # checks that a library next to petal.lua is found
    cp "$PETAL_BUILD_DIR/lib/libpetal.so" "$TMPDIR/alone" &&
        LD_LIBRARY_PATH= LUA_PATH="$TMPDIR/alone/?.lua" luajit -e 'print(require("petal")._VERSION)'
}
ok 'a library beside it is found' beside

# ---- Lua -----------------------------------------------------------------------------------------

for name in vectors cases filters misuse watch memory kong; do
    relay luajit "$here/test/$name.lua"
done

# ---- nginx ---------------------------------------------------------------------------------------

modules=/usr/lib/nginx/modules
gateway() {
    mkdir "$TMPDIR/gateway" && cp "$here"/example/gateway/* "$here/src/petal.lua" "$TMPDIR/gateway" &&
        python3 -B "$here/test/gateway.py" "$TMPDIR/gateway" 4
}
if needs nginx; then
    if [ -e $modules/ngx_http_lua_module.so ]; then
        relay_as 'nginx: ' gateway
    else
        skip nginx 'not installed: ./dev test --all installs it (Debian: libnginx-mod-http-lua)'
    fi
fi

# ---- AddressSanitizer ----------------------------------------------------------------------------

sanitized=$PWD/build/bindings/lua
build_sanitized() {
    cmake -S . -B "$sanitized" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPETAL_BUILD_TOOL=OFF \
        -DPETAL_BUILD_TESTS=OFF -DPETAL_BUILD_EXAMPLES=OFF \
        '-DCMAKE_C_FLAGS=-fsanitize=address -fno-omit-frame-pointer' &&
        cmake --build "$sanitized" -j "$(nproc)" --target petal_shared
}
no_reports() { ! cat "$TMPDIR"/report.* 2>/dev/null; }
if nightly 'under AddressSanitizer' && needs cmake; then
    ok 'the library is built with AddressSanitizer' build_sanitized
    for name in vectors cases filters misuse watch; do
        (
            LD_LIBRARY_PATH=$sanitized/lib LD_PRELOAD=$(cc -print-file-name=libasan.so)
            ASAN_OPTIONS=quarantine_size_mb=8:detect_leaks=1:allocator_may_return_null=1
            ASAN_OPTIONS=$ASAN_OPTIONS:log_path=$TMPDIR/report
            export LD_LIBRARY_PATH LD_PRELOAD ASAN_OPTIONS
            exec luajit "$here/test/$name.lua"
        ) >"$TMPDIR/sanitized" 2>&1
        relay_as 'sanitized: ' cat "$TMPDIR/sanitized"
    done
    ok 'nothing is reported, and nothing leaks' no_reports
fi

# ---- the document's examples ---------------------------------------------------------------------

. tests/docs/lib/blocks.sh
top=$PWD
mkdir "$TMPDIR/page" && cp "$here/src/petal.lua" "$TMPDIR/page"
LUA_PATH="./?.lua" && cd "$TMPDIR/page" && run_blocks docs/lua.md
cd "$top" || exit 2
cat >"$TMPDIR/names.lua" <<'EOF'
local petal = require "petal"
for name, value in pairs(petal) do if type(value) == "function" then print(name) end end
local filter = petal.create { capacity = 1, rate = 0.5 }
for name in pairs(getmetatable(filter).__index) do print(name) end
EOF
every_call() {
    LUA_PATH="$here/src/?.lua" luajit "$TMPDIR/names.lua" | grep -v '^__' >"$TMPDIR/names"
    [ "$(wc -l <"$TMPDIR/names")" -ge 25 ] &&
        while read -r name; do
            grep -q "\\b$name(" docs/lua.md || { echo "not documented: $name" && return 1; }
        done <"$TMPDIR/names"
}
ok 'docs/lua.md has every call' every_call
finish
