"""Every way by which a page can send something somewhere: a home that serves pages which try it,
and an elsewhere."""

from __future__ import annotations

import selectors
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

SECRET = "harbour-seven"
HOSTS = ("127.0.0.1", "127.0.0.2", "::1")

# What a page does; E is the other origin, W the same for WebSockets, N its host and port. Where a
# line is a script, it may await. The path of each request names its channel.
SCRIPTS = {
    "fetch": "await fetch(E + '/fetch', {mode: 'no-cors'})",
    "fetch-cors": "await fetch(E + '/fetch-cors', {headers: {'x-secret': S}})",
    "fetch-post": "await fetch(E + '/fetch-post', {method: 'POST', mode: 'no-cors', body: S})",
    "fetch-keepalive": (
        "await fetch(E + '/fetch-keepalive', {method: 'POST', mode: 'no-cors', keepalive: true})"
    ),
    "fetch-later": "fetchLater(E + '/fetch-later', {activateAfter: 0})",
    "fetch-redirected": "await fetch('/away?to=' + E + '/fetch-redirected', {mode: 'no-cors'})",
    "xhr": "const x = new XMLHttpRequest(); x.open('GET', E + '/xhr'); x.send()",
    "beacon": "navigator.sendBeacon(E + '/beacon', S)",
    "beacon-at-the-end": (
        "addEventListener('pagehide', () => navigator.sendBeacon(E + '/beacon-at-the-end', S))"
    ),
    "websocket": "new WebSocket(W + '/websocket')",
    "eventsource": "new EventSource(E + '/eventsource')",
    "image": "new Image().src = E + '/image'",
    "image-redirected": "new Image().src = '/away?to=' + E + '/image-redirected'",
    "import": "await import(E + '/import')",
    "ping": "make('a', {href: '#x', ping: E + '/ping'}).click()",
    "form": (
        "const f = make('form', {action: E + '/form', method: 'POST', target: 'n'}); f.submit()"
    ),
    "open": "open(E + '/open')",
    "location": "location = E + '/location'",
    "font": "const f = new FontFace('f', `url(${E}/font)`); await f.load()",
    "worker": "new Worker('/worker.js?to=' + E + '/worker')",
    "worker-websocket": "new Worker('/socket.js?to=' + W + '/worker-websocket')",
    "worker-import": "new Worker('/import.js?to=' + E + '/worker-import')",
    "worker-of-a-blob": (
        "new Worker(URL.createObjectURL(new Blob([`fetch('${E}/worker-of-a-blob')`])))"
    ),
    "worker-in-a-worker": "new Worker('/nested.js?to=' + E + '/worker-in-a-worker')",
    "shared-worker": "new SharedWorker('/worker.js?to=' + E + '/shared-worker')",
    "shared-worker-websocket": (
        "new SharedWorker('/socket.js?to=' + W + '/shared-worker-websocket')"
    ),
    "service-worker": (
        "await navigator.serviceWorker.register('/worker.js?to=' + E + '/service-worker')"
    ),
    "service-worker-websocket": (
        "await navigator.serviceWorker.register('/socket.js?to=' + W + '/service-worker-websocket')"
    ),
    "service-worker-import": (
        "await navigator.serviceWorker.register('/import.js?to=' + E + '/service-worker-import')"
    ),
    "worklet": "await new AudioContext().audioWorklet.addModule(E + '/worklet')",
    "paint-worklet": "await CSS.paintWorklet.addModule(E + '/paint-worklet')",
    "stun": "await call([{urls: 'stun:' + N}])",
    "turn": "await call([{urls: `turn:${N}?transport=udp`, username: S, credential: S}])",
    "turn-tcp": "await call([{urls: `turn:${N}?transport=tcp`, username: S, credential: S}])",
    "turns": "await call([{urls: `turns:${N}?transport=tcp`, username: S, credential: S}])",
    "peer": "await meet('udp')",
    "peer-tcp": "await meet('tcp')",
    "webtransport": "await new WebTransport(E.replace('http:', 'https:') + '/webtransport').ready",
    "speculation": "speculate({prefetch: [{urls: [E + '/speculation'], eagerness: 'immediate'}]})",
    "prerender": "speculate({prerender: [{urls: [E + '/prerender'], eagerness: 'immediate'}]})",
    "notification": "new Notification('x', {icon: E + '/notification'})",
    "cache": "await (await caches.open('c')).add(E + '/cache')",
    "video": "make('video', {src: E + '/video'}).play()",
    "canvas": "const i = new Image(); i.crossOrigin = 'anonymous'; i.src = E + '/canvas'",
    "stylesheet-of-a-script": (
        "const s = new CSSStyleSheet(); s.replaceSync(`*{background:url(${E}/sheet)}`);"
        " document.adoptedStyleSheets = [s]"
    ),
    "xslt": (
        "document.insertBefore(document.createProcessingInstruction('xml-stylesheet',"
        " `href='${E}/xslt'`), document.documentElement)"
    ),
}
MARKUP = {
    "img": "<img src='{E}/img'>",
    "srcset": "<img srcset='{E}/srcset 1x'>",
    "picture": "<picture><source srcset='{E}/picture'><img></picture>",
    "input": "<input type=image src='{E}/input'>",
    "svg-image": "<svg><image href='{E}/svg-image' width=9 height=9 /></svg>",
    "script": "<script src='{E}/script'></script>",
    "module": "<script type=module src='{E}/module'></script>",
    "style": "<link rel=stylesheet href='{E}/style'>",
    "style-import": "<style>@import '{E}/style-import';</style>",
    "style-url": "<style>body {{ background: url({E}/style-url) }}</style>",
    "style-font": (
        "<style>@font-face {{ font-family: q; src: url({E}/style-font) }} p {{ font-family: q"
        " }}</style><p>x"
    ),
    "icon": "<link rel=icon href='{E}/icon'>",
    "preload": "<link rel=preload as=image href='{E}/preload'>",
    "preload-fetch": "<link rel=preload as=fetch href='{E}/preload-fetch'>",
    "modulepreload": "<link rel=modulepreload href='{E}/modulepreload'>",
    "prefetch": "<link rel=prefetch href='{E}/prefetch'>",
    "preconnect": "<link rel=preconnect href='{E}/preconnect'>",
    "dns-prefetch": "<link rel=dns-prefetch href='//{S}.example/'>",
    "manifest": "<link rel=manifest href='{E}/manifest'>",
    "iframe": "<iframe src='{E}/iframe'></iframe>",
    "srcdoc": "<iframe srcdoc='<img src={E}/srcdoc>'></iframe>",
    "sandbox": (
        "<iframe sandbox=allow-scripts srcdoc='<script>new"
        " Image().src=`{E}/sandbox`</script>'></iframe>"
    ),
    "object": "<object data='{E}/object'></object>",
    "embed": "<embed src='{E}/embed'>",
    "audio": "<audio src='{E}/audio' preload=auto></audio>",
    "poster": "<video poster='{E}/poster'></video>",
    "track": "<video crossorigin src=/tick><track default src='{E}/track'></video>",
    "refresh": "<meta http-equiv=refresh content='0;url={E}/refresh'>",
    "frame-of-a-url": "<iframe src='data:text/html,<img src={E}/frame-of-a-url>'></iframe>",
    "mathml": "<math href='{E}/mathml'><mtext style='background:url({E}/mathml)'>x</mtext></math>",
}
# By what the server says, and not the page.
HEADERS = {
    "link-preload": {"Link": "<{E}/link-preload>; rel=preload; as=image"},
    "link-preconnect": {"Link": "<{E}/link-preconnect>; rel=preconnect"},
    "link-style": {"Link": "<{E}/link-style>; rel=stylesheet"},
    "csp-report": {"Content-Security-Policy": "img-src 'none'; report-uri {E}/csp-report"},
    "report-to": {
        "Reporting-Endpoints": 'r="{E}/report-to"',
        "Content-Security-Policy": "img-src 'none'; report-to r",
    },
    "nel": {
        "Report-To": '{{"group":"n","max_age":9,"endpoints":[{{"url":"{E}/nel"}}]}}',
        "NEL": '{{"report_to":"n","max_age":9,"success_fraction":1}}',
    },
    "redirect": {"Refresh": "0; url={E}/redirect"},
    "speculation-rules": {"Speculation-Rules": '"{E}/speculation-rules"'},
}
CHANNELS = (*SCRIPTS, *MARKUP, *HEADERS)
# A few of each sort, where there is time for no more.
FIRST = (
    "fetch-redirected",
    "beacon-at-the-end",
    "websocket",
    "image",
    "worker-websocket",
    "shared-worker",
    "service-worker",
    "stun",
    "turn-tcp",
    "speculation",
    "style-import",
    "csp-report",
)
# What leaves its page before the page can say that it is done.
LEAVING = ("form", "location", "refresh", "redirect")
# What nobody hears of within a test, allowed or not: a name is looked up, a report waits for a
# minute, a notification for a permission, an icon and a manifest for a window; our profile connects
# to nothing in advance.
UNHEARD = (
    "notification",
    "icon",
    "preconnect",
    "dns-prefetch",
    "manifest",
    "link-preconnect",
    "link-style",
    "report-to",
    "nel",
    "redirect",
)
# What a browser that is not ours does past the debugging protocol: pages in advance, and
# connections without a word.
UNGUARDED = (
    "speculation",
    "prerender",
    "preconnect",
    "link-preconnect",
    "location",
    "refresh",
    "redirect",
)

