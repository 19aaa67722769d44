"""Harbour Desk with pages where something goes wrong, or is hard to read, on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event

from foreword.demos.site import Site, site
from foreword.demos.site.site_pages import page
from foreword.demos.site.site_server import Page, SiteRequest, SiteResponse, answer

# Of a page that is slow or hangs: longer than any browser in a test waits for a page.
LONGEST_WAIT_SECONDS = 60.0
LARGE_ROWS = 2_000  # far more than a result of a tool has room for


def server_failure() -> str:
    """A page of a server that has failed."""
    return page(
        "Something went wrong", '<p role="alert" class="alert">The office is on fire (500).</p>'
    )


def script_error() -> str:
    """A page whose script fails on loading, and again on a click."""
    return page(
        "Script error",
        '<p>This page needs a script that is broken.</p><button id="fail"'
        ' onclick="nothingLikeThis()">Try</button><script>throw new Error(\'the script is'
        " broken')</script>",
    )


def busy() -> str:
    """A page that stops answering when its button is pressed."""
    return page("Busy page", '<button id="freeze" onclick="for(;;);">Count for ever</button>')


def dialogs() -> str:
    """Every kind of dialog, and what became of it."""
    buttons = {
        "alert": "alert('High water at noon'); tell('told')",
        "confirm": "tell('confirmed: ' + confirm('Empty the basin?'))",
        "prompt": "tell('name: ' + prompt('Your name?'))",
        "leave": "window.onbeforeunload = () => 'unsaved'; tell('will ask before leaving')",
    }
    row = ""
    for name, code in buttons.items():
        row += f'<button id="{name}" onclick="{code}">{name.title()}</button> '
    tell = (
        "<script>function tell(text) { document.getElementById('told').textContent = text"
        " }</script>"
    )
    return page(
        "Dialogs",
        f'<p>{row}</p><p id="told" role="status"></p><a href="/dashboard">Leave</a>{tell}',
    )


def large() -> str:
    """Far more rows than anybody can read."""
    rows = "".join(_buoy_row(number) for number in range(1, LARGE_ROWS + 1))
    return page(
        "Buoys",
        f'<table id="buoys"><tbody>{rows}</tbody></table><p id="end">The end of the list.</p>',
    )


def _buoy_row(number: int) -> str:
    return (
        f'<tr class="row"><td>{number}</td><td>Buoy {number}</td>'
        f"<td>{number * 37 % 900 / 10} m</td>"
        f'<td><a href="/letter/L-{101 + number % 15}">Log</a></td></tr>'
    )


def settings() -> str:
    """Fields that hold secrets, filled in already."""
    return page(
        "Settings",
        '<form class="card narrow" onsubmit="return false"><label for="mail">Mail</label><input'
        ' id="mail" name="mail" value="ada@harbour.test"><label'
        ' for="password">Password</label><input id="password" type="password" name="password"'
        ' value="harbour-7-secret"><label for="token">API token</label><input id="token"'
        ' name="api_token" value="tok_5f1c9a77e0b24d"><label for="code">Card code</label><input'
        ' id="code" autocomplete="cc-csc" name="cvc" value="839"><button>Save</button></form>',
    )


def invisible_elements() -> str:
    """Things that nobody sees, beside some that everybody does."""
    unseen = (
        '<button id="none" style="display:none">Not displayed</button>'
        '<button id="invisible" style="visibility:hidden">Not visible</button>'
        "<button hidden>Has hidden</button>"
        '<div aria-hidden="true">For eyes only</div>'
        '<p style="position:absolute;width:0;height:0;overflow:hidden">No size</p>'
        "<template>A template</template>"
        "<noscript>No script</noscript>"
    )
    folded = "<details><summary>More</summary><p>Folded away</p></details>"
    return page(
        "Hidden things", f"<button>In plain sight</button>{unseen}{folded}<!-- a comment -->"
    )


def frames() -> str:
    """A page in a page, and an element with a root of its own."""
    script = (
        "customElements.define('tide-gauge', class extends HTMLElement { connectedCallback() {const"
        " root = this.attachShadow({mode: 'open'});root.innerHTML = '<p>Gauge</p><button"
        ' id="read">Read the'
        " gauge</button><output></output>';root.querySelector('button').onclick = () =>"
        " root.querySelector('output').textContent = '2.4 m'; } })"
    )
    return page(
        "Frames",
        '<iframe title="Tides" src="/help" width="400"'
        f' height="240"></iframe><tide-gauge></tide-gauge><script>{script}</script>',
    )


def address_change_page() -> str:
    """A page that changes its own address without loading anything, and shows something late."""
    script = (
        "function push() { history.pushState({}, '', '/moved/on') }function late() { setTimeout(()"
        " => document.getElementById('place').append(Object.assign(document.createElement('p'),"
        " {id: 'arrived', textContent: 'Here it is'})), 300) }"
    )
    return page(
        "Moving",
        '<button id="push" onclick="push()">Change the address</button> <button id="late"'
        f' onclick="late()">Show later</button><div id="place"></div><script>{script}</script>',
    )


def ways_out(elsewhere: str) -> str:
    """Everything that leads to another origin, or is no web page at all."""
    return page(
        "Ways out",
        f'<p><a id="link" href="{elsewhere}/dashboard">A link</a> <a id="redirect" href="/away">A'
        " redirect</a> "
        '<a id="twice" href="/away/twice">Two redirects</a> '
        f'<a id="tab" target="_blank" href="{elsewhere}/dashboard">A tab</a> '
        '<a id="tab-redirect" target="_blank" href="/away/twice">A tab with redirects</a> '
        '<a id="download" href="/download">A download</a></p>'
        f'<p><button id="popup" onclick="window.open(\'{elsewhere}/help\')">A popup</button> '
        f'<button id="script" onclick="location = \'{elsewhere}/dashboard\'">A script</button> '
        f'<button id="frame"'
        f" onclick=\"document.body.append(Object.assign(document.createElement('iframe'), "
        f"{{src: '/away/twice'}}))\">A frame</button> "
        f'<button id="data" onclick="window.open(\'data:text/html,hello\')">A data'
        f" address</button></p>"
        f'<form method="post" action="{elsewhere}/form"><button id="post">A form</button></form>',
    )


def elsewhere(desk: Site) -> str:
    """The address of the same site as another origin."""
    return desk.url.replace("127.0.0.1", "localhost")


@contextmanager
def faulty_site() -> Iterator[Site]:
    """Serve the site with its faulty pages for the length of a `with` block."""
    closing = Event()  # ends every page that is slow or hangs
    pages: dict[str, Page] = {
        "/slow": _slow(closing),
        "/hang": _hang(closing),
        "/broken": _page(server_failure(), 500),
        "/script-error": _page(script_error()),
        "/busy": _page(busy()),
        "/dialogs": _page(dialogs()),
        "/download": _download,
        "/large": _page(large()),
        "/settings": _page(settings()),
        "/hidden": _page(invisible_elements()),
        "/frames": _page(frames()),
        "/moving": _page(address_change_page()),
        "/ways-out": lambda desk, _: SiteResponse(ways_out(elsewhere(desk))),
        "/away": lambda desk, _: _redirect(f"{elsewhere(desk)}/help"),
        "/away/twice": lambda desk, _: _redirect("/away"),
    }

    def answer_with_faults(desk: Site, request: SiteRequest) -> SiteResponse:
        return pages.get(request.path, answer)(desk, request)

    with site(answer=answer_with_faults) as desk:
        try:
            yield desk
        finally:
            closing.set()


def _page(body: str, status: int = 200) -> Page:
    return lambda desk, request: SiteResponse(body, status)


def _redirect(address: str) -> SiteResponse:
    return SiteResponse("", status=302, headers=(("Location", address),))


def _slow(closing: Event) -> Page:
    def slow(desk: Site, request: SiteRequest) -> SiteResponse:
        with suppress(ValueError):
            closing.wait(min(float(request.values.get("seconds", "2")), LONGEST_WAIT_SECONDS))
        return SiteResponse(page("Slow page", "<p>This took a while.</p>"))

    return slow


def _hang(closing: Event) -> Page:
    def hang(desk: Site, request: SiteRequest) -> SiteResponse:
        closing.wait(LONGEST_WAIT_SECONDS)
        return SiteResponse("")

    return hang


def _download(desk: Site, request: SiteRequest) -> SiteResponse:
    headers = (
        ("Content-Type", "text/csv"),
        ("Content-Disposition", 'attachment; filename="letters.csv"'),
    )
    return SiteResponse("number,subject\n", headers=headers)
