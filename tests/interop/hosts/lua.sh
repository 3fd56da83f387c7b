# lua.sh - queries the keys with petal.lua in LuaJIT; see hosts.sh.
name=LuaJIT
prepare() { needs luajit; }
ask() {
    LD_LIBRARY_PATH=$PETAL_BUILD_DIR/lib LUA_PATH="$PWD/bindings/lua/src/?.lua" \
        luajit "$hosts/lua.lua" "$@"
}
