"""A single-page application that behaves as the ones do on which faults were found.

Rows are told apart by numbers, lists come by requests that take their time, a combobox takes
whatever it highlights when it is left, and forms are rejected in four ways.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from urllib.parse import parse_qs, urlsplit

from tests.loopback import answer, no_log, serving

LONGEST_HOLD_SECONDS = 60.0  # so that nothing waits for ever where a test fails
PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
WRAPPED = {
    "table": "<table><tbody>{rows}</tbody></table>",
    "list": "<ul>{rows}</ul>",
    "grid": "<div role=grid aria-label=Orders>{rows}</div>",
}
ROW = {
    "table": "<tr><td>{name}</td><td>open</td><td>{button}</td></tr>",
    "list": "<li>{name} {button}</li>",
    "grid": "<div role=row><div role=gridcell>{name}</div><div role=cell>{button}</div></div>",
}
DELETE = """<button onclick="fetch('/delete?name={name}', {{method: 'POST'}})">Delete</button>"""
PAGES = {
    f"/{file.stem}": file.read_text() for file in (Path(__file__).parent / "shop_pages").iterdir()
}
PARTS = ("bolt", "nut", "nutmeg")
FILES = {
    "/report.pdf": ("application/pdf", PDF),
    "/report.json": ("application/json", b'{"sum": 7}'),
    "/report.txt": ("text/plain", b"seven\n"),
}


@dataclass(slots=True, kw_only=True)
class Shop:
    """What was asked for, which orders there are, and whether answers are held back."""

    url: str = ""
    orders: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    answering: Event = field(default_factory=Event)
    asked: Event = field(default_factory=Event)  # something is held back

    def reset(self) -> None:
        """As it was at the start."""
        self.orders = [f"Order {number}" for number in range(1, 13)]
        self.deleted = []
        self.requests = []
        self.answering.set()
        self.asked.clear()

    def rows(self, kind: str) -> str:
        """The page of all orders, as a table, a list or a grid."""
        rows = [ROW[kind].format(name=one, button=DELETE.format(name=one)) for one in self.orders]
        return f"<title>Orders</title>{WRAPPED[kind].format(rows=''.join(rows))}"


@contextmanager
def shop() -> Iterator[Shop]:
    """The application, served meanwhile."""
    served = Shop()
    served.reset()

    class Handler(BaseHTTPRequestHandler):
        log_message = no_log

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            served.requests.append(parts.path)
            if parts.path.startswith("/held"):
                served.asked.set()
                served.answering.wait(LONGEST_HOLD_SECONDS)
            if parts.path == "/login" and "in=yes" in self.headers.get("cookie", ""):
                answer(self, 302, b"", {"Location": "/taken"})
            elif parts.path.startswith("/orders/"):
                self._page(served.rows(parts.path.rpartition("/")[2]))
            elif parts.path in PAGES:
                self._page(PAGES[parts.path])
            elif parts.path in FILES:
                kind, body = FILES[parts.path]
                answer(self, 200, body, {"Content-Type": kind})
            elif parts.path == "/parts":
                like = parse_qs(parts.query).get("like", [""])[0]
                self._json([name for name in PARTS if like in name or like == "nut"])
            else:
                self._json(["new 1", "new 2"])

        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            served.requests.append(parts.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if parts.path == "/delete":
                name = parse_qs(parts.query)["name"][0]
                served.orders.remove(name)
                served.deleted.append(name)
                self._json({})
            elif parts.path == "/save":
                served.asked.set()
                served.answering.wait(LONGEST_HOLD_SECONDS)
                self._json({})
            elif parts.path == "/refuse":
                self._page("<title>Refused</title><p class=error>No.</p>", status=422)
            elif parts.path == "/login":
                answer(
                    self, 303, headers={"Location": "/taken", "Set-Cookie": "in=yes; Max-Age=900"}
                )
            elif parts.path == "/moved":
                answer(self, 303, b"", {"Location": "/taken"})
            else:
                self._page(PAGES["/again"])

        def _page(self, page: str, status: int = 200) -> None:
            answer(self, status, page.encode(), {"Content-Type": "text/html; charset=utf-8"})

        def _json(self, value: object) -> None:
            answer(self, 200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    with serving(Handler) as url:
        served.url = url
        try:
            yield served
        finally:
            served.answering.set()
