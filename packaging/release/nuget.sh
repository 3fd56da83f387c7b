# nuget.sh - checks NuGet's rules, and the assembly's version as loaded by Mono. Sourced by
# scripts/release, not run.

says_assembly() { # runs a one-line program that uses the assembly
    mkdir "$work/net" && python3 -m zipfile -e "$packages/$1" "$work/net" && cd "$work/net" &&
        echo 'class P { static void Main() { System.Console.WriteLine(typeof(Petal.Format).Assembly.GetName().Version); } }' >P.cs &&
        mcs -r:lib/netstandard2.0/Petal.dll -out:P.exe P.cs &&
        cp lib/netstandard2.0/Petal.dll . &&
        mono P.exe | tee /dev/stderr | grep -qxF "$version.0"
}
says_assembly_alone() { (says_assembly "$@"); }
for file in $(made 'PetalBloom.*.nupkg'); do
    checked "$file" "NuGet's rules" python3 packaging/release/nuget-rules "$packages/$file" PetalBloom "$version"
    checked "$file" "the assembly's version" says_assembly_alone "$file"
    skip "$file: dotnet nuget push" 'this machine: Debian has no .NET SDK'
done
