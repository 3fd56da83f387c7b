#!/bin/sh
# Tests that the wheel, in a Python without other packages, and the sdist, in another Python, pass
# every test vector. With numpy, pyarrow, polars and pandas, every batch must give the same answers
# as single keys and as the tool.
#
# ./dev test --all and ./dev test bindings/python install the dependencies (bindings/python/needs)
# in build/interop. Without them, this test is skipped.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/python
work=$PWD/build/bindings/python
mkdir -p "$work"

# ---- what it needs -------------------------------------------------------------------------------

needs python3 python3-config pip nm ldd || finish
. bindings/python/build.sh
tools=$python_tools
may_install "$python_folder" python bindings/python || finish
python_install || finish

# ---- wheels --------------------------------------------------------------------------------------

pip() { "$tools" -m pip --disable-pip-version-check "$@"; }
wheel() { # wheel SOURCE OUT BUILD_FOLDER
    pip wheel --no-index --no-deps --no-build-isolation -w "$2" "$1" "--config-settings=build-dir=$3"
}
bare() { # bare VENV WHEEL_FOLDER: creates a virtual environment that contains only this wheel
    python3 -m venv --without-pip "$1" &&
        pip --python "$1/bin/python" install --no-index "$2"/*.whl
}
in_bare() { PYTHONPATH=$here/test "$1/bin/python" -B "$here/test/bare.py" test_vectors test_cases; }

petal_wheel "$TMPDIR/wheel" || finish
ok 'it is installed without any other package' bare "$TMPDIR/bare" "$TMPDIR/wheel"
relay in_bare "$TMPDIR/bare"

module=$(ls "$TMPDIR"/bare/lib/python3*/site-packages/petal/_petal*.so)
ok 'the module needs only libc, libm and libz' links_only "$module" libc libm libz libpthread
ok 'the tool needs only libc, libm and libz' \
    links_only "$TMPDIR/bare/bin/petal" libc libm libz libpthread
ok 'the module exports only its start function' [ "$(nm -D --defined-only "$module" | awk '{ print $3 }')" = PyInit__petal ]
same_tool() { [ "$("$TMPDIR/bare/bin/petal" --version | head -n 1)" = "$(petal --version | head -n 1)" ]; }
ok 'the command petal comes with it' same_tool
ok 'it uses only the limited API' "$tools" -m abi3audit --strict "$TMPDIR"/wheel/*.whl

if nightly 'the sdist'; then
    sdist() {
        PYTHON=$tools "$here/sdist" "$TMPDIR/sdist" &&
            wheel "$TMPDIR"/sdist/*.tar.gz "$TMPDIR/again" "$TMPDIR/objects"
    }
    ok 'the sdist is built, and a wheel from it elsewhere' sdist
    ok 'that is installed without any other package' bare "$TMPDIR/bare2" "$TMPDIR/again"
    relay in_bare "$TMPDIR/bare2"
fi

# ---- with other libraries ------------------------------------------------------------------------

PYTHONPATH=$TMPDIR/site:$here/test
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
ok 'the wheel is installed together with numpy and others' pip install --no-index --no-deps --target "$TMPDIR/site" "$TMPDIR"/wheel/*.whl
relay "$tools" -m pytest -p no:terminal -p no:cacheprovider -p tap "$here/test"
if [ -z "${PETAL_INSTALL-}" ]; then
    skip 'mypy and pyright' 'long: ./dev test bindings/python, or --all'
    finish
fi
# Examples that require other libraries are checked by tests/interop/python-recipes.sh.
typed="$here/src/petal $here/example/antijoin.py $here/example/dedupe.py"
# shellcheck disable=SC2086 # two words
ok 'mypy accepts the stubs and the examples' "$tools" -m mypy --strict --cache-dir "$work/mypy" $typed
# shellcheck disable=SC2086
needs node npm && node_packages pyright-1.1.414 pyright@1.1.414 && ok 'pyright does, too' \
    node "$interop/pyright-1.1.414/node_modules/pyright/index.js" --pythonpath "$tools" $typed
finish
