"""test_scrapy.py - tests petal.scrapy.DupeFilter: each page is requested only once, the next crawl
requests only new pages, a crash may lose keys but no pages, and a paused job continues."""

import json
import os
import shutil
import signal
import subprocess
import sys

import petal
import pytest

SPIDER = os.path.abspath("bindings/python/example/scrapy_spider.py")


def start(site, folder, *options):
    command = ["runspider", SPIDER, "-a", f"start={site.url}", "-o", "out.jsonl", "-L", "INFO"]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", *command, *options],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )


def end(spider):
    """Returns the crawl's log. If the crawl doesn't end, it is killed, so that it isn't left
    running."""
    try:
        return spider.communicate(timeout=120)[1]
    finally:
        spider.kill()


def crawl(site, folder, *options):
    """Returns the requested paths with their counts, and Scrapy's log."""
    site.requests.clear()
    spider = start(site, folder, *options)
    log = end(spider)
    assert spider.returncode == 0, log
    site.requests.pop("/robots.txt", None)
    return dict(site.requests), log


def broken_off(site, folder, how, *options):
    """Runs a crawl and sends it a signal after 60 requests."""
    site.requests.clear()
    site.stop_after = 60
    spider = start(site, folder, "-s", "CONCURRENT_REQUESTS=2", *options)
    served = site.served.wait(120)
    spider.send_signal(how if served else signal.SIGKILL)
    log = end(spider)
    assert served, log
    site.stop_after = None
    site.served.clear()
    site.requests.pop("/robots.txt", None)
    return dict(site.requests)


def once(paths):
    return dict.fromkeys(paths, 1)


def test_each_page_once_and_then_what_is_new(site, tmp_path):
    requests, log = crawl(site, tmp_path)
    # The start page is requested without the filter, so links to it are followed once.
    assert requests == once(site.paths()) | {"/0": 2}
    assert "'dupefilter/filtered'" in log
    found = {json.loads(line)["url"] for line in open(tmp_path / "out.jsonl")}
    assert {"/" + url.rsplit("/", 1)[1] for url in found} == site.paths()
    with petal.open(tmp_path / "seen.petal") as seen:
        assert seen.info().items == 200

    assert crawl(site, tmp_path)[0] == {"/0": 1}
    site.links = lambda number: [1000] if number == 0 else []
    site.pages = 2000
    assert crawl(site, tmp_path)[0] == once(["/0", "/1000"])


@pytest.mark.parametrize("options", [(), ("-s", "JOBDIR=job")], ids=["alone", "with JOBDIR"])
def test_a_crash_loses_no_page(site, tmp_path, options):
    before = broken_off(site, tmp_path, signal.SIGKILL, *options)
    assert 60 <= sum(before.values()) < 200
    assert set(crawl(site, tmp_path, *options)[0]) == site.paths()


def test_a_crash_leaves_the_file_of_the_last_crawl(site, tmp_path):
    leaves = range(100, 120)  # of links()
    site.links, links = (lambda number: leaves if number == 0 else []), site.links
    crawl(site, tmp_path)
    site.links = links
    broken_off(site, tmp_path, signal.SIGKILL)
    requests, _ = crawl(site, tmp_path)
    assert set(requests) == site.paths() - {f"/{number}" for number in leaves}


def test_a_paused_job_is_continued(site, tmp_path):
    job = ("-s", "JOBDIR=job")
    before = broken_off(site, tmp_path, signal.SIGTERM, *job)
    assert (tmp_path / "job/requests.petal").exists()
    after, _ = crawl(site, tmp_path, *job)
    assert not (tmp_path / "job/requests.petal").exists()
    assert set(before) | set(after) == site.paths()
    assert set(before) & set(after) == {"/0"}
    assert len(after) < 200
    with petal.open(tmp_path / "seen.petal") as seen:
        assert seen.info().items == 200


def test_after_a_crash_of_a_continued_job_its_queue_is_refused(site, tmp_path):
    job = ("-s", "JOBDIR=job")
    broken_off(site, tmp_path, signal.SIGTERM, *job)
    broken_off(site, tmp_path, signal.SIGKILL, *job)
    site.requests.clear()
    log = end(start(site, tmp_path, *job))
    assert "job: its job crashed; remove it to begin again" in log
    assert "/0" not in site.requests
    shutil.rmtree(tmp_path / "job")
    assert set(crawl(site, tmp_path, *job)[0]) == site.paths()


def test_a_job_that_has_finished_can_be_run_again(site, tmp_path):
    crawl(site, tmp_path, "-s", "JOBDIR=job")
    assert crawl(site, tmp_path, "-s", "JOBDIR=job")[0] == {"/0": 1}


def test_one_crawl_at_a_time(site, tmp_path):
    crawl(site, tmp_path)
    with petal.open(tmp_path / "seen.petal", "load", locked=True):
        spider = start(site, tmp_path)
        log = end(spider)
        assert "another process is changing it" in log


def test_a_few_settings(site, tmp_path):
    settings = "-s PETAL_DUPEFILTER_CAPACITY=500 -s PETAL_DUPEFILTER_RATE=0.001 -s DUPEFILTER_DEBUG=1".split()
    _, log = crawl(site, tmp_path, *settings, "-L", "DEBUG")
    with petal.open(tmp_path / "seen.petal") as seen:
        assert (seen.info(0).capacity, seen.info().policy) == (500, "growing")
    assert log.count("duplicate request: <GET") > 100
