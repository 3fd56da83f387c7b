# lib.sh - for scripts that source packages.sh and need the Node packages listed in a file, one
# NAME@VERSION per line. Sourced, not run.
web_folder() { echo "web-$(built_of "$1")"; }
web_packages() { # web_packages FILE; then Node finds them
    # shellcheck disable=SC2046 # one word per package
    node_packages "$(web_folder "$1")" $(grep -v '^#' "$1")
}
