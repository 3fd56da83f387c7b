#!/bin/sh
# python_windows.sh - CPython for Windows imports the Windows wheel under Wine and passes every test
# vector.
set -u
. tests/packages/lib/packages.sh
. tests/interop/lib/packages.sh
needs_wine
needs unzip mvn nm objdump python3 || finish
needs_zig
may_install packages-windows-python 'Python for Windows' packages || finish
install packages-windows-python 'Python for Windows' "$PWD/tests/packages/lib/windows-python" || finish

there=$interop/packages-windows-python
site=$TMPDIR/site
# This CPython lacks python3.dll. The test builds python3.dll in the same way as CPython does: each
# name in the stable ABI is forwarded to the same name in python311.dll.
forwards() {
    nm "$there/libs/python3.lib" | sed -n 's/.* __imp_\(_*Py\)/\1/p' | sort -u >"$TMPDIR/names"
    {
        echo 'int entry(void *a, unsigned b, void *c) { return 1 + 0 * (!a + !b + !c); }'
        printf '%s\n' '__asm__(".section .drectve,\"yn\"\n"'
        sed 's/.*/".ascii \\" -export:&=python311.&\\"\\n"/' "$TMPDIR/names"
        echo ');'
    } >"$TMPDIR/python3.c"
    mkdir "$TMPDIR/python3" &&
        cross windows-x86_64 -shared -s -nostdlib -Wl,-e,entry "$TMPDIR/python3.c" -o "$TMPDIR/python3/python3.dll"
}
# Copies Python to a separate folder, with python3.dll next to python.exe. This Python starts only
# if its standard streams are pipes, since it rejects Wine's handles for other files.
runs_python() {
    mkdir "$TMPDIR/python" && cp "$there"/*.exe "$there"/*.dll "$TMPDIR/python3/python3.dll" "$TMPDIR/python" &&
        ln -s "$there/lib" "$TMPDIR/python/lib" &&
        printf '#!/bin/sh\n: | %s "%s" "$@" 2>&1 | cat\n' "$wine" "$TMPDIR/python/python.exe" >"$TMPDIR/run" &&
        chmod +x "$TMPDIR/run" && "$TMPDIR/run" -c 'import sys; print(sys.platform)' | tr -d '\r' | grep -x win32
}
unpacks() { python3 -m zipfile -e "$(wheel_of win_amd64)" "$site"; }
known() { # checks that every name the module imports from python3.dll belongs to the stable ABI
    objdump -p "$site/petal/_petal.pyd" | awk '/DLL Name/ { of = $3 } of == "python3.dll" && $NF ~ /^_*Py/ { print $NF }' |
        sort -u >"$TMPDIR/used" && [ "$(wc -l <"$TMPDIR/used")" -gt 50 ] && ! comm -23 "$TMPDIR/used" "$TMPDIR/names" | grep .
}
ten() { (cd "$TMPDIR" && PYTHONPATH=$site "$TMPDIR/run" "$OLDPWD/examples/ten-lines/ten.py" | tr -d '\r' | tr '\n' ' ' | grep -x 'False True '); }
ok 'the wheel unpacks' unpacks
ok 'python3.dll is made' forwards
ok 'Python runs under Wine' runs_python
ok 'the module uses only the stable ABI' known
ok 'ten lines' ten
ok 'every vector' python_vectors "$TMPDIR/run" "$site"
finish
