"""A small asyncio crawler that remembers pages in a filter (3 bytes per page), which it saves to a
file.

Each page is queued only once, since add() returns whether it was new. The filter is saved when the
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
    """Calls visit(url, text) for the start page and for each page of its host that is new to
    seen."""
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
        task.result()  # if a visit raises, the crawl ends


async def crawl_new_pages(
    start: str, path: str, visit: Callable[[str, str], Awaitable[None]]
) -> None:
    """Like crawl(), but the next call knows the pages that this one visited."""
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
