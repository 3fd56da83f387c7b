#!/bin/sh
# debian.sh - the Debian packages pass lintian, install on a minimal system, and build and query a
# filter there without a compiler. If the system has a compiler, a program builds with libpetal-dev.
# The static tool works even in an otherwise empty root folder.
set -u
. tests/packages/lib/packages.sh
. tests/packages/lib/root.sh
needs lintian debootstrap dh || finish

architecture=$(dpkg --print-architecture)
tool=petal_$version-1_$architecture.deb
library=libpetal${version%.*}_$version-1_$architecture.deb
development=libpetal-dev_$version-1_$architecture.deb
there() { ls "$packages/$tool" "$packages/$library" "$packages/$development"; }
lints() {
    lintian --allow-root --fail-on error,warning \
        --suppress-tags initial-upload-closes-no-bugs "$packages"/*_"$architecture".deb
}
ok 'the three packages exist' there
ok 'lintian finds no errors or warnings' lints

gzip -dc examples/data/urls.txt.gz >"$TMPDIR/urls"
head -n 1000 "$TMPDIR/urls" >"$TMPDIR/some"
sed 's/^/x/' "$TMPDIR/urls" >"$TMPDIR/others"
[ "$(id -u)" -eq 0 ] || { skip 'installed in a new root' 'this machine: needs root'; finish; }

# furnish copies the input files to $root. job COMMAND builds a filter, and checks that all keys and
# few other keys are found.
furnish() { cp "$TMPDIR/urls" "$TMPDIR/some" "$TMPDIR/others" "$root/"; }
job() {
    inside "$1" build -p 1% -o /u.petal /urls &&
        [ "$(inside "$1" check -c /u.petal /urls)" = "$(wc -l <"$TMPDIR/urls" | tr -d ' ')" ] &&
        [ "$(inside "$1" check -c /u.petal /others)" -lt 1200 ] &&
        inside "$1" seen -f /seen.petal -n 100k /some >"$TMPDIR/new" &&
        ! inside "$1" seen -f /seen.petal /some | grep . &&
        petal build -p 1% --force -o "$TMPDIR/here.petal" "$TMPDIR/urls" &&
        cmp "$root/u.petal" "$TMPDIR/here.petal"
}

# ---- only the static tool ------------------------------------------------------------------------

if [ -e "$packages/petal-$version-linux-x86_64.tar.gz" ] && [ "$(uname -m)" = x86_64 ]; then
    root=$TMPDIR/empty
    mkdir "$root"
    unpacked linux-x86_64
    cp "$unpacked/bin/petal" "$root/petal"
    furnish
    ok 'an empty root: the static tool does the main job' job /petal
else
    skip 'an empty root: the static tool' 'unreachable: no zig to build it, or this machine is no x86-64'
fi

# ---- the smallest Debian -------------------------------------------------------------------------

root=$TMPDIR/root
bare_debian "$root" || finish
furnish
cp "$packages"/*_"$architecture".deb "$root/"
no_compiler() { ! inside sh -c 'ls /usr/bin/*cc /usr/bin/*clang /usr/bin/*tcc 2>/dev/null | grep .'; }
installs() { inside dpkg -i "/$library" "/$tool"; }
ok 'a new Debian has no compiler' no_compiler
ok 'the library and the tool can be installed without any other package' installs
ok 'the tool does the main job' job petal
lists_files() {
    inside test -s /usr/share/man/man1/petal.1.gz &&
        inside test -s /usr/share/bash-completion/completions/petal &&
        inside dpkg --verify petal "libpetal${version%.*}"
}
ok 'the files are the packed ones' lists_files

develops() {
    inside apt-get -o APT::Sandbox::User=root update &&
        inside apt-get -o APT::Sandbox::User=root install -y --no-install-recommends \
            "/$development" gcc libc6-dev pkg-config
}
compiles() {
    cp examples/ten-lines/ten.c "$root/ten.c" &&
        inside sh -c "cc /ten.c $1 -o /ten && cd /tmp && /ten" | tee /dev/stderr | tr '\n' ' ' | grep -qx 'false true '
}
ways # for a compiler
if develops >"$TMPDIR/develops.log" 2>&1; then
    ok 'libpetal-dev: a program with the shared library' compiles '$(pkg-config --cflags --libs petal)'
    ok 'libpetal-dev: a program with the static one' compiles '-static $(pkg-config --static --cflags --libs petal)'
    ok 'libpetal-dev: the manual of the calls' inside test -s /usr/share/man/man3/petal_add.3.gz
else
    ok 'libpetal-dev installs' log_of_failure "$TMPDIR/develops.log"
fi
removes() { inside dpkg --purge libpetal-dev petal "libpetal${version%.*}" && ! inside sh -c 'ls -d /usr/bin/petal /usr/lib/*/libpetal*'; }
ok 'everything is removed again' removes
finish
