# go.sh - the Go module; see hosts.sh.
name=Go
prepare() {
    needs go || return 1
    pipeline go "$1" && mkdir "$1/src/hosts" && cp "$hosts/main.go" "$1/src/hosts" &&
        (cd "$1/src" && go_pipeline_offline && go build -o "$1/hosts" ./hosts)
}
ask() { "$here/hosts" "$@"; }
