"""Tests every vector: other libraries' files and Petal's own give the expected answers, as files
and as blobs, for each SQL type. Broken files are refused with the core's messages."""

import json
import subprocess

from sql import VECTORS, column, connect, error_of, one, rows, table, typed_keys

# ---- files of other libraries ----


def read_script(path):
    """Yields (format, file, [(key, whether it is present)]) for each file of a vectors.txt."""
    format, file, asked = None, None, []
    for verb, *words in rows(path.relative_to(VECTORS)):
        if verb in ("format", "file"):
            if file:
                yield format, file, asked
            asked = []
        if verb == "format":
            format, file = words[0], None
        elif verb == "file":
            file = path.parent / words[0]
        elif verb in ("in", "out"):
            asked.append((b"" if words[0] == "-" else bytes.fromhex(words[0]), verb == "in"))
        elif verb in ("ins", "outs"):
            text = "" if words[0] == "-" else words[0]
            for i in range(int(words[1]), int(words[2]) + 1):
                asked.append((f"{text}{i}".encode(), verb == "ins"))
    yield format, file, asked


def test_files_of_other_libraries_answer_by_name_and_as_blobs():
    base, files, answers, guessed = connect(), 0, 0, 0
    for script in sorted(VECTORS.glob("*/vectors.txt")):
        for format, file, asked in read_script(script):
            keys = [(same, found) for key, found in asked for same in typed_keys(key)]
            table(base, [key for key, _ in keys])
            expected = [int(found) for _, found in keys]
            query = "select petal_contains(?1, k, ?2) from keys order by rowid"
            for filter in (str(file), file.read_bytes()):
                assert column(base, query, filter, format) == expected, file
            files += 1
            answers += len(keys)
            info = json.loads(one(base, "select petal_info(?, ?)", str(file), format))
            assert info["format"] == format, file
            try:
                auto = column(base, query.replace(", ?2", ""), str(file))
            except Exception as error:
                assert "could be any of" in str(error) or "known format" in str(error), error
            else:
                guessed += auto == expected
    print(f"# counted: SQLite: {answers} keys of {files} files asked, by name and as blobs;", end=" ")
    print(f"{guessed} files open without the name of their format")
    assert files >= 190 and answers >= 40000 and guessed >= 100, (files, answers, guessed)


# ---- Petal's own ----


def test_golden_files_answer_and_describe_themselves_as_the_tool_says():
    base, keyed, compared = connect(), 0, 0
    files = sorted(VECTORS.glob("petal/*.petal")) + sorted(VECTORS.glob("static/*.petal"))
    texts = [f"key-{i}" for i in range(1000)]
    table(base, texts)
    assert len(files) >= 30
    for file in files:
        tool = subprocess.run(["petal", "info", "--json", file], capture_output=True, text=True)
        if tool.returncode:
            assert "secret needed" in error_of(base, "select petal_info(?)", str(file)), file
            keyed += 1
            continue
        expected = json.loads(tool.stdout)
        if expected["keyed"]:
            assert "secret needed" in error_of(base, "select petal_info(?)", str(file)), file
            keyed += 1
            continue
        for filter in (str(file), file.read_bytes()):
            info = json.loads(one(base, "select petal_info(?)", filter))
            assert info == {name: expected[name] for name in info}, file
            assert len(info) >= 25
        # The tool queries a time window at the current time, SQL at the file's clock.
        if expected["key_type"] not in (None, "text") or expected["policy"] == "last time":
            continue
        ask = ["petal", "check", "-n", "--key-type", "text", file]
        ran = subprocess.run(ask, input="\n".join(texts), capture_output=True, text=True)
        assert ran.returncode in (0, 1), ran.stderr
        found = {int(line.split(":")[0]) - 1 for line in ran.stdout.splitlines()}
        for filter in (str(file), file.read_bytes()):
            answers = column(base, "select petal_contains(?, k) from keys order by rowid", filter)
            assert answers == [int(i in found) for i in range(1000)], file
        compared += 1
    assert keyed >= 4 and compared >= 20, (keyed, compared)


def test_rejected_files_are_errors_that_name_the_status():
    base, count = connect(), 0
    for name, *words in rows("reject/expected.txt"):
        file, status = VECTORS / f"reject/{name}.petal", " ".join(words)
        for query in ("select petal_contains(?, 'k', 'petal')", "select petal_info(?, 'petal')"):
            for filter in (str(file), file.read_bytes()):
                assert f"{status}: " in error_of(base, query, filter), (file, query)
        error_of(base, "select petal_merge(f, 'petal') from (select ? f)", file.read_bytes())
        count += 1
    assert count >= 50


def test_files_cut_anywhere_and_bytes_changed_anywhere_end_no_process():
    base, refused = connect(), 0
    for file in ["petal/blocked.petal", "petal/growing.petal", "static/texts.petal"]:
        path = VECTORS / file
        if not path.exists():
            path = sorted(VECTORS.glob("static/*.petal"))[0]
        whole = path.read_bytes()
        pieces = [whole[:size] for size in range(0, len(whole), len(whole) // 97 + 1)]
        for i in range(0, len(whole), len(whole) // 97 + 1):
            pieces.append(whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1 :])
        for piece in pieces:
            for query in (
                "select petal_contains(?, 'key-1')",
                "select petal_info(?)",
                "select petal_merge(f) from (select ? f)",
            ):
                try:
                    base.execute(query, (piece,)).fetchall()
                except Exception as error:
                    refused += str(error).startswith("petal: ")
    assert refused >= 900, refused
