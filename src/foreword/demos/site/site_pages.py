"""The pages of Harbour Desk: what an office does with its letters, in plain HTML.

Each page is a function from what was asked to HTML; nothing here knows of HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

NAME, PASSWORD = "ada", "harbour-7"
ROWS_ON_A_PAGE = 5  # so that the letters fill three pages, and a loop has something to do
_LETTERS = (
    ("Berth for the Alma, 3 nights", "Jonas Brandt", "2 March", "booking"),
    ("Water meter on pier 4 is stuck", "Rosa Lind", "2 March", "repair"),
    ("Invoice 2207 was paid twice", "Keel & Sons", "3 March", "money"),
    ("Winter storage for two dinghies", "Sailing School Nord", "3 March", "booking"),
    ("Lost: a green rope, 20 m", "Tom Aksel", "4 March", "other"),
    ("Crane on Thursday at 9?", "Boatyard Petersen", "4 March", "booking"),
    ("Broken lamp at the fuel dock", "Mira Holm", "5 March", "repair"),
    ("Please send the fee table", "Yacht Club East", "5 March", "other"),
    ("Refund for the storm week", "Elin Fors", "6 March", "money"),
    ("Berth for the Kittiwake, 1 night", "Sam O'Neill", "6 March", "booking"),
    ("Ladder on pier 2 is loose", "Rosa Lind", "7 March", "repair"),
    ("Key for the washroom", "Anton Berg", "7 March", "other"),
    ("Mooring contract, signed copy", "Keel & Sons", "8 March", "money"),
    ("Regatta: 14 guest berths", "Sailing School Nord", "8 March", "booking"),
    ("Oil in the basin", "Mira Holm", "9 March", "repair"),
)


def _rows() -> Iterator[dict[str, str]]:
    for number, (subject, sender, received, kind) in enumerate(_LETTERS, start=101):
        yield {
            "number": f"L-{number}",
            "subject": subject,
            "sender": sender,
            "received": received,
            "kind": kind,
        }


ROWS: tuple[dict[str, str], ...] = tuple(_rows())
KINDS = ("booking", "repair", "money", "other")
STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


_MENU = (
    '<a href="/dashboard">Dashboard</a><a href="/list">Letters</a><a href="/form">Register</a>'
    '<a href="/sent">Registered</a><a class="right" href="/logout">Sign out</a>'
)


def page(title: str, body: str, *, signed_in: bool = True, head: str = "") -> str:
    """A whole page: the bar with its links, and what is on it."""
    menu = _MENU if signed_in else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon"'
        ' href="data:,">'
        f"<title>{escape(title)} - Harbour Desk</title><style>{STYLE}</style>{head}</head><body>"
        f'<header><strong>Harbour Desk</strong><nav aria-label="Main">{menu}</nav></header>'
        f"<main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def _alert(problem: str) -> str:
    return f'<p role="alert" class="alert">{escape(problem)}</p>' if problem else ""


def login(onward: str, problem: str = "") -> str:
    """Where everybody begins; a wrong password says so."""
    alert = _alert(problem)
    return page(
        "Sign in",
        f'{alert}<form method="post" action="/login" class="card narrow"><input type="hidden"'
        f' name="next" value="{escape(onward)}"><label for="name">Name</label><input id="name"'
        ' name="name" autocomplete="username" required><label'
        ' for="password">Password</label><input id="password" name="password" type="password"'
        ' autocomplete="current-password" required><button>Sign in</button></form>',
        signed_in=False,
    )


def dashboard(sent: int) -> str:
    """The first page behind the door: a link that opens a second tab, and a popup."""
    return page(
        "Dashboard",
        f'<p>Good morning, Ada. <span id="waiting">{len(ROWS)} letters</span> are waiting, <span'
        f' id="registered">{sent}</span> are registered.</p><div class="cards"><a class="card"'
        ' id="letters" href="/list" target="_blank">Open the letters in a new tab</a><a'
        ' class="card" href="/form">Register a letter</a><button class="card" id="help"'
        " onclick=\"window.open('/help', 'help', 'width=420,height=380')\">Tide table"
        " (popup)</button></div>",
    )


def letters(number: int) -> str:
    """One page of the list, with links to the others."""
    last = -(-len(ROWS) // ROWS_ON_A_PAGE)
    number = min(max(number, 1), last)
    rows = ROWS[(number - 1) * ROWS_ON_A_PAGE : number * ROWS_ON_A_PAGE]
    body = "".join(_letter(row) for row in rows)
    before = "<span>Previous</span>"
    if number > 1:
        before = f'<a rel="prev" href="/list?page={number - 1}">Previous</a>'
    after = "<span>Next</span>"
    if number < last:
        after = f'<a rel="next" href="/list?page={number + 1}">Next</a>'
    return page(
        "Letters",
        '<table id="letters" data-testid="letters"><caption>Letters that'
        f' wait</caption>{_HEAD}<tbody>{body}</tbody></table><nav class="paging"'
        f' aria-label="Pages">{before}<span>Page {number} of {last}</span>{after}</nav>',
    )


_HEAD = (
    "<thead><tr><th>No.</th><th>Subject</th><th>From</th><th>Received</th><th>Kind</th></tr>"
    "</thead>"
)


def _letter(row: Mapping[str, str]) -> str:
    return (
        f'<tr class="letter" data-id="{row["number"]}"><td class="number">{row["number"]}</td><td'
        f' class="subject"><a href="/letter/{row["number"]}">{escape(row["subject"])}</a></td><td'
        f' class="sender">{escape(row["sender"])}</td><td'
        f' class="received">{row["received"]}</td><td class="kind">{row["kind"]}</td></tr>'
    )


def letter(number: str) -> str | None:
    """One letter, or None where there is none of that number."""
    by_number = {row["number"]: row for row in ROWS}
    if number not in by_number:
        return None
    row = by_number[number]
    facts = ""
    for name, value in row.items():
        facts += f"<dt>{name.title()}</dt><dd>{escape(value)}</dd>"
    return page(
        row["subject"],
        f'<dl class="card">{facts}</dl><p><a href="/list">Back to the letters</a></p>',
    )


def form(problem: str = "") -> str:
    """The form that is filled once for each letter."""
    alert = _alert(problem)
    kinds = "".join(f"<option>{kind}</option>" for kind in KINDS)
    return page(
        "Register a letter",
        f'{alert}<form method="post" action="/form" class="card narrow">'
        '<label for="subject">Subject</label><input id="subject" name="subject" required>'
        '<label for="sender">From</label><input id="sender" name="sender" required>'
        f'<label for="kind">Kind</label><select id="kind" name="kind">{kinds}</select>'
        '<label for="note">Note</label><textarea id="note" name="note" rows="3"></textarea>'
        '<label class="line"><input type="checkbox" name="urgent" value="yes"> Urgent</label>'
        '<button id="save" data-testid="save">Register</button></form>',
    )


def registered_letters(rows: Sequence[Mapping[str, str]], *, new: bool) -> str:
    """What was registered so far."""
    status = ""
    if new and rows:
        newest = escape(rows[-1]["subject"])
        status = f'<p role="status" class="status">Registered: {newest}</p>'
    body = "".join(_registered_row(row) for row in rows)
    head = "<thead><tr><th>Subject</th><th>From</th><th>Kind</th><th>Note</th></tr></thead>"
    return page(
        "Registered",
        f'{status}<table id="sent"><caption>{len(rows)}'
        f' registered</caption>{head}<tbody>{body}</tbody></table><p><a href="/form">Register'
        " another</a></p>",
    )


def _registered_row(row: Mapping[str, str]) -> str:
    return (
        f'<tr><td class="subject">{escape(row["subject"])}</td><td'
        f' class="sender">{escape(row["sender"])}</td><td'
        f' class="kind">{escape(row.get("kind", ""))}</td><td'
        f' class="note">{escape(row.get("note", ""))}</td></tr>'
    )


def tides() -> str:
    """What the popup shows."""
    rows = "<li>04:12 high water</li><li>10:31 low water</li>"
    close = '<button onclick="window.close()">Close</button>'
    return page("Tide table", f"<ul>{rows}</ul>{close}", signed_in=False)
