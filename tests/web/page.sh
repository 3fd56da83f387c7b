#!/bin/sh
# The page, in Chromium: makes, plans, opens and queries filters as the tool does, from a server and
# from file:, in English and Chinese, by keyboard and on a phone; nothing comes from elsewhere, and
# axe-core finds nothing serious.
#
# What it needs (web/needs, page/needs) stays in build/interop. It is installed by ./dev test --all
# and by ./dev test web/; without it, this is a skip.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
. web/lib.sh

needs clang wasm-ld wasi wasm-opt zopfli node npm chromium || finish
for list in web/needs tests/web/page/needs; do
    if [ ! -d "$interop/$(web_folder $list)" ] && [ -z "${PETAL_INSTALL-}" ]; then
        skip "$list" 'not installed: ./dev test --all or ./dev test web/ installs it'
        finish
    fi
done

web_packages web/needs || finish
ok 'the npm package is built' bindings/js/build "$TMPDIR/js"
PETAL_JS=$TMPDIR/js/package/dist
export PETAL_JS
ok 'the page and the documents are built, and no link leads nowhere' web/build "$TMPDIR/web"
web_packages tests/web/page/needs || finish

node tests/web/page/run.js "$TMPDIR/web" >"$TMPDIR/page.tap" 2>"$TMPDIR/page.err" ||
    grep -q '^not ok' "$TMPDIR/page.tap" || echo 'not ok 0 - it came to its end' >>"$TMPDIR/page.tap"
while IFS= read -r line; do
    case $line in
    'ok '* | 'not ok '*)
        tap_count=$((tap_count + 1))
        case $line in 'not ok '*) tap_failed=$((tap_failed + 1)) ;; esac
        echo "${line%% [0-9]*} $tap_count - ${line#* - }"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$TMPDIR/page.tap"
sed 's/^/# /' "$TMPDIR/page.err"
finish
