#!/bin/sh
# oldpanda-py.sh - OldPanda's bloomfilter-py and Petal agree in both directions. Petal's name for
# its old MITZ_32 is oldpanda-py32.
set -u
. tests/interop/lib/interop.sh
needs python3 pip || finish
theirs() { python3 tests/interop/oldpanda-py/driver.py "$@"; }

if python_packages bloomfilter-py-2.0.0 bloomfilter-py==2.0.0; then
    ran bloomfilter-py 2.0.0 'pip bloomfilter-py' 'guava, guava32'
    for type in text i32 i64 hex; do alike 'bloomfilter-py 2.0.0' guava $type 2000 0.01; done
    for type in text i64; do alike 'bloomfilter-py 2.0.0' guava32 $type 2000 0.01; done
fi

# This is the last version whose MITZ_32 drops the sign bit. This version has no funnels, and
# encodes an int in 4 bytes if it fits.
if python_packages bloomfilter-py-1.2.0 bloomfilter-py==1.2.0; then
    ran bloomfilter-py 1.2.0 'pip bloomfilter-py' 'guava, oldpanda-py32'
    for format in guava oldpanda-py32; do
        for type in text i32; do alike 'bloomfilter-py 1.2.0' $format $type 2000 0.01; done
    done
fi
finish
