# go.sh - checks the module in the form in which a proxy serves it: the go command verifies the zip
# like any download, and builds a program with the module. Sourced by scripts/release, not run.

module=$(identity go_module)
go_here() { # uses a new module cache
    GOPROXY=$1 GOFLAGS='-mod=mod -modcacherw' GOMODCACHE=$work/go/cache GOCACHE=$work/go/build \
        GONOSUMDB=$module GONOSUMCHECK=1 GOWORK=off GOTOOLCHAIN=local
    export GOPROXY GOFLAGS GOMODCACHE GOCACHE GONOSUMDB GONOSUMCHECK GOWORK GOTOOLCHAIN
    shift
    (cd "$work/go/program" && go "$@")
}
serves_module() {
    served=$work/go/proxy/$module/@v
    mkdir -p "$served" "$work/go/program" && cp "$packages/$1" "$served/v$version.zip" &&
        cp bindings/go/go.mod "$served/v$version.mod" && echo "v$version" >"$served/list" &&
        printf '{ "Version": "v%s", "Time": "%s" }\n' "$version" \
            "$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" >"$served/v$version.info" &&
        cp examples/ten-lines/ten.go "$work/go/program" &&
        printf 'module program\n\ngo 1.19\n' >"$work/go/program/go.mod" &&
        (go_here "file://$work/go/proxy,off" mod download -json "$module@v$version")
}
go_proxies=$(go env GOPROXY 2>/dev/null)
needs_others() { (go_here "file://$work/go/proxy,$go_proxies" get "$module@v$version"); }
builds_program() {
    (go_here "file://$work/go/proxy,off" build -o ten .) &&
        (cd "$work/go/program" && ./ten) | tee /dev/stderr | tr '\n' ' ' | grep -qx 'false .*true .*'
}
for file in $(made 'petal-go-*.zip'); do
    checked "$file" 'go mod download' serves_module "$file"
    if needs_others >"$work/logs/go.log" 2>&1 </dev/null; then
        checked "$file" 'go build, runs' builds_program
    elif grep -qiE "dial tcp|no such host|timeout|403|502|503" "$work/logs/go.log"; then
        skip "$file: go build" 'unreachable: the modules it needs'
    else
        ok "$file: go get" sh -c "cat '$work/logs/go.log'; false"
    fi
done
