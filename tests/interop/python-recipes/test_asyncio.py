"""test_asyncio.py - tests that the asyncio crawler visits each page once, that later crawls fetch
only new pages, and that an interrupted crawl is repeated."""

import asyncio
import os

import asyncio_crawler
import pytest


def crawl(site, path, stop_at=None):
    visited = []

    async def visit(url, text):
        visited.append("/" + url.rsplit("/", 1)[1])
        if len(visited) == stop_at:
            raise KeyError("stop")

    asyncio.run(asyncio_crawler.crawl_new_pages(site.url, path, visit))
    return visited


def test_each_page_once(site, tmp_path):
    path = tmp_path / "pages.petal"
    visited = crawl(site, path)
    # The filter is sized for a million keys but contains so few keys that there are no false
    # positives.
    assert sorted(visited) == sorted(site.paths())
    assert max(site.requests.values()) == 1
    site.pages += 20
    site.requests.clear()
    visited = crawl(site, path)
    assert set(visited) <= {"/0"} | {f"/{number}" for number in range(200, 220)}


def test_pages_that_are_new(site, tmp_path):
    path = tmp_path / "pages.petal"
    crawl(site, path)
    site.links = lambda number: [number + 1000] if number == 0 else []
    site.pages = 2000
    assert crawl(site, path) == ["/0", "/1000"]


def test_a_crawl_that_was_broken_off(site, tmp_path):
    path = tmp_path / "pages.petal"
    with pytest.raises(KeyError):
        crawl(site, path, stop_at=50)
    assert not os.path.exists(path)
    assert set(crawl(site, path)) == site.paths()
