"""Tests that many threads can query, change, save and close one filter concurrently, with correct
answers, no lost keys and no crashes, and that long calls release the GIL."""

import io
import os
import threading
import time

import numpy as np
import petal
import pytest
from petal import Filter


def run_all(*calls):
    """Runs all calls concurrently, each in its own thread. Returns the exceptions that they
    raised."""
    failures, ready = [], threading.Barrier(len(calls))

    def run(call):
        ready.wait()
        try:
            call()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), "it hangs"
    return failures


def test_many_threads_query_one_filter():
    f = Filter(100_000)
    keys = np.arange(100_000)
    f.update(keys)
    absent = [f"absent {i}" for i in range(20_000)]
    expected = f.contains_batch(absent)

    def ask():
        for _ in range(10):
            assert f.contains_batch(keys).all()
            assert f.contains_batch(absent) == expected
            assert all(key in f for key in range(0, 100_000, 1000))
            f.stats(), f.copy(), f.to_bytes(), repr(f), len(f)

    assert run_all(*[ask] * 4) == []


def test_adding_from_many_threads_loses_no_key():
    f = Filter(400_000)
    parts = np.split(np.arange(400_000), 8)

    def add(part, i):
        def run():
            if i % 3 == 0:
                f.update(part)
            elif i % 3 == 1:
                f.update(part.tolist())
            else:
                for key in part.tolist():
                    f.add(key)

        return run

    assert run_all(*[add(part, i) for i, part in enumerate(parts)]) == []
    same = Filter(400_000)
    same.update(np.arange(400_000))
    assert f.content_id() == same.content_id() and f.info().items == 400_000


def test_changes_and_questions_wait_for_each_other():
    f, other = Filter(200_000), Filter(200_000)
    f.update(range(1000))
    keys = np.arange(50_000)

    def combine(a, b):
        def run():
            for _ in range(20):
                a.__ior__(b)
                a.compare(b)

        return run

    def ask():
        for _ in range(20):
            assert f.contains_all(range(1000))

    def save():
        for _ in range(20):
            Filter.from_bytes(f.to_bytes())
            f.write_to(io.BytesIO())

    assert run_all(
        combine(f, other), combine(other, f), ask, save, *[lambda: f.update(keys)] * 2
    ) == []
    assert other.contains_all(keys)


@pytest.mark.parametrize("mode", ["memory", "r+", "view"])
def test_closing_while_others_ask_ends_in_a_value_error(mode, tmp_path):
    keys = np.arange(200_000)
    for _ in range(5):
        f = Filter(200_000)
        f.update(keys)
        if mode == "r+":
            f.save(tmp_path / "a")
            f = petal.open(tmp_path / "a", "r+")
        elif mode == "view":
            f = Filter.view(f.to_bytes())

        def ask(f=f):
            while True:
                assert f.contains_batch(keys).all()

        def ask_one(f=f):
            while True:
                assert 5 in f

        def close(f=f):
            time.sleep(0.02)
            f.close()

        failures = run_all(ask, ask, ask_one, close)
        assert [(type(failure), str(failure)) for failure in failures] == [
            (ValueError, "the filter is closed")
        ] * 3


def test_the_gil_is_released_in_batches_and_in_files(tmp_path):
    """While one call runs, another thread must make progress. The test doesn't depend on timing."""
    f = Filter(50_000_000)
    keys = np.arange(4_000_000)
    progress = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            progress[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    moved = []
    try:
        for call in (
            lambda: f.update(keys),
            lambda: f.contains_batch(keys),
            lambda: f.stats(),
            lambda: f.save(tmp_path / "a"),
        ):
            before = progress[0]
            call()
            moved.append(progress[0] - before)
    finally:
        done.set()
        thread.join()
    assert min(moved) > 1000, moved


def test_a_child_of_fork_has_a_filter_of_its_own():
    f = Filter(1000)
    f.add("a")
    child = os.fork()
    if child == 0:
        f.add("b")
        os._exit(0 if f.contains_all(["a", "b"]) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert "a" in f
