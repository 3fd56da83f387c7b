# net.sh - for tests and benches: compiles with the package and runs on .NET 8 or Mono. Sourced,
# from the top of the repository, after tests/interop/lib/packages.sh.
net_version=$(sed -n 's|.*<version>\(.*\)</version>.*|\1|p' bindings/dotnet/PetalBloom.nuspec)

# Provides .NET 8 as $net_dotnet. Returns false after a skip.
net_runtime() {
    net_folder=net-$(built_of bindings/dotnet/needs)
    net_dotnet=$interop/$net_folder/dnv/net/runtime/.net/dotnet
    may_install "$net_folder" '.NET 8' bindings/dotnet || return
    install "$net_folder" 'what bindings/dotnet/needs lists' net_install
}
net_install() {
    python3 -m pip install --disable-pip-version-check --no-deps --target . -r "$top/bindings/dotnet/needs" &&
        chmod +x dnv/net/runtime/.net/dotnet
}

net_compile() { # net_compile PACKAGE PROGRAM.exe SOURCE...
    net_package=$1 net_program=$2
    shift 2
    mcs -langversion:7.2 -optimize+ -warn:4 -warnaserror+ -r:System.Core.dll \
        "-r:$net_package/lib/netstandard2.0/Petal.dll" "-out:$net_program" "$@"
}

# For Mono, which finds the libraries in the program's folder.
net_mono_project() { # net_mono_project PACKAGE FOLDER
    cp "$1/lib/netstandard2.0/Petal.dll" "$1/runtimes/linux-x64/native/libpetal.so" "$2"
}

# For .NET 8: writes the files that the SDK would write for a program that references the package.
# The package stays where NuGet has unpacked it.
net_project() { # net_project PROGRAM.exe [RID LIBRARY]
    net_rid=${2-linux-x64}
    net_name=$(basename "$1" .exe)
    cat >"${1%.exe}.runtimeconfig.json" <<END
{ "runtimeOptions": { "tfm": "net8.0",
    "framework": { "name": "Microsoft.NETCore.App", "version": "8.0.0" },
    "configProperties": { "System.Globalization.Invariant": true } } }
END
    cat >"${1%.exe}.deps.json" <<END
{ "runtimeTarget": { "name": ".NETCoreApp,Version=v8.0" },
  "targets": { ".NETCoreApp,Version=v8.0": {
    "$net_name/1.0.0": {
      "dependencies": { "PetalBloom": "$net_version" }, "runtime": { "$net_name.exe": {} } },
    "PetalBloom/$net_version": {
      "runtime": { "lib/netstandard2.0/Petal.dll": {} },
      "runtimeTargets": { "runtimes/$net_rid/native/${3-libpetal.so}":
        { "rid": "$net_rid", "assetType": "native" } } } } },
  "libraries": {
    "$net_name/1.0.0": { "type": "project", "serviceable": false, "sha512": "" },
    "PetalBloom/$net_version": { "type": "package", "serviceable": true, "sha512": "",
      "path": "petalbloom/$net_version" } } }
END
}
net_run() { # net_run PACKAGES PROGRAM.exe ARGUMENT...
    net_packages=$1
    shift
    "$net_dotnet" exec --additionalprobingpath "$net_packages" "$@"
}
