# csharp.sh - queries the keys with the C# package under Mono; see hosts.sh.
name='C#'
prepare() {
    needs mcs mono || return 1
    pipeline csharp "$1" &&
        mcs -langversion:7.2 "-r:$1/Petal.dll" "-out:$1/Hosts.exe" "$hosts/Hosts.cs"
}
ask() { mono "$here/Hosts.exe" "$@"; }
