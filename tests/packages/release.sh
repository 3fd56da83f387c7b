#!/bin/sh
# release.sh - ./dev release --dry-run builds every package of the next minor version twice with the
# same bytes, and each package passes the checks of its registry.
set -u
. tests/install/lib/tap.sh
needs git || finish
next=$(sed -n 's/^#define PETAL_VERSION_M[AIJNOR]* \([0-9]*\)$/\1/p' include/petal/petal.h | paste -sd. | awk -F. '{ print $1 "." $2 + 1 ".0" }')
relay ./dev release --dry-run "$next"
finish
