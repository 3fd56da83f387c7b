"""A small asyncio crawler that remembers pages in a filter (3 bytes per page) and saves the filter
to a file.

add() returns whether a page is new, so each page is queued only once. The filter is saved when the
queue is empty, so after a crash the crawl starts over and no page is lost.

    python asyncio_crawler.py https://example.com/
"""

import asyncio
import re
import sys
import urllib.request
from collections.abc import Awaitable, Callable
from urllib.parse import urldefrag, urljoin, urlsplit

import petal

LINK = re.compile(r'<a\s[^>]*?href="([^"]+)"', re.IGNORECASE)


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as response:
        return str(response.read().decode("utf-8", "replace"))


async def get(url: str) -> str:
    return await asyncio.to_thread(_get, url)


async def crawl(
    start: str, seen: petal.Filter, visit: Callable[[str, str], Awaitable[None]], workers: int = 8
) -> None:
    """Calls visit(url, text) for the start page and for each page on the same host that the filter
    `seen` does not contain."""
    host = urlsplit(start).netloc
    queue: asyncio.Queue[str] = asyncio.Queue()
    seen.add(start)
    queue.put_nowait(start)

    async def work() -> None:
        while True:
            url = await queue.get()
            try:
                text = await get(url)
                await visit(url, text)
                for link in LINK.findall(text):
                    found = urldefrag(urljoin(url, link)).url
                    if urlsplit(found).netloc == host and seen.add(found):
                        queue.put_nowait(found)
            except OSError as error:
                print(f"{url}: {error}", file=sys.stderr)
            finally:
                queue.task_done()

    tasks = [asyncio.create_task(work()) for _ in range(workers)]
    ended = asyncio.create_task(queue.join())
    done, _ = await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in [ended, *tasks]:
        task.cancel()
    for task in done:
        task.result()  # if visit() raises an exception, the crawl ends


async def crawl_new_pages(
    start: str, path: str, visit: Callable[[str, str], Awaitable[None]]
) -> None:
    """Like crawl(), but skips the pages that earlier calls have visited."""
    try:
        seen = petal.open(path, "load", locked=True)
    except FileNotFoundError:
        seen = petal.Filter(1_000_000, 0.0001, grow=True)
    with seen:
        await crawl(start, seen, visit)
        seen.save(path)


if __name__ == "__main__":

    async def show(url: str, text: str) -> None:
        print(url, len(text))

    asyncio.run(crawl_new_pages(sys.argv[1], "pages.petal", show))
