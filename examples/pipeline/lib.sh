# lib.sh - for the prepare scripts: installs other libraries with tests/interop/lib/packages.sh. If
# a library is unreachable, the script ends with the reason and status 77. The prepare scripts
# source this file.
set -eu
skip() { printf '%s: %s\n' "$1" "$2"; exit 77; }
ok() { # ok WHAT COMMAND...
    what=$1
    shift
    "$@" >&2 || { echo "failed: $what" >&2; exit 1; }
}
. tests/interop/lib/packages.sh

# launcher NAME COMMAND: creates DIR/NAME, which runs COMMAND with its own arguments.
launcher() {
    printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$dir/$1"
    chmod +x "$dir/$1"
}
case $1 in /*) dir=$1 ;; *) dir=$PWD/$1 ;; esac
