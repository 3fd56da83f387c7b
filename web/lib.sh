# lib.sh - for those who source packages.sh and need Node packages that a file lists, one
# NAME@VERSION per line. Sourced, not run.
web_folder() { echo "web-$(built_of "$1")"; }
web_packages() { # web_packages FILE; then Node finds them
    # shellcheck disable=SC2046 # one word per package
    node_packages "$(web_folder "$1")" $(grep -v '^#' "$1")
}
