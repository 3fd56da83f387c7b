"""headers.py - reads Petal's C headers, for bindings/rust/declare and bindings/lua/declare. It
parses only the subset of C that these headers use, and fails on anything else."""
import re
import sys

CALL = r"^(?:PETAL_NODISCARD )?PETAL_API ([\w ]+?) ?(\**)(petal_\w+)\(([^)]*)\);"


def read(path):
    """Returns the text of a header without its comments."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
    return re.sub(r"[ \t]+$", "", text, flags=re.M)


def defines(text):
    """Returns (name, value) for each preprocessor constant that is a number."""
    return re.findall(r"^#define (PETAL_\w+) (0x[0-9a-fA-F]+|\d+)u?$", text, re.M)


def enumerators(text):
    for body in re.findall(r"^enum \{(.*?)\};", text, re.M | re.S):
        yield from re.findall(r"(PETAL_\w+) = (-?\d+)", body)


def opaque(text):
    return [alias for _, alias in re.findall(r"^typedef struct (\w+) (\w+);", text, re.M)]


def structs(text):
    """Yields (name, fields) for each struct. A field is one declaration, such as `uint8_t
    key[4]`."""
    for body, name in re.findall(r"^typedef struct \w+ \{(.*?)^\} (\w+);", text, re.M | re.S):
        yield name, list(fields(body))


def fields(body):
    for line in filter(None, (" ".join(one.split()) for one in body.split(";"))):
        if "(*" in line:
            yield line
            continue
        first, *others = line.split(", ")
        before = re.match(r"(.*?[* ]+)\w+(\[\d+\])?$", first).group(1)
        yield first
        yield from (before + other for other in others)


def field_name(field):
    found = re.search(r"\(\*(\w+)\)|(\w+)(?:\[\d+\])?$", field)
    return found.group(1) or found.group(2)


def callbacks(text):
    """Returns (result, stars, name, arguments) for each callback type."""
    return re.findall(r"^typedef (\w[\w ]*?) (\**)\(\*(\w+)\)\(([^)]*)\);", text, re.M)


def calls(text):
    """Returns (result, stars, name, arguments) for each function."""
    found = re.findall(CALL, text, re.M)
    if len(found) != len(re.findall(r"^(?:PETAL_NODISCARD )?PETAL_API \w", text, re.M)):
        sys.exit("headers: not every function was understood")
    return found


def facts(constants, structures):
    """Yields (name, C expression, struct, field) for each value that must be the same in two
    compilers."""
    for name in constants:
        yield name, name, None, None
    for name, names in structures.items():
        yield name, f"sizeof({name})", name, None
        for field in names:
            yield f"{name}, {field}", f"offsetof({name}, {field})", name, field


def c_program(listed, includes):
    """Yields the lines of a C program that prints each of these values on its own line."""
    yield "#include <inttypes.h>\n#include <stddef.h>\n#include <stdio.h>"
    yield from (f"#include <{name}>" for name in includes)
    yield "int main(void)\n{"
    for name, expression, _, _ in listed:
        yield f'    printf("{name} %" PRId64 "\\n", (int64_t){expression});'
    yield "}"
