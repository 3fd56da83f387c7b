#!/bin/sh
# bloom-filters.sh - npm's bloom-filters 3 and Petal agree in both directions.
set -u
. tests/interop/lib/interop.sh
needs node npm || finish
theirs() { node tests/interop/bloom-filters/driver.js "$@"; }

node_packages bloom-filters-3.0.4 bloom-filters@3.0.4 || finish
ran bloom-filters 3.0.4 'npm bloom-filters' bloom-filters
alike 'bloom-filters 3.0.4' bloom-filters text 2000 0.01
alike 'bloom-filters 3.0.4' bloom-filters text 3001 0.03
for PETAL_SEED in 1 4294967295; do
    export PETAL_SEED
    alike "bloom-filters 3.0.4 (seed $PETAL_SEED)" bloom-filters text 2000 0.01
done
finish
