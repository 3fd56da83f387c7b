#!/bin/sh
# python-recipes.sh - the examples in bindings/python/example and the programs in docs/dataframes.md
# work as described with the real libraries. Their results are compared with exact sets.
set -u
. tests/install/lib/tap.sh
. tests/interop/lib/packages.sh
. tests/docs/lib/blocks.sh
needs python3 python3-config pip java node || finish
examples=$PWD/bindings/python/example
here=$PWD/tests/interop/python-recipes

folder=python-recipes-$(built_of "$examples/needs")
python=$interop/$folder/bin/python
make_venv() { python3 -m venv . && bin/python -m pip install --disable-pip-version-check -r "$examples/needs"; }
install "$folder" 'what bindings/python/example/needs lists' make_venv || finish
sed -n 's/==/ /; s/^[A-Za-z]/# with &/p' "$examples/needs"

pip() { "$python" -m pip --disable-pip-version-check "$@"; }
petal_wheel "$TMPDIR/wheel" || finish
ok 'the wheel is installed' \
    pip install --no-index --no-deps --target "$TMPDIR/site" "$TMPDIR"/wheel/*.whl

# Without SPARK_LOCAL_IP, Spark would look up the machine's own name, which may have no address.
# Spark's workers must find the same modules as this process.
PYTHONPATH=$TMPDIR/site:$examples PYTHONDONTWRITEBYTECODE=1 PYSPARK_PYTHON=$python MPLBACKEND=agg
export PYTHONPATH PYTHONDONTWRITEBYTECODE PYSPARK_PYTHON MPLBACKEND
SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_HOSTNAME=127.0.0.1
export SPARK_LOCAL_IP SPARK_LOCAL_HOSTNAME
for test in "$here"/test_*.py; do
    name=${test##*/test_}
    name=${name%.py}
    if [ "$name" = spark ] && ! getent hosts localhost >/dev/null; then
        skip "$name" 'the name localhost has no address on this machine'
        continue
    fi
    ok "$name" "$python" -m pytest -q -p no:cacheprovider "$test"
done
ok 'mypy --strict accepts the examples' "$python" -m mypy --strict --ignore-missing-imports \
    --cache-dir "$PWD/build/bindings/python/mypy-examples" "$examples"
needs npm && node_packages pyright-1.1.414 pyright@1.1.414 && ok 'pyright accepts them, too' \
    node "$interop/pyright-1.1.414/node_modules/pyright/index.js" --pythonpath "$python" \
    "$examples"/*.py
mkdir "$TMPDIR/here" "$TMPDIR/bin"
printf '#!/bin/sh\nexec %s "$@"\n' "$python" >"$TMPDIR/bin/python3" && chmod +x "$TMPDIR/bin/python3"
PATH=$TMPDIR/bin:$PATH
cd "$TMPDIR/here" && run_blocks docs/dataframes.md
finish
