"""conftest.py - serves a site of linked pages, counts the requests, and runs crawls of the site."""

import http.server
import os
import subprocess
import sys
import threading
from collections import Counter

import pytest


class Site:
    """Serves pages /0 to /(n-1), each of which links to itself and to some other pages."""

    def __init__(self, pages):
        self.pages = pages
        self.requests = Counter()
        self.served = threading.Event()
        self.stop_after = None
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.requests[self.path] += 1
                body = site.page(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                if site.stop_after and sum(site.requests.values()) >= site.stop_after:
                    site.served.set()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/0"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def links(self, number):
        each = 2 * number + 1, 2 * number + 2, number // 3, number
        return [to for to in each if to < self.pages]

    def page(self, path):
        number = path[1:]
        if not number.isdigit() or int(number) >= self.pages:
            return b""
        links = "".join(f'<a href="/{to}#top">{to}</a>' for to in self.links(int(number)))
        return f"<html><body>{links}</body></html>".encode()

    def paths(self):
        return {f"/{number}" for number in range(self.pages)}


@pytest.fixture
def site():
    made = Site(200)
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def example(tmp_path):
    """example(name, argument...) runs an example as a program and returns its output."""

    def run(name, *arguments):
        path = os.path.join("bindings/python/example", name)
        done = subprocess.run(
            [sys.executable, os.path.abspath(path), *map(str, arguments)],
            cwd=tmp_path, capture_output=True, text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
