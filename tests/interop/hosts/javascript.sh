# javascript.sh - queries the keys with the JavaScript package in Node; see hosts.sh.
name='JavaScript'
prepare() {
    needs node clang wasm-ld wasi wasm-opt || return 1
    pipeline node "$1" && cp "$hosts/hosts.mjs" "$1"
}
ask() { node "$here/hosts.mjs" "$@"; }
