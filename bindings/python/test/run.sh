#!/bin/sh
# The wheel, in a Python with nothing else, and the sdist in another Python read every vector. With
# numpy, pyarrow, polars and pandas, every batch gives the same answers as keys one by one and as
# the tool.
#
# What it needs (bindings/python/needs) stays in build/interop. It is installed by ./dev test --all
# and by ./dev test bindings/python; without it, this is a skip.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/python
work=$PWD/build/bindings/python
mkdir -p "$work"

# ---- what it needs -------------------------------------------------------------------------------

needs python3 python3-config nm ldd || finish
folder=python-$(built_of "$here/needs")
tools=$interop/$folder/bin/python
may_install "$folder" python bindings/python || finish
make_venv() {
    python3 -m venv . && bin/python -m pip install --disable-pip-version-check -r "$here/needs"
}
install "$folder" 'what bindings/python/needs lists' make_venv || finish

# ---- wheels --------------------------------------------------------------------------------------

pip() { "$tools" -m pip --disable-pip-version-check "$@"; }
wheel() { # wheel SOURCE OUT BUILD_FOLDER
    pip wheel --no-index --no-deps --no-build-isolation -w "$2" "$1" "--config-settings=build-dir=$3"
}
bare() { # bare VENV WHEEL_FOLDER: a Python with this wheel alone
    python3 -m venv --without-pip "$1" &&
        pip --python "$1/bin/python" install --no-index "$2"/*.whl
}
in_bare() { PYTHONPATH=$here/test "$1/bin/python" -B "$here/test/bare.py" test_vectors test_cases; }

ok 'the wheel is built' wheel "$here" "$TMPDIR/wheel" "$work/wheel"
ok 'it is installed without anything else' bare "$TMPDIR/bare" "$TMPDIR/wheel"
relay in_bare "$TMPDIR/bare"

module=$(ls "$TMPDIR"/bare/lib/python3*/site-packages/petal/_petal*.so)
ok 'the module needs libc, libm and libz only' links_only "$module" libc libm libz libpthread
ok 'the tool needs libc, libm and libz only' \
    links_only "$TMPDIR/bare/bin/petal" libc libm libz libpthread
ok 'the module exports nothing but its start' [ "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = PyInit__petal ]
same_tool() { [ "$("$TMPDIR/bare/bin/petal" --version | head -n 1)" = "$(petal --version | head -n 1)" ]; }
ok 'the command petal comes with it' same_tool
ok 'it keeps to the limited API' "$tools" -m abi3audit --strict "$TMPDIR"/wheel/*.whl

if nightly 'the sdist'; then
    sdist() {
        PYTHON=$tools "$here/sdist" "$TMPDIR/sdist" &&
            wheel "$TMPDIR"/sdist/*.tar.gz "$TMPDIR/again" "$TMPDIR/objects"
    }
    ok 'the sdist is built, and a wheel from it elsewhere' sdist
    ok 'that is installed without anything else' bare "$TMPDIR/bare2" "$TMPDIR/again"
    relay in_bare "$TMPDIR/bare2"
fi

# ---- with other libraries ------------------------------------------------------------------------

PYTHONPATH=$TMPDIR/site:$here/test
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
ok 'the wheel is installed beside numpy and others' pip install --no-index --no-deps --target "$TMPDIR/site" "$TMPDIR"/wheel/*.whl
relay "$tools" -m pytest -p no:terminal -p no:cacheprovider -p tap "$here/test"
if [ -z "${PETAL_INSTALL-}" ]; then
    skip 'mypy and pyright' 'long: ./dev test bindings/python, or --all'
    finish
fi
# tests/interop/python-recipes.sh checks those that need other libraries.
typed="$here/src/petal $here/example/antijoin.py $here/example/dedupe.py"
# shellcheck disable=SC2086 # two words
ok 'mypy accepts the stubs and the examples' "$tools" -m mypy --strict --cache-dir "$work/mypy" $typed
# shellcheck disable=SC2086
needs node npm && node_packages pyright-1.1.414 pyright@1.1.414 && ok 'pyright does, too' \
    node "$interop/pyright-1.1.414/node_modules/pyright/index.js" --pythonpath "$tools" $typed
finish
