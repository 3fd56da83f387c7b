#!/bin/sh
# python_arm.sh - Debian's Python for 64-bit ARM imports the ARM wheel under QEMU and passes every
# test vector.
set -u
. tests/packages/lib/packages.sh
. tests/interop/lib/packages.sh
needs qemu-aarch64 python3 dpkg-deb || finish
needs_zig
may_install packages-arm-python 'Python for 64-bit ARM' packages || finish
install packages-arm-python 'Python for 64-bit ARM' "$PWD/tests/packages/lib/arm-debian" python3 || finish

there=$interop/packages-arm-python
site=$TMPDIR/site
runs_python() { printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s" "$@"\n' "$there" "$there/usr/bin/python3" >"$TMPDIR/python" && chmod +x "$TMPDIR/python"; }
# Unpacks the wheel as pip would, since pip is not installed.
unpacks() { python3 -m zipfile -e "$(wheel_of manylinux2014_aarch64)" "$site"; }
is_arm() { "$TMPDIR/python" -c 'import platform; print(platform.machine())' | grep -x aarch64; }
ten() { (cd "$TMPDIR" && PYTHONPATH=$site "$TMPDIR/python" "$OLDPWD/examples/ten-lines/ten.py" | tr '\n' ' ' | grep -x 'False True '); }
runs_python
ok 'the wheel unpacks' unpacks
ok 'this Python is for ARM' is_arm
ok 'ten lines' ten
ok 'every vector' python_vectors "$TMPDIR/python" "$site"
finish
