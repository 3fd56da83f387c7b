-- petal-bloom.rockspec - the rock for LuaRocks: petal.lua, without the library libpetal, which it
-- finds at run time. `./dev package lua` names it petal-bloom-VERSION-1.rockspec.
rockspec_format = "3.0"
package = "petal-bloom"
version = "0.1.0-1"
source = { url = "git+https://petal.example/petal", tag = "v0.1.0" }
description = {
    summary = "Bloom filters that every language can read, for LuaJIT, OpenResty and nginx",
    detailed = "One file over the shared library libpetal, which must be installed (Debian: libpetal0.1).",
    homepage = "https://petal.example",
    license = "MIT",
    maintainer = "Petal developers <petal@petal.example>",
}
dependencies = { "lua >= 5.1, < 5.2" } -- LuaJIT
build = { type = "builtin", modules = { petal = "bindings/lua/src/petal.lua" } }
