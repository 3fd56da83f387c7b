#!/bin/sh
# The page in Chromium: creates, plans, opens and queries filters as the tool does, from a server
# and from file:, in English and Chinese, by keyboard and on a phone. It loads nothing from
# elsewhere, and axe-core finds no serious problem.
#
# The packages that it needs (web/needs, page/needs) stay in build/interop. ./dev test --all and
# ./dev test web/ install them. Without them, the test is skipped.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
. web/lib.sh

needs clang wasm-ld wasi wasm-opt zopfli node npm chromium || finish
for list in web/needs tests/web/page/needs; do
    may_install "$(web_folder $list)" "$list" web/ || finish
done

web_packages web/needs || finish
ok 'the npm package is built' bindings/js/build "$TMPDIR/js"
PETAL_JS=$TMPDIR/js/package/dist
export PETAL_JS
ok 'the page and the documents are built, and no link leads nowhere' web/build "$TMPDIR/web"
web_packages tests/web/page/needs || finish

relay node tests/web/page/run.js "$TMPDIR/web"
finish
