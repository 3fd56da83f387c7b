#!/bin/sh
# Tests the module in an empty project, which downloads it from a file-based proxy. The tests use
# every test vector and misuse every call, with cgo, with the race detector and as WebAssembly. The
# examples and the code in the documents are also run.
#
# ./dev test --all and ./dev test bindings/go install the dependencies (bindings/go/needs) in
# build/interop. Without them, this test is skipped.
set -u
. tests/install/lib/tap.sh
. bindings/binary.sh
. tests/interop/lib/packages.sh
here=$PWD/bindings/go
work=$PWD/build/bindings/go
mkdir -p "$work"

# ---- what it needs -------------------------------------------------------------------------------

needs go cc clang wasm-ld wasi ldd || finish
GOTOOLCHAIN=local GOWORK=off GOSUMDB=off GOCACHE=$PWD/build/go-cache
GOFLAGS='-mod=mod -modcacherw -buildvcs=false'
export GOTOOLCHAIN GOWORK GOCACHE GOFLAGS
modules=go-$(built_of "$here/needs")-$(go env GOVERSION)
may_install "$modules" go bindings/go || finish
get_modules() {
    export GOMODCACHE="$PWD/mod" && cp "$here/go.sum" . && go mod init needs &&
        go get $(cat "$here/needs") && go mod download all
}
install "$modules" 'what bindings/go/needs lists' get_modules || finish

# ---- the module, in a project of its own ---------------------------------------------------------

# The paths are always the same, so that the compiler's cache stays valid.
exec 8>"$work/lock"
! command -v flock >/dev/null || flock 8
rm -rf "$work/module" "$work/proxy" "$work/project" "$work"/mod-* "$work/native" "$work/race" \
    "$work/wasm" "$work/dedupe"
GOPROXY=file://$work/proxy,file://$interop/$modules/mod/cache/download
export GOPROXY GOSUMDB
module=$(sed -n 's/^module //p' "$here/go.mod")
version=$(petal --version | awk '{ print "v" $2; exit }')

formatted() { unformatted=$(gofmt -l "$here" bench/go examples/pipeline/go) && [ -z "$unformatted" ]; }
project() {
    mkdir "$work/project" && cp "$here"/test/*_test.go "$work/project" &&
        go run "$here/test/documents.go" "$here/README.md" docs/go.md \
            >"$work/project/documents_test.go" &&
        cd "$work/project" &&
        cp -R "$here/example" . && go mod init project &&
        go get "$module@$version" $(cat "$here/needs")
}
in_project() { (cd "$work/project" && "$@"); }
ok 'the module is made' "$here/module" "$work/module"
# Go assumes that a folder in this cache never changes, so a changed module needs a new folder.
GOMODCACHE=$work/mod-$(find "$work/module" -type f | sort | xargs cat | cksum | cut -d' ' -f1)
export GOMODCACHE
ok 'it is served from files' go run "$here/test/proxy.go" "$work/module" "$work/proxy"
ok 'an empty project gets it' eval '(project)'
GOPROXY=off # from here on
ok 'go vet finds nothing, with cgo' in_project go vet ./... "$module/..."
ok 'nor with the tag petal_wasm' in_project go vet -tags petal_wasm . "$module"
ok 'the Go files are formatted' formatted

# Runs the tests of program $1 and prints them as lines of this test, with $2 as their name. The
# tests run in a separate folder, since the documents' examples write files.
mkdir "$TMPDIR/run" && ln -s "$PWD/vectors" "$PWD/dev" "$TMPDIR/run"
relay_go() {
    (cd "$TMPDIR/run" && "$1" -test.v -test.timeout 20m) >"$TMPDIR/relayed" 2>&1
    status=$?
    awk '/^=== RUN/ { next }
         /^--- / { printf "%s %s\n%s.\n", $2, $3, said; said = ""; next }
         { said = said "# " $0 "\n" }
         END { printf "END\n%s.\n", said }' "$TMPDIR/relayed" >"$TMPDIR/lines"
    while read -r result name; do
        said=$(while IFS= read -r line && [ "$line" != . ]; do printf '%s\n' "$line"; done; echo .)
        said=${said%.}
        case $result in
        PASS:)
            tap_count=$((tap_count + 1)) && echo "ok $tap_count - $name ($2)"
            printf '%s' "$said" | grep '^# counted: '
            ;;
        SKIP:) skip "$name ($2)" "$(printf '%s' "$said" | tr -d '\n')" ;;
        END) [ "$status" -eq 0 ] || fails "every test of $2 ends well" ;;
        *) fails "$name ($2)" ;;
        esac
    done <"$TMPDIR/lines"
}
fails() {
    tap_count=$((tap_count + 1)) tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    printf '%s' "$said"
}

# ---- cgo -----------------------------------------------------------------------------------------

depends_on() { # depends_on MODULE...: checks that the program in example/dedupe requires only these
               # modules
    [ "$(in_project go list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./example/dedupe | sort -u |
        tr '\n' ' ')" = "$* project " ]
}
PETAL_GO_DEDUPE=$work/dedupe
export PETAL_GO_DEDUPE
ok 'the examples are built, with cgo' in_project go build -o "$work/" ./example/dedupe
ok 'the tests are built, with cgo' in_project go test -c -o "$work/native" .
relay_go "$work/native" cgo
ok 'they need only the C library' \
    links_only "$work/native" libc libm libpthread libresolv
ok 'a program with cgo needs only this module' depends_on "$module"

if nightly 'with the race detector'; then
    ok 'the tests are built with the race detector' in_project go test -race -c -o "$work/race" .
    unset CGO_CFLAGS
    relay_go "$work/race" race
fi

# ---- WebAssembly ---------------------------------------------------------------------------------

export CGO_ENABLED=0
static() { [ -x "$1" ] && ! ldd "$1"; }
ok 'the examples are built without cgo' in_project go build -o "$work/" ./example/dedupe
ok 'the tests are built without cgo' in_project go test -c -o "$work/wasm" .
relay_go "$work/wasm" WebAssembly
ok 'they need no library' static "$work/wasm"
ok 'a program without cgo also needs wazero' depends_on github.com/tetratelabs/wazero "$module"
finish
