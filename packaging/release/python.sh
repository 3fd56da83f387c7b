# python.sh - runs the checks that PyPI performs on upload, and a test installation. Sourced by
# scripts/release, not run.

twine=$top/build/release-tools/bin/twine
installs_wheel() {
    python3 -m pip --disable-pip-version-check install --no-index --no-deps --target "$work/python" "$1" &&
        (cd "$TMPDIR" && PYTHONPATH=$work/python python3 "$source/examples/ten-lines/ten.py") |
        tee /dev/stderr | tr '\n' ' ' | grep -qx 'False True '
}
for file in $(made 'petal_bloom-*'); do
    if [ -x "$twine" ]; then
        checked "$file" 'twine check' "$twine" check --strict "$packages/$file"
    else
        skip "$file: twine check" 'unreachable: twine'
    fi
    case $file in *-manylinux*"_$(uname -m)".whl)
        checked "$file" 'installs and runs' installs_wheel "$packages/$file"
        ;;
    esac
done
