#!/bin/sh
# readme.sh - the commands in the documents work for a reader with a newly installed Debian. Each
# block of commands that starts with `apt-get install` is run verbatim in a new Debian, as root, at
# the top of a clone. Such blocks include every command in the README's table of languages.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/root.sh
needs debootstrap git || finish

# ---- the blocks ----------------------------------------------------------------------------------

# Writes each block to a file named DOCUMENT:LINE. Repeated blocks run only once.
mkdir "$TMPDIR/blocks"
for document in *.md docs/*.md bindings/*/README.md web/README.md; do
    awk -v stem="$TMPDIR/blocks/$(printf '%s' "$document" | tr / _)" '
        /^```sh$/ { at = FNR + 1; next }
        /^```/ { at = 0; next }
        at == FNR { wanted = /^apt-get install/ }
        at && wanted { sub(/ +#.*/, ""); print >(stem ":" at) }' "$document"
done
same_commands() { cmp "$TMPDIR"/blocks/README.md:* "$TMPDIR"/blocks/README.zh.md:*; }
ok 'README.md and README.zh.md have the same block' same_commands
rm -f "$TMPDIR"/blocks/README.zh.md:*
in_table() { # checks every command in the README's table of languages
    for readme in README.md README.zh.md; do
        sed -n 's/^| [A-Z][^|]* | `\([^`]*\)` | \[docs.*/\1/p' $readme >"$TMPDIR/commands"
        [ "$(wc -l <"$TMPDIR/commands")" -ge 6 ] || return 1
        while read -r command; do
            cat "$TMPDIR"/blocks/* | grep -qF -- "$command" || { echo "$readme: $command" && return 1; }
        done <"$TMPDIR/commands"
    done
}
ok 'the table has no other command' in_table

# ---- a new Debian for each -----------------------------------------------------------------------

bare_debian "$TMPDIR/bare" || finish
root=$TMPDIR/bare
ways
printf '%s\n' 'APT::Get::Assume-Yes "true";' 'APT::Install-Recommends "false";' \
    'APT::Sandbox::User "root";' >"$root/etc/apt/apt.conf.d/99answers"
clone() {
    git clone -q "file://$PWD" "$root/petal" &&
        git ls-files -z -co --exclude-standard | xargs -0 cp --parents -t "$root/petal"
}
ok 'the lists of packages' inside apt-get update
ok 'a clone' clone
# Keeps this machine's environment, which contains the location of certificates, but removes the
# variables that select compilers and generators, since ./dev sets some of them. The mounts are
# visible only to the script's processes.
choices=$(env | sed -n 's/^\(CMAKE_[A-Z_]*\|CC\|CXX\|[A-Z]*FLAGS\|PETAL_[A-Z_]*\)=.*/-u \1/p')
there() { # there SCRIPT
    env $choices -u TMPDIR -u PYTHONPATH PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
        DEBIAN_FRONTEND=noninteractive root="$root" script="$1" unshare --mount sh -c '
            mount -t proc proc "$root/proc" || mount --rbind /proc "$root/proc" || exit
            exec chroot "$root" sh -c "cd /petal && exec sh -eux $script"' </dev/null
}
if ! unshare --mount true 2>/dev/null; then
    skip 'the blocks, in a new Debian' 'this machine: no file system can be mounted'
    finish
fi
for block in "$TMPDIR"/blocks/*; do
    root=$TMPDIR/one
    rm -rf "$root" && cp -a "$TMPDIR/bare" "$root" && cp "$block" "$root/block"
    ok "$(basename "$block"): works in a new Debian" there /block
done
rm -rf "$TMPDIR/one"
finish
