# docs.awk - turns the ```java blocks of a document into one program, Docs. In a line `EXPRESSION;
# // => X`, the expression's value must be X. Comments below a loop contain its expected output.
BEGIN {
    print "import java.nio.file.Path; import java.util.*; import java.util.stream.*; import petal.*;"
    print "final class Docs {"
    print "    public static void main(String[] unused) throws Exception {"
}
/^```/ {
    if (inside) print "        }"
    inside = /^```java$/
    if (inside) { blocks++; print "        {" }
    next
}
!inside { next }
/\/\/ => / {
    value = $0
    sub(/.*\/\/ => /, "", value)
    sub(/; *\/\/ => .*/, "")
    gsub(/"/, "\\\"", value)
    checks++
    print "            Tap.same(String.valueOf(" $0 "), \"" value "\", \"line " FNR "\");"
    next
}
/^\/\/ / { expected = expected substr($0, 4) "\n"; next }
{ print "            " $0 }
END {
    print "        System.out.println(\"" checks " values in " blocks " blocks\");"
    print "    }"
    print "}"
    printf "%s", expected >printed
}