_BEGIN = """const E = '{E}', W = E.replace('http', 'ws'), N = E.split('//')[1], S = '{S}';
const make = (tag, has) =>
  document.body.appendChild(Object.assign(document.createElement(tag), has));
const speculate = (rules) => document.head.append(Object.assign(
  document.createElement('script'), {{type: 'speculationrules', text: JSON.stringify(rules)}}));
const call = async (iceServers) => {{
  const peer = new RTCPeerConnection({{iceServers}}); peer.createDataChannel('x');
  await peer.setLocalDescription(await peer.createOffer()); }};
const meet = async (how) => {{
  const [one, other] = [new RTCPeerConnection(), new RTCPeerConnection()];
  one.createDataChannel('x');
  const offer = await one.createOffer(); await one.setLocalDescription(offer);
  await other.setRemoteDescription(offer); const answer = await other.createAnswer();
  await one.setRemoteDescription(answer); const [, host, port] = N.match(/^(.*):(\\d+)$/);
  const tcp = how == 'tcp' ? ' tcptype passive' : '';
  const address = `${{host.replace(/[[\\]]/g, '')}} ${{port}}`;
  await one.addIceCandidate({{sdpMid: '0', sdpMLineIndex: 0,
    candidate: `candidate:1 1 ${{how}} 2113937151 ${{address}} typ host${{tcp}}`}}); }};
"""
# A dozen turns to and fro: what a page has set off meanwhile would be elsewhere by then.
_END = "for (let n = 0; n < 12; n++) await fetch('/tick?' + n); await fetch('/done?{name}');"
WORKERS = {
    "/worker.js": (
        "const to = new URL(location).searchParams.get('to'); fetch(to, {mode: 'no-cors'}).catch(()"
        " => 0)"
    ),
    "/socket.js": "const to = new URL(location).searchParams.get('to'); new WebSocket(to)",
    "/import.js": (
        "const to = new URL(location).searchParams.get('to'); try { importScripts(to) } catch {}"
    ),
    "/nested.js": (
        "const to = new URL(location).searchParams.get('to'); new Worker('/worker.js?to=' + to)"
    ),
}


