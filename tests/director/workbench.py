"""A small site on which everything can be done that people do on pages."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

ROWS, ON_A_PAGE = 250, 50
LOGIN = "Basic " + b64encode(b"ada:harbour-7-lock").decode()
HOME = """<!doctype html><title>Workbench</title>
<style>#menu ul {display: none} #menu:hover ul {display: block} #box {width: 60px}</style>
<div id="menu">Menu<ul><li>Hidden entry</li></ul></div>
<p id="twice">twice</p><p id="right">right</p><p id="told"></p>
<div id="box" draggable="true">box</div><div id="shelf" style="width:120px;height:80px">shelf</div>
<select id="many" multiple><option value="r">Red</option><option value="g">Green</option>
<option>Blue</option></select><input id="keys"><input id="name">
<input type="file" id="files" multiple><button id="choose">Choose</button>
<a href="/second" id="second">Second</a>
<button id="ask" onclick="told(String(confirm('Sure?')))">Ask</button>
<a href="/report" id="report" download>Report</a>
<p id="soon">wait</p><script>
const told = (text) => { document.querySelector("#told").textContent = text; };
const on = (id, kind, act) => document.querySelector(id).addEventListener(kind, act);
on("#twice", "dblclick", () => told("double"));
on("#right", "contextmenu", () => told("right"));
const list = (all, words) => told([...all].map(words).join(","));
on("#many", "change", ({target}) => list(target.selectedOptions, (one) => one.value));
let pressed = 0;
on("#keys", "keydown", () => told(`keys ${++pressed}`));
on("#files", "change", ({target}) => list(target.files, (one) => `${one.name} ${one.size}`));
on("#choose", "click", () => document.querySelector("#files").click());
on("#shelf", "dragover", (event) => event.preventDefault());
on("#shelf", "drop", () => told("dropped"));
setTimeout(() => {
  document.querySelector("#soon").remove();
  document.body.append("It has come.");
}, 300);
</script>"""
FEED = """<!doctype html><title>Feed</title><ul id="feed"></ul><script>
let count = 0;
const more = () => { for (let n = 0; n < 20 && count < 90; n++) {
  const row = document.createElement("li");
  row.style.height = "60px";
  row.textContent = `entry ${++count}`;
  document.querySelector("#feed").append(row); } };
more();
addEventListener("scroll", () => setTimeout(() => {
  if (innerHeight + scrollY > document.body.scrollHeight - 50) more(); }, 50));
</script>"""


@dataclass
class Workbench:
    """What the site has seen."""

    url: str
    requests: list[str] = field(default_factory=list)


def _rows(page: int) -> str:
    first = (page - 1) * ON_A_PAGE
    rows = "".join(
        f"<tr><td>row {number + 1}</td></tr>" for number in range(first, first + ON_A_PAGE)
    )
    following = f'<a href="/rows?page={page + 1}">Next</a>' if first + ON_A_PAGE < ROWS else ""
    return f"<!doctype html><title>Rows {page}</title><table>{rows}</table>{following}"


def _answer(path: str, login: str) -> tuple[int, dict[str, str], bytes]:
    html = {"content-type": "text/html"}
    if path.startswith("/rows"):
        return 200, html, _rows(int(path.partition("page=")[2] or 1)).encode()
    if path.startswith("/locked") and login != LOGIN:
        return 401, {"www-authenticate": 'Basic realm="bench"'}, b"no"
    if path == "/report":
        headers = {"content-disposition": 'attachment; filename="../../.rep ort?.csv"'}
        return 200, headers, b"name,sum\nada,7\n"
    if path.startswith("/door"):
        return 200, {**html, "set-cookie": "seen=yes; max-age=900"}, b"<title>Door</title>open"
    pages = {"/": HOME, "/feed": FEED, "/second": "<title>Second</title>second"}
    body = pages.get(path, f"<title>{path}</title>inside {path}")
    return 200, html, body.encode()


@contextmanager
def workbench() -> Iterator[Workbench]:
    """The site, served meanwhile."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if "seen=yes" in self.headers.get("cookie", "") and self.path == "/door":
                bench.requests.append("signed in")
            if self.path != "/favicon.ico":
                bench.requests.append(self.path)
            login = self.headers.get("authorization", "")
            status, headers, body = _answer(self.path, login)
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    bench = Workbench(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield bench
    finally:
        server.shutdown()
        server.server_close()
