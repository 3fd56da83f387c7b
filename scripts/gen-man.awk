# gen-man.awk - converts one header to a part of petal.3 (mdoc). gen-man calls it with -v
# header=NAME.
#
# It assumes the following about a header. The opening comment describes it. A comment that begins
# with dashes is a section title, and the text after the title is an introduction. Any other comment
# at the beginning of a line belongs to the declarations after it, up to an empty line. Indented
# lines in a comment, such as tables of failures, are kept as they are. The script skips everything
# before the first section of petal.h (guards, macros for compilers), and petal_inline.h from its
# first section on, which is code.

# Escapes text for roff.
function escaped(s) {
    gsub(/\\/, "\\e", s)
    if (s ~ /^[.']/) s = "\\&" s
    return s
}
function fill(s,    line, n, i, word) {
    n = split(s, word, " ")
    line = ""
    for (i = 1; i <= n; i++) {
        if (line != "" && length(line) + length(word[i]) > 77) { print escaped(line); line = "" }
        line = line (line == "" ? "" : " ") word[i]
        # Each sentence must end its line, because roff would otherwise print only one blank after
        # the sentence.
        if (word[i] ~ /[A-Za-z0-9_)`"*][.?]$/) { print escaped(line); line = "" }
    }
    if (line != "") print escaped(line)
}
function set_as_it_is(s) {
    print ".Bd -literal"
    sub(/\n+$/, "", s)
    print s
    print ".Ed"
}

# Prints a comment, given as lines joined by "\n" without the stars, as paragraphs and literal
# parts.
function prose(s, after_heading,    n, i, line, text, shown, first) {
    n = split(s, line, "\n")
    text = shown = ""
    first = after_heading
    for (i = 1; i <= n + 1; i++) {
        literal = i <= n && line[i] ~ /^  /
        if (text != "" && (i > n || literal || line[i] == "" || line[i] ~ /^Cost:/)) {
            if (!first) print ".Pp"
            fill(text)
            text = ""; first = 0
        }
        if (shown != "" && !literal && (i > n || line[i] != "")) {
            set_as_it_is(shown)
            shown = ""; first = 0
        }
        if (i > n) break
        if (literal) shown = shown escaped(substr(line[i], 3)) "\n"
        else if (line[i] == "" && shown != "") shown = shown "\n"
        else text = text (text == "" ? "" : " ") line[i]
    }
}

# Returns the name that a declaration declares.
function names_of(declaration,    names, n, i, line, name) {
    names = ""
    n = split(declaration, line, "\n")
    for (i = 1; i <= n; i++) {
        name = ""
        if (line[i] ~ /^PETAL_[A-Z]+ .*petal_[a-z0-9_]*\(/ || line[i] ~ /^ +petal_[a-z0-9_]*\(/) {
            name = line[i]
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
        } else if (line[i] ~ /^typedef [^;{]*\(\*petal_/) {
            name = line[i]
            sub(/.*\(\*/, "", name)
            sub(/\).*/, "", name)
        } else if (line[i] ~ /^typedef struct petal_[a-z_]* (\{|petal)/) {
            name = line[i]
            sub(/^typedef struct /, "", name)
            sub(/ .*/, "", name)
        } else if (line[i] ~ /^typedef .*;$/) {
            name = line[i]
            sub(/;$/, "", name)
            sub(/.*[ *]/, "", name)
        } else if (line[i] ~ /^#define PETAL_[A-Z0-9_]+ / && line[i] !~ /_INIT /) {
            name = line[i]
            sub(/^#define /, "", name)
            sub(/[ (].*/, "", name)
        } else if (line[i] ~ /^ +PETAL_[A-Z0-9_]+ = 0/) {
            name = line[i]
            gsub(/^ +| =.*/, "", name)
            sub(/_[A-Z0-9]*$/, "_", name)
        }
        if (name != "" && index(" " names ",", " " name ",") == 0)
            names = names (names == "" ? "" : ", ") name
    }
    return names
}

# Prints a declaration without the words that only compilers need, and realigns its other lines.
function show(declaration,    n, i, line, before, shift) {
    n = split(declaration, line, "\n")
    for (i = 1; i < n; i++) {
        before = length(line[i])
        if (gsub(/PETAL_NODISCARD |PETAL_API /, "", line[i])) shift = before - length(line[i])
        else if (substr(line[i], 1, shift) ~ /^ +$/) line[i] = substr(line[i], shift + 1)
        print escaped(line[i])
    }
}

function flush_group(    names, last) {
    if (declaration != "" && begun) {
        names = names_of(declaration)
        if (length(names) > 100) { # a group of macros
            last = names
            sub(/.*, /, "", last)
            sub(/,.*/, " ... " last, names)
        }
        print ".Ss " (names == "" ? "(more)" : names)
        print ".Bd -literal"
        show(declaration)
        print ".Ed"
        if (comment != "") prose(comment, 0)
    }
    comment = declaration = ""
}

# Reads a comment of one or more lines.
function read_comment(    s, line) {
    s = $0
    while (s !~ /\*\/ *$/ && (getline line) > 0) s = s "\n" line
    sub(/^\/\* ?/, "", s)
    sub(/ *\*\/ *$/, "", s)
    gsub(/\n \*$/, "\n", s)
    gsub(/\n \* ?/, "\n", s)
    return s
}

FNR == 1 {
    opening = read_comment()
    title = opening
    sub(/\n\n.*/, "", title)
    sub(/^petal[a-z_]*\.h - /, "", title)
    gsub(/\n/, " ", title)
    rest = opening
    if (!sub(/^[^\n]*(\n[^\n]+)*\n\n/, "", rest)) rest = ""
    if (header == "petal.h") {
        print ".Sh NAME\n.Nm petal\n.Nd the C library"
        print ".Sh SYNOPSIS\n.In petal/petal.h\n.In petal/petal_build.h\n.In petal/petal_index.h\n.In petal/petal_host.h\n.In petal/petal_parquet.h\n.In petal/petal_inline.h"
        print ".Pp\nLink with\n.Fl lpetal ,\nor use\n.Ql pkg-config --cflags --libs petal ."
        print ".Sh DESCRIPTION"
        prose(toupper(substr(title, 1, 1)) substr(title, 2) "\n\n" rest, 1)
    } else {
        print ".Sh " toupper(header)
        prose(toupper(substr(title, 1, 1)) substr(title, 2) "\n\n" rest, 1)
        begun = 0
    }
    next
}
/^\/\* ----/ {
    flush_group()
    if (header == "petal_inline.h") exit
    section = read_comment()
    introduction = section
    if (!sub(/^[^\n]*\n+/, "", introduction)) introduction = ""
    sub(/\n.*/, "", section)
    sub(/^-+ /, "", section)
    sub(/ -+$/, "", section)
    print ".Sh " toupper(section)
    if (introduction != "") prose(introduction, 1)
    begun = 1
    next
}
/^\/\*/ && declaration == "" {
    # The first of two consecutive comments describes all following declarations.
    if (comment != "" && begun) { print ".Pp"; prose(comment, 1) }
    comment = read_comment()
    next
}
/^#(if|ifdef|ifndef|endif|include|else|elif)/ || /^extern "C"/ || /^}$/ { flush_group(); next }
/^#define PETAL_([A-Z]+_)?H$/ { comment = ""; if (header != "petal.h") begun = 1; next }
/^$/ {
    # Only outside braces.
    opened = gsub(/\{/, "{", declaration)
    if (declaration != "" && opened == gsub(/\}/, "}", declaration)) flush_group()
    next
}
{ declaration = declaration $0 "\n" }
END { if (header != "petal_inline.h") flush_group() }
