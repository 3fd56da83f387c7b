"""Runs every test vector. Other libraries' files and Petal's own must give the expected answers for
each SQL type, whether they are read as files or as bytes. Broken files must be rejected with the
core's messages."""

from helpers import tool_answers, tool_info
from sql import HOST, answers, attempts, connect, error_of, info, table
from vectors import VECTORS, read_script, rows, typed_keys

# ---- files of other libraries ----


def test_files_of_other_libraries_answer_by_name_and_as_bytes():
    base, files, asked_keys, guessed = connect(), 0, 0, 0
    for script in sorted(VECTORS.glob("*/vectors.txt")):
        for format, file, asked in read_script(script):
            keys = [(same, found) for key, found in asked for same in typed_keys(key)]
            kept = table(base, [key for key, _ in keys])
            expected = [int(keys[i][1]) for i in kept]
            for filter in (str(file), file.read_bytes()):
                assert answers(base, filter, format) == expected, file
            files += 1
            asked_keys += len(kept)
            assert format in (info(base, str(file), format)[name] for name in ("format", "origin"))
            try:
                auto = answers(base, str(file))
            except Exception as error:
                assert "could be any of" in str(error) or "known format" in str(error), error
            else:
                guessed += auto == expected
    print(f"# counted: {HOST}: {asked_keys} keys of {files} files asked, by name and as bytes;",
          end=" ")
    print(f"{guessed} files open without the name of their format")
    assert files >= 190 and asked_keys >= 40000 and guessed >= 100, (files, asked_keys, guessed)


# ---- Petal's own ----


def test_golden_files_answer_and_describe_themselves_as_the_tool_says():
    base, keyed, compared = connect(), 0, 0
    files = sorted(VECTORS.glob("petal/*.petal")) + sorted(VECTORS.glob("static/*.petal"))
    texts = [f"key-{i}" for i in range(1000)]
    table(base, texts)
    assert len(files) >= 30
    for file in files:
        expected = tool_info(file)
        if not expected or expected["keyed"]:
            assert "secret needed" in error_of(base, lambda: info(base, str(file))), file
            keyed += 1
            continue
        for filter in (str(file), file.read_bytes()):
            said = info(base, filter)
            assert said == {name: expected[name] for name in said}, file
            assert len(said) >= 25
        # The tool queries a time window at the current time, whereas SQL uses the clock stored in
        # the file.
        if expected["key_type"] not in (None, "text") or expected["policy"] == "last time":
            continue
        found = tool_answers(file, texts)
        for filter in (str(file), file.read_bytes()):
            assert answers(base, filter) == found, file
        compared += 1
    assert keyed >= 4 and compared >= 20, (keyed, compared)


def test_rejected_files_are_errors_that_name_the_status():
    base, count = connect(), 0
    table(base, ["k"])
    for name, *words in rows("reject/expected.txt"):
        file, status = VECTORS / f"reject/{name}.petal", " ".join(words)
        for filter in (str(file), file.read_bytes()):
            for attempt in (answers, info):
                said = error_of(base, lambda: attempt(base, filter, "petal"))
                assert f"{status}: " in said, (file, attempt, said)
        for attempt in attempts(base, file.read_bytes()):
            error_of(base, attempt)
        count += 1
    assert count >= 50


def test_files_cut_anywhere_and_bytes_changed_anywhere_end_no_process():
    base, tried, refused = connect(), 0, 0
    for file in [*VECTORS.glob("petal/blocked.petal"), *VECTORS.glob("petal/growing.petal"),
                 sorted(VECTORS.glob("static/*.petal"))[0]]:
        whole = file.read_bytes()
        pieces = [whole[:size] for size in range(0, len(whole), len(whole) // 97 + 1)]
        for i in range(0, len(whole), len(whole) // 97 + 1):
            pieces.append(whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1 :])
        for piece in pieces:
            for attempt in attempts(base, piece):
                tried += 1
                try:
                    attempt()
                except Exception as error:
                    refused += str(error).startswith("petal: ")
    assert tried >= 1500 and refused >= 0.6 * tried, (tried, refused)
