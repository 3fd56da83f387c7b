#!/bin/sh
# pybloom.sh - pybloom_live, plain and scalable, and Petal: alike in both directions.
set -u
. tests/interop/lib/interop.sh
needs python3 python3
python3 -m pip --version >/dev/null 2>&1 || skip_all 'pip is not installed (Debian: python3-pip)'
theirs() { python3 tests/interop/pybloom/driver.py "$@"; }

python_packages pybloom_live-4.0.0 pybloom_live==4.0.0 || finish
ran pybloom_live 4.0.0 'pip pybloom-live' 'pybloom, pybloom-scalable'
# The rate and the size choose one of five hashes: 128 bits of it, 160, 256, 384 and 512.
for size in '2100 0.01' '2100 0.0009' '10000 0.1' '300000 0.01' '300000 0.0005'; do
    # shellcheck disable=SC2086 # two words
    alike 'pybloom_live 4.0.0' pybloom text $size
done
alike 'pybloom_live 4.0.0' pybloom-scalable text 100 0.05
finish
