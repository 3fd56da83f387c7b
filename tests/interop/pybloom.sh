#!/bin/sh
# pybloom.sh - pybloom_live, with plain and scalable filters, and Petal agree in both directions.
set -u
. tests/interop/lib/interop.sh
needs python3 pip || finish
theirs() { python3 tests/interop/pybloom/driver.py "$@"; }

python_packages pybloom_live-4.0.0 pybloom_live==4.0.0 || finish
ran pybloom_live 4.0.0 'pip pybloom-live' 'pybloom, pybloom-scalable'
# The rate and the size determine the hash function. The filters below use, in this order, XXH3,
# SHA-1, XXH3, SHA-256, SHA-384 and SHA-512.
for size in '2001 0.01' '2001 0.003' '3000 0.3'; do alike 'pybloom_live 4.0.0' pybloom text $size; done
mistakes=no
# shellcheck disable=SC2086 # two words
for size in '30000 0.01' '30000 0.0005' '30000 0.00001'; do alike 'pybloom_live 4.0.0' pybloom text $size; done
mistakes=yes
alike 'pybloom_live 4.0.0' pybloom-scalable text 100 0.05
finish
