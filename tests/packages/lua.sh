#!/bin/sh
# lua.sh - ./dev package lua creates petal.lua and a library that requires glibc 2.17 or later and
# no other library. LuaJIT loads both from the unpacked folder and passes every test vector, on this
# CPU and on 64-bit ARM under QEMU. LuaRocks installs petal.lua from the rockspec.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/binary.sh
. tests/interop/lib/packages.sh
needs luajit qemu-aarch64 luarocks || finish
needs_zig

unpacked=$TMPDIR/petal-lua-$version-linux
unpack() { tar -xzf "$packages/petal-lua-$version-linux.tar.gz" -C "$TMPDIR"; }
is_library() { # is_library FOLDER CPU
    is_for "$unpacked/$1/libpetal.so" "$2" && glibc_2_17 "$unpacked/$1/libpetal.so" &&
        needs_only "$unpacked/$1/libpetal.so" $glibc_own &&
        exports_only "$unpacked/$1/libpetal.so" 'petal_[a-z0-9_]*'
}
same_files() {
    cmp "$unpacked/petal.lua" bindings/lua/src/petal.lua && diff -r "$unpacked/example" bindings/lua/example
}
# Copies both files to one folder, as the README says.
vectors() ( # vectors FOLDER LUAJIT...
    here=$TMPDIR/$1
    mkdir -p "$here" && cp "$unpacked/petal.lua" "$unpacked/$1/libpetal.so" "$here" || exit
    shift
    LUA_PATH="$here/?.lua;bindings/lua/test/?.lua"
    export LUA_PATH
    for name in cases vectors; do
        "$@" "bindings/lua/test/$name.lua" >"$TMPDIR/said" || { cat "$TMPDIR/said"; exit 1; }
    done
)
ok 'the package unpacks' unpack
ok 'it has the licences' has_files "$unpacked" LICENSE LICENSE-xxhash LICENSE-zlib
ok 'it has the file and the examples of this tree' same_files
ok 'x86-64: glibc 2.17 or later, no other library, only its calls' is_library amd64 x86_64
ok '64-bit ARM: the same' is_library arm64 aarch64
[ "$(uname -m)" != x86_64 ] || ok "x86-64: Debian's LuaJIT reads every vector with it" vectors amd64 luajit
if may_install packages-arm-luajit 'LuaJIT for 64-bit ARM' packages &&
    install packages-arm-luajit 'LuaJIT for 64-bit ARM' "$PWD/tests/packages/lib/arm-debian" luajit2; then
    there=$interop/packages-arm-luajit
    ok '64-bit ARM: LuaJIT reads every vector with it, under QEMU' \
        vectors arm64 qemu-aarch64 -L "$there" "$there/usr/bin/luajit"
fi

# ---- the rockspec --------------------------------------------------------------------------------

spec=$unpacked/petal-bloom-$version-1.rockspec
installs() { # installs from this tree, without contacting the URL in the rockspec
    cp "$spec" "$TMPDIR" &&
        luarocks --lua-version 5.1 --tree "$TMPDIR/rocks" make --deps-mode none "$TMPDIR/${spec##*/}" &&
        cmp "$TMPDIR/rocks/share/lua/5.1/petal.lua" bindings/lua/src/petal.lua
}
ok 'LuaRocks accepts the rockspec' luarocks --lua-version 5.1 lint "$spec"
ok 'and installs the file by it' installs
finish
