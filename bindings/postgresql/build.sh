# build.sh - builds the extension with PGXS, and installs it in a copy of the server's programs.
# Source this file at the top of the tree, after tests/docs/lib/postgres.sh.
postgresql_config=$postgres_bin/pg_config
postgresql_pgxs=$("$postgresql_config" --pgxs 2>/dev/null)
# The server's package has PGXS, but not the headers.
postgresql_header=$("$postgresql_config" --includedir-server 2>/dev/null)/postgres.h

# postgresql_build FOLDER [OPTION...]: writes the sources into FOLDER and builds them. It compiles
# only files that have changed since the last run. Tests that share a folder take turns.
postgresql_build() {
    built=$1
    shift
    rm -rf "$TMPDIR/source" && bindings/postgresql/source "$TMPDIR/source" || return 1
    mkdir -p "$built"
    exec 8>"$built.lock"
    ! command -v flock >/dev/null || flock 8
    (cd "$TMPDIR/source" && find . -type f) | sort >"$TMPDIR/files"
    while read -r file; do
        cmp -s "$TMPDIR/source/$file" "$built/$file" && continue
        case $file in *.c | *.sql) ;; *) find "$built" -name '*.o' -exec rm {} + ;; esac
        mkdir -p "$(dirname "$built/$file")" && cp "$TMPDIR/source/$file" "$built/$file"
    done <"$TMPDIR/files"
    (cd "$built" && find . -name '*.[ch]' -o -name '*.sql' -o -name '*.inc') | sort |
        comm -13 "$TMPDIR/files" - | while read -r file; do rm "$built/$file" "$built/${file%.c}.o"; done
    make -C "$built" -j "$(nproc)" "PG_CONFIG=$postgresql_config" "$@" \
        >"$TMPDIR/make.log" 2>&1
    made=$?
    exec 8>&-
    [ "$made" -eq 0 ] || { cat "$TMPDIR/make.log"; return 1; }
    ! grep 'warning:' "$TMPDIR/make.log"
}
postgresql_install() { # postgresql_install FOLDER COPY: installs the extension in a copy of the
                       # server's programs
    make -C "$1" install "PG_CONFIG=$postgresql_config" "DESTDIR=$2"
}
