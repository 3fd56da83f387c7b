#!/bin/sh
# bloomfilter.sh - npm's bloomfilter, with the old and the new form of its JSON, and Petal agree in
# both directions.
set -u
. tests/interop/lib/interop.sh
needs node npm || finish
theirs() { node tests/interop/bloomfilter/driver.js "$@"; }

if node_packages bloomfilter-1.1.0 bloomfilter@1.1.0; then
    ran bloomfilter 1.1.0 'npm bloomfilter' bloomfilter
    for type in text wtf8; do alike 'bloomfilter 1.1.0' bloomfilter $type 2000 0.01; done
    alike 'bloomfilter 1.1.0' bloomfilter text 3001 0.03
fi

# Petal writes new filters in the new form, which the old version can read too. A file in the old
# form keeps the old form.
if node_packages bloomfilter-0.0.21 bloomfilter@0.0.21; then
    ran bloomfilter 0.0.21 'npm bloomfilter' bloomfilter
    same_bytes=no
    for type in text wtf8; do alike 'bloomfilter 0.0.21' bloomfilter $type 2000 0.01; done
fi
finish
