#!/bin/sh
# bloomfilter.sh - npm's bloomfilter, the old and the new form of its JSON, and Petal: alike in both directions.
set -u
. tests/interop/lib/interop.sh
needs node nodejs
needs npm npm
theirs() { node tests/interop/bloomfilter/driver.js "$@"; }

if node_packages bloomfilter-1.1.0 bloomfilter@1.1.0; then
    ran bloomfilter 1.1.0 'npm bloomfilter' bloomfilter
    for type in utf16le units; do alike 'bloomfilter 1.1.0' bloomfilter $type 2000 0.01; done
    alike 'bloomfilter 1.1.0' bloomfilter utf16le 3001 0.03
fi

# Ours is always the new form; a file in the old form keeps it.
if node_packages bloomfilter-0.0.21 bloomfilter@0.0.21; then
    ran bloomfilter 0.0.21 'npm bloomfilter' bloomfilter
    only_form_differs bloomfilter
fi
finish
