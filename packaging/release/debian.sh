# debian.sh - runs lintian, and installs every Debian package in a minimal Debian, where each
# package must work. Sourced by scripts/release, not run. Leaves the new Debian in $bare for
# containers.sh.

. tests/packages/lib/root.sh
lints() {
    lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs "$packages/$1"
}
for file in $(made '*.deb'); do checked "$file" 'lintian' lints "$file"; done

bare=
installs_debs() {
    inside apt-get -o APT::Sandbox::User=root update &&
        inside apt-get -o APT::Sandbox::User=root install -y --no-install-recommends \
            $(made '*.deb' | sed 's|^|/|') gcc libc6-dev pkg-config sqlite3 redis-server
}
does_job() {
    gzip -dc examples/data/urls.txt.gz >"$root/urls" && inside petal build -p 1% -o /u.petal /urls &&
        [ "$(inside petal check -c /u.petal /urls)" = "$(wc -l <"$root/urls" | tr -d ' ')" ]
}
develops() {
    cp examples/ten-lines/ten.c "$root/ten.c" &&
        inside sh -c 'cc /ten.c $(pkg-config --cflags --libs petal) -o /ten && cd /tmp && /ten' |
        tee /dev/stderr | tr '\n' ' ' | grep -qx 'false true '
}
verified() { inside dpkg --verify "${1%%_*}"; }
# serves COMMAND...: succeeds if the server starts with the module, and the module adds and finds a
# key.
serves() {
    cat >"$root/serves" <<'EOF'
"$@" --port 0 --unixsocket /tmp/socket --save '' --dir /tmp >/tmp/log 2>&1 &
tries=0
until redis-cli -s /tmp/socket PING 2>/dev/null | grep -q PONG; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { cat /tmp/log; exit 1; }
    sleep 0.1
done
added=$(redis-cli -s /tmp/socket BF.ADD filter key)
found=$(redis-cli -s /tmp/socket BF.EXISTS filter key)
redis-cli -s /tmp/socket SHUTDOWN NOSAVE
wait
[ "$added $found" = '1 1' ]
EOF
    inside sh /serves "$@"
}
queries() { # queries the filter from does_job with the extension
    tar -xzf "$packages/$1" -C "$root/tmp" --strip-components=1 &&
        inside sqlite3 -cmd ".load /tmp/$(dpkg --print-architecture)/petal" :memory: \
            "select petal_contains('/u.petal', '$(head -n 1 "$root/urls")')" | tee /dev/stderr | grep -qx 1
}

root=$work/debian
if [ -n "$(made '*.deb')" ] && bare_debian "$root"; then
    ways
    bare=$work/bare
    cp -a "$root" "$bare"
    cp "$packages"/*.deb "$root/"
    if installs_debs >"$work/logs/debian.log" 2>&1; then
        for file in $(made '*.deb'); do checked "$file" 'installs in a new Debian' verified "$file"; done
        checked "$(made 'petal_*.deb')" 'does the main job' does_job
        checked "$(made 'libpetal-dev_*.deb')" 'a program compiles' develops
        checked "$(made 'redis-petal_*.deb')" 'a server loads it' serves redis-server \
            --loadmodule /usr/lib/redis/modules/petal.so
        for file in $(made 'petal-sqlite-*.tar.gz'); do checked "$file" "Debian's SQLite loads it" queries "$file"; done
    else
        ok 'the Debian packages install' log_of_failure "$work/logs/debian.log"
    fi
fi
