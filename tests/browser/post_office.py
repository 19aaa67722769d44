"""A site that counts what is posted to it, and answers when the test says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from threading import Event

from tests.loopback import answer, no_log, serving

LONGEST_HOLD_SECONDS = 60.0  # so that nothing waits for ever where a test fails
PAGES = {
    "/": """<title>Counter</title><form method="post" action="/post">
        <input id="name" name="name"><textarea id="note"></textarea>
        <input id="short" maxlength="3"><button id="send">Send</button></form>
        <button id="delete" onclick="if (confirm('Delete all?')) fetch('/post', {method: 'POST'})
            .then(() => document.getElementById('told').textContent = 'deleted')">Delete</button>
        <a id="file" href="/file">File</a>
        <a id="new" href="/other" target="_blank">New</a><p id="told"></p>""",
    "/post": "<title>Posted</title><h1>Posted</h1>",
    "/prompt": """<button id="ask" onclick="
        document.getElementById('told').textContent = prompt('Name?')">Ask</button>
        <p id="told"></p>""",
    "/other": "<title>Other</title><h1>Other</h1>",
    "/apart": """<form method="post" action="/post" target="_blank"><button id="send">Send</button>
        </form>""",
    "/pager": """<ul></ul><p id="told"></p><button id="next">Next</button><script>
        let page = 0;
        const button = document.querySelector("#next");
        const turn = async () => {
          document.querySelector("#told").textContent = "loading";
          const rows = await (await fetch(`/more?page=${++page}`)).json();
          document.querySelector("#told").textContent = "";
          document.querySelector("ul").innerHTML = rows.map((row) => `<li>${row}</li>`).join("");
          button.disabled = page === 3;
        };
        button.addEventListener("click", turn);
        turn();</script>""",
    "/feed": """<style>main {height: 90vh; overflow: auto} li {height: 90px}</style>
        <main><ul></ul></main><script>
        let page = 0, busy = false;
        const box = document.querySelector("main");
        const more = async () => {
          if (busy || page === 3) return;
          busy = true;
          const rows = await (await fetch(`/more?page=${++page}`)).json();
          const written = rows.map((row) => `<li>${row}</li>`).join("");
          document.querySelector("ul").insertAdjacentHTML("beforeend", written);
          busy = false;
        };
        box.addEventListener("scroll", () => {
          if (box.scrollTop + box.clientHeight > box.scrollHeight - 100) more();
        });
        more();</script>""",
}


@dataclass(slots=True, kw_only=True)
class PostOffice:
    """What was posted, and whether answers are held back."""

    url: str = ""
    posts: int = 0
    answering: Event = field(default_factory=Event)
    hold_seconds: float = LONGEST_HOLD_SECONDS
    file: bytes = b"number,subject\n"

    def reset(self) -> None:
        """As it was at the start."""
        self.posts = 0
        self.hold_seconds = LONGEST_HOLD_SECONDS
        self.answering.set()


@contextmanager
def post_office() -> Iterator[PostOffice]:
    office = PostOffice()
    office.reset()

    class Handler(BaseHTTPRequestHandler):
        log_message = no_log

        def do_GET(self) -> None:
            if self.path == "/file":
                disposition = ("Content-Disposition", 'attachment; filename="../letters.csv"')
                self._answer(office.file, ("Content-Type", "text/csv"), disposition)
            elif self.path.startswith("/more"):
                office.answering.wait(office.hold_seconds)
                last = 20 * int(self.path.rpartition("=")[2])
                rows = [f"row {number}" for number in range(last - 19, last + 1)]
                self._answer(json.dumps(rows).encode(), ("Content-Type", "application/json"))
            else:
                page = PAGES.get(self.path.partition("?")[0], "")
                self._answer(page.encode(), ("Content-Type", "text/html"))

        def do_POST(self) -> None:
            office.posts += 1
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            office.answering.wait(office.hold_seconds)
            self._answer(PAGES["/post"].encode(), ("Content-Type", "text/html"))

        def _answer(self, body: bytes, *headers: tuple[str, str]) -> None:
            answer(self, 200, body, dict(headers))

    with serving(Handler) as url:
        office.url = url
        try:
            yield office
        finally:
            office.answering.set()
