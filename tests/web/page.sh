#!/bin/sh
# Tests the page in Chromium. The page must create, plan, open and query filters as the tool does,
# from a server and from file:, in English and Chinese, by keyboard and on a phone. It must load
# nothing from other servers, and axe-core must find no serious problem.
#
# The required packages (web/needs, page/needs) are kept in build/interop; ./dev test --all and
# ./dev test web/ install them. If a package is missing, the test is skipped.
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
ok 'the page and the documents are built, and no link is broken' web/build "$TMPDIR/web"
web_packages tests/web/page/needs || finish

relay node tests/web/page/run.js "$TMPDIR/web"
finish
