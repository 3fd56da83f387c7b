"""A spider that follows each link on a site once. Later crawls follow only new links.

    scrapy runspider scrapy_spider.py -a start=https://example.com/ -O pages.jsonl
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.http import Response, TextResponse


class Spider(scrapy.Spider):
    name = "new-pages"
    custom_settings = {
        "DUPEFILTER_CLASS": "petal.scrapy.DupeFilter",
        "PETAL_DUPEFILTER_FILE": "seen.petal",
    }

    def __init__(self, start: str, **more: Any) -> None:
        super().__init__(**more)
        self.first = start

    async def start(self) -> AsyncIterator[Any]:
        yield scrapy.Request(self.first, dont_filter=True)  # every crawl requests it

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"url": response.url}
        if isinstance(response, TextResponse):
            for link in response.css("a::attr(href)"):
                yield response.follow(link)
