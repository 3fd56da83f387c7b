#!/bin/sh
# Tests that the npm package, installed in an empty folder, passes every test vector in Node, as ESM
# and CommonJS, that its types pass `tsc --strict`, and that Chromium can build, load and query
# filters with it.
#
# ./dev test --all and ./dev test bindings/js install the dependencies (bindings/js/needs) in
# build/interop. If a dependency is missing, the tests that require it are skipped.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
top=$PWD
here=$PWD/bindings/js

needs clang wasm-ld wasi wasm-opt node npm || finish

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
ok 'it is installed without any other package' bare
ok 'nothing was installed along with it' alone
imports() {
    node -e 'for (const file of process.argv.slice(1)) {
        const found = WebAssembly.Module.imports(new WebAssembly.Module(fs.readFileSync(file)));
        if (found.length) throw new Error(`${file} imports ${found[0].name}`);
    }' "$package"/dist/*.wasm
}
ok 'the modules import nothing' imports

# The sizes are those of gzipped files, as servers send them. The documents promise these bounds,
# although the actual sizes depend on the compiler versions.
sizes() {
    for module in $modules; do
        echo "$module $(gzip -9 <"$package/dist/$module.wasm" | wc -c)"
    done | tee "$TMPDIR/sizes" |
        awk '{ max["ask"] = 35; max["native"] = 81; max["full"] = 129; split($1, name, "-") }
            $2 > 1024 * max[name[1]] { print $1, "is above", max[name[1]], "KiB"; bad = 1 } END { exit bad }'
}
ok 'the modules are no larger than promised' sizes
sed 's/^/# gzip -9: /' "$TMPDIR/sizes"

# ---- Node ----------------------------------------------------------------------------------------

# The tests are placed next to the package, as a program that uses the package would be.
cp -r "$here/test" "$TMPDIR/bare/test"
PETAL_TOP=$top
export PETAL_TOP
in_bare() { node --no-warnings --expose-gc "$TMPDIR/bare/test/$1.mjs" "$@"; }
commonjs() { PETAL_CJS=1 in_bare "$@"; }
for script in vectors keys cases misuse load docs; do relay in_bare $script; done
relay commonjs cases
! nightly 'the vectors as CommonJS' || for script in vectors keys; do relay commonjs $script; done

# Replaces the SIMD128 modules with those without SIMD128, because both kernels must set the same
# bits.
without_simd() {
    cp -r "$TMPDIR/bare" "$TMPDIR/scalar" && cd "$TMPDIR/scalar/node_modules/petal-bloom/dist" &&
        for module in ask native full; do cp $module.wasm $module-simd.wasm; done
}
scalar() { node --no-warnings --expose-gc "$TMPDIR/scalar/test/$1.mjs" "$@"; }
ok 'the package without SIMD128' without_simd
relay scalar vectors
! nightly 'the rest without SIMD128' || for script in cases misuse; do relay scalar $script; done

# Creates a filter of 10^6 addresses and the expected answers with the command-line tool.
files=$TMPDIR/files
million() {
    mkdir "$files" && cd "$files" &&
        awk 'BEGIN { for (i = 0; i < 1e6; i++) print "https://example.com/page/" i }' >members &&
        awk 'BEGIN { for (i = 0; i < 1e6; i++) print "https://example.org/page/" i }' >absent &&
        petal build -n 1000000 -p 0.01 -o million.petal members &&
        cat members absent | petal check -n million.petal |
        awk -F: '{ for (; at < $1 - 1; at++) printf "0"; printf "1"; at++ }
            END { for (; at < 2e6; at++) printf "0" }' >answers
}
ok 'the command petal makes a filter of 10^6 addresses' million
relay node --no-warnings --expose-gc "$TMPDIR/bare/test/million.mjs" "$files"

# ---- with the packages in `needs` ----------------------------------------------------------------

folder=js-$(built_of "$here/needs")
tools=$interop/$folder
may_install "$folder" 'TypeScript and Chromium' bindings/js || finish
# shellcheck disable=SC2046 # one word per package
node_packages "$folder" $(grep -v '^#' "$here/needs") || finish

types() { # types MODULE: type-checks a program as ESM or CommonJS
    cp "$here/test/types.ts" "$TMPDIR/bare/types.$1" && cd "$TMPDIR/bare" &&
        node "$tools/node_modules/typescript/bin/tsc" --strict --noEmit --target es2022 \
            --module nodenext --lib es2022,dom,esnext.disposable "types.$1"
}
ok 'tsc --strict accepts a program that uses every call, as ESM' types mts
ok 'and as CommonJS' types cts

needs chromium || finish
relay node --no-warnings "$TMPDIR/bare/test/browser.mjs" "$package" "$tools" "$files"

# ---- with the packages in `bundlers` -------------------------------------------------------------

bundlers=bundlers-$(built_of "$here/bundlers")
may_install "$bundlers" 'vite, webpack, rollup, esbuild and bun' bindings/js || finish
# shellcheck disable=SC2046 # one word per package
node_packages "$bundlers" $(grep -v '^#' "$here/bundlers") || finish
relay node --no-warnings "$TMPDIR/bare/test/bundlers.mjs" "$interop/$bundlers" "$tools"
finish
