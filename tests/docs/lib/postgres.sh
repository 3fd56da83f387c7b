# postgres.sh - starts a PostgreSQL server that listens on a socket in its own folder. This script
# must be sourced, not run.
#
# Debian installs the programs in a versioned folder that is not in PATH. The server refuses to run
# as root, so root starts it as the user postgres.
postgres_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
postgres_as=
[ "$(id -u)" -ne 0 ] || postgres_as='setpriv --reuid postgres --regid postgres --clear-groups'

# postgres_copy FOLDER: copies the server's programs to FOLDER and uses the copy from then on. Since
# a server finds extensions relative to its program file, `make install DESTDIR=FOLDER` can then
# install an extension without changing the system's server.
postgres_copy() {
    postgres_version=${postgres_bin%/bin} postgres_version=${postgres_version##*/}
    for postgres_part in /usr/lib/postgresql /usr/share/postgresql; do
        mkdir -p "$1$postgres_part" &&
            cp -rs "$postgres_part/$postgres_version" "$1$postgres_part" || return 1
    done
    cp --remove-destination "$postgres_bin"/* "$1$postgres_bin" && chmod 755 "$1" || return 1
    postgres_bin=$1$postgres_bin
}

# postgres_start FOLDER [OPTION...]: creates FOLDER for the socket and the data, and starts a server
# with the superuser petal. Sets PGHOST, PGUSER, PGDATABASE and PATH.
postgres_start() {
    PGHOST=$1 PGUSER=petal PGDATABASE=postgres PATH=$postgres_bin:$PATH
    export PGHOST PGUSER PGDATABASE
    shift
    mkdir "$PGHOST" || return 1
    if [ -n "$postgres_as" ]; then chmod 711 "$TMPDIR" && chown postgres "$PGHOST"; fi || return 1
    (cd "$PGHOST" && $postgres_as initdb -D data -U petal -A trust -E UTF8 --locale=C --no-sync) &&
        postgres_up "$PGHOST" "$@"
}

# postgres_up FOLDER [OPTION...]: starts or restarts the server whose data is in FOLDER
postgres_up() (
    cd "$1" || exit
    shift
    # shellcheck disable=SC2086 # a command, or nothing
    $postgres_as "$postgres_bin/pg_ctl" -D data -l log -w -t 300 \
        -o "-k $PWD -c listen_addresses='' -c fsync=off $*" start
)

postgres_stop() { # postgres_stop FOLDER [MODE]: stops the server, if it is running
    [ ! -e "$1/data/postmaster.pid" ] ||
        (cd "$1" && $postgres_as "$postgres_bin/pg_ctl" -D data -w -m "${2:-immediate}" stop)
}