def page(name: str, elsewhere: str) -> tuple[str, dict[str, str]]:
    """A page that tries one channel, and says when it has."""
    filling = {"E": elsewhere, "S": SECRET, "name": name}
    body = MARKUP.get(name, "").format(**filling)
    if name in HEADERS:
        body = "<img src=/tick?forbidden>"
    attempt = SCRIPTS.get(name, "")
    begin = _BEGIN.format(**filling)
    end = _END.format(**filling)
    script = (
        f"(async () => {{ {begin} try {{ await Promise.race([(async () => {{ {attempt} }})(),"
        f" new Promise(done => setTimeout(done, 1500))]) }} catch {{}} {end} }})()"
    )
    headers = {key: value.format(**filling) for key, value in HEADERS.get(name, {}).items()}
    return (
        f"<!doctype html><head></head><body><h1>{name}</h1>{body}<script>{script}</script>",
        headers,
    )


@dataclass(slots=True)
class Elsewhere:
    """A place that nobody allowed: what came there, by path where there was one."""

    port: int
    reached: list[str] = field(default_factory=list)

    def origin(self, host: str) -> str:
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    """Listen on a port of several addresses of this machine, for connections and for packets."""
    listening = selectors.DefaultSelector()
    over = Event()
    place = Elsewhere(_listen_on_free_port(listening))
    thread = Thread(target=_note_all, args=(listening, place, over), daemon=True)
    thread.start()
    try:
        yield place
    finally:
        over.set()
        thread.join()
        for key in list(listening.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        listening.close()


def _listen_on_free_port(listening: selectors.BaseSelector) -> int:
    """A port at which all of the addresses listen now."""
    port = 0
    for host in HOSTS:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            one = socket.socket(family, kind)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind((host, port))
            except OSError:  # no such address here
                one.close()
                continue
            port = one.getsockname()[1]
            if kind == socket.SOCK_STREAM:
                one.listen(64)
            one.setblocking(False)
            what = "packet" if kind == socket.SOCK_DGRAM else "connection"
            listening.register(one, selectors.EVENT_READ, what)
    return port


def _note_all(listening: selectors.BaseSelector, place: Elsewhere, over: Event) -> None:
    while not over.is_set():
        for key, _ in listening.select(0.05):
            connection: socket.socket = key.fileobj  # type: ignore[assignment]
            with suppress(OSError):
                if key.data == "packet":
                    place.reached.append(f"packet of {len(connection.recv(4096))} bytes")
                elif key.data == "connection":
                    one, _ = connection.accept()
                    place.reached.append("connection")
                    one.setblocking(False)
                    listening.register(one, selectors.EVENT_READ, "request")
                else:
                    _note_request(listening, connection, place)


def _note_request(
    listening: selectors.BaseSelector, connection: socket.socket, place: Elsewhere
) -> None:
    data = connection.recv(4096)
    line = data.split(b"\r\n")[0].split(b" ")
    if len(line) == 3:
        place.reached.append(line[1].decode("latin-1").lstrip("/"))
        connection.send(
            b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers:"
            b" *\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )
    elif data:
        place.reached.append(f"{len(data)} bytes")
    listening.unregister(connection)
    connection.close()


@dataclass(slots=True)
class Home:
    """An allowed origin: its pages, and which of them have said that they are done."""

    url: str
    away: str = ""  # where its pages are to send things
    done: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def home() -> Iterator[Home]:
    """Serve the pages, `/channel/NAME`, for the length of a `with` block."""
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.home
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.home = Home(f"http://127.0.0.1:{self.server_address[1]}")

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser hangs up when it likes."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body at once, or each answer waits for a confirmation
    server: _Server

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        here = self.server.home
        here.asked.append(self.path)
        if parts.path == "/done":
            here.done.append(parts.query)
        if parts.path == "/away":
            return self._send("", {"Location": parse_qs(parts.query)["to"][0]}, status=302)
        if parts.path in WORKERS:
            return self._send(WORKERS[parts.path], {"Content-Type": "text/javascript"})
        if parts.path.startswith("/channel/"):
            body, headers = page(parts.path.rpartition("/")[2], here.away)
            return self._send(body, {"Content-Type": "text/html", **headers})
        return self._send("<h1>Home</h1>", {"Content-Type": "text/html"})

    def do_POST(self) -> None:
        self.do_GET()

    def _send(self, body: str, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""
