#!/bin/sh
# The npm package, packed and installed into an empty folder, reads every vector in Node, as ESM and
# CommonJS; its types hold under `tsc --strict`; and Chromium builds, loads and queries filters.
#
# What it needs (bindings/js/needs) stays in build/interop. It is installed by ./dev test --all and
# by ./dev test bindings/js; without it, what needs it is a skip.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
top=$PWD
here=$PWD/bindings/js

needs clang wasm-ld wasi wasm-opt node npm || finish

# The lines of TAP that a command prints, as lines of this test.
relay() {
    "$@" >"$TMPDIR/relayed" 2>"$TMPDIR/relayed.err" || echo "not ok 0 - $* fails" >>"$TMPDIR/relayed"
    while IFS= read -r tap_line; do
        case $tap_line in
        'ok '* | 'not ok '*)
            tap_count=$((tap_count + 1))
            case $tap_line in 'not ok '*) tap_failed=$((tap_failed + 1)) ;; esac
            echo "${tap_line%% [0-9]*} $tap_count - ${tap_line#* - }"
            ;;
        '#'*) printf '%s\n' "$tap_line" ;;
        esac
    done <"$TMPDIR/relayed"
    [ -s "$TMPDIR/relayed.err" ] && sed 's/^/# /' "$TMPDIR/relayed.err"
}

# ---- the package ---------------------------------------------------------------------------------

ok 'the package is built' "$here/build" "$TMPDIR/built"
package=$TMPDIR/built/package
modules='ask ask-simd native native-simd full full-simd'
packs() { cd "$TMPDIR" && npm pack --offline "$package"; }
bare() {
    mkdir "$TMPDIR/bare" && cd "$TMPDIR/bare" && echo '{"private":true}' >package.json &&
        npm install --offline --no-audit --no-fund "$TMPDIR"/petal-bloom-*.tgz
}
alone() { [ "$(ls -A "$TMPDIR/bare/node_modules" | grep -v '^\.')" = petal-bloom ]; }
ok 'npm packs it' packs
ok 'it is installed without anything else' bare
ok 'nothing came with it' alone
imports() {
    node -e 'for (const file of process.argv.slice(1)) {
        const found = WebAssembly.Module.imports(new WebAssembly.Module(fs.readFileSync(file)));
        if (found.length) throw new Error(`${file} imports ${found[0].name}`);
    }' "$package"/dist/*.wasm
}
ok 'the modules import nothing' imports

# ---- Node ----------------------------------------------------------------------------------------

# The tests stand beside the package, as a program that uses it does.
cp -r "$here/test" "$TMPDIR/bare/test"
PETAL_TOP=$top
export PETAL_TOP
for script in vectors cases; do relay node "$TMPDIR/bare/test/$script.mjs"; done
finish
