# root.sh - sets up a new, minimal Debian in a folder with debootstrap. This script must be sourced
# after packages.sh, not run. If a required program is missing, the test is skipped.
needs debootstrap || finish

# bare_debian FOLDER: sets up a minimal Debian in FOLDER. Returns false if this was skipped or
# failed.
bare_debian() {
    [ "$(id -u)" -eq 0 ] || { skip 'a new Debian' 'this machine: needs root'; return 1; }
    debian_suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debian_mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
        awk -v suite="$debian_suite" '$2 == suite { print $1; exit }')
    ! debootstrap --variant=minbase "$debian_suite" "$1" "$debian_mirror" >"$TMPDIR/debootstrap.log" 2>&1 ||
        return 0
    if grep -qiE "failed getting release|couldn't download|unable to connect" "$TMPDIR/debootstrap.log"; then
        skip 'a new Debian' "unreachable: $(tail -n 1 "$TMPDIR/debootstrap.log")"
    else
        ok 'a new Debian is made' log_of_failure "$TMPDIR/debootstrap.log"
    fi
    return 1
}
log_of_failure() { tail -n 20 "$1" && return 1; }

# inside COMMAND...: runs COMMAND in the Debian of $root
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C DEBIAN_FRONTEND=noninteractive \
        chroot "$root" "$@"
}

# Configures the Debian in $root to reach servers in the same way as this machine.
ways() {
    rm -rf "$root/etc/apt"
    for path in /etc/apt /etc/pip.conf /etc/ssl/certs /usr/share/keyrings \
        /usr/share/ca-certificates /usr/local/share/ca-certificates; do
        [ -e "$path" ] || continue
        mkdir -p "$(dirname "$root$path")"
        cp -RLT "$path" "$root$path" 2>/dev/null
    done
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}
