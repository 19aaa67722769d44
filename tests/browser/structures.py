"""Small pages of every structure in which applications put their controls, served on two origins.

Each has controls that are easy to lose: behind slots, wrappers without a box, bodies without a
height, frames in frames. The second origin is another host, so that its frames are another's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What lists of applications have: icons in place of words, signs for pages, few rows and many.
BACK_OFFICE = """
<form action=/out><button>Log out</button></form><table><caption>Accounts</caption>
<tr><th>Groups</th><td><a href=/groups/add>Add</a></td></tr>
<tr><th>Users</th><td><a href=/users/add>Add</a></td></tr></table>
<a href=/users>Users</a><button>Delete all</button>
<select name=action><option>---</option><option>Archive what is ticked</option></select>
<table><tbody>{rows}</tbody></table>
<details><summary>By pier</summary>North</details><details><summary>By flag</summary>Red</details>
<style>summary::before { content: '* ' }</style>
<p><a href=?p=1>1</a> <a href=?p=2>2</a> <a href=?p=2>&#8250;</a></p>
"""
BOAT = """<tr><td><input type=checkbox aria-label="Tick it">Boat {number}</td><td>
<button data-testid=go title="Run"><i class="fa fa-play"></i></button>
<button><i class="material-icons" aria-hidden=true>delete</i></button></td></tr>"""
SLOTS = """
<x-card><button slot=actions>Slotted action</button><a href=/a>Default slot link</a>
<span>Words in the slot</span></x-card><x-card><i>no action</i></x-card>
<script>
customElements.define('x-card', class extends HTMLElement { constructor() { super();
  this.attachShadow({mode: 'open'}).innerHTML = '<section><slot></slot><x-bar><slot name=actions>'
    + '<button>Fallback action</button></slot></x-bar><input aria-label="Inner field">'
    + '</section>' } })
customElements.define('x-bar', class extends HTMLElement { constructor() { super();
  this.attachShadow({mode: 'open'}).innerHTML
    = '<div style="display:contents"><slot></slot></div>' } })
</script>"""
CONTENTS = """
<div style="display:contents"><main style="display:contents"><h1 style="display:contents">Wrapped
</h1>
<form style="display:contents"><label style="display:contents">Title <input name=title></label>
<button>Keep it</button></form>Loose words</main></div>"""
NO_HEIGHT = """
<style>html, body {height: 0; margin: 0; overflow: hidden}</style>
<div id=app style="position:absolute; inset:0; width:600px; height:400px"><nav><a href=/x>Way out
</a></nav>
<div style="height:0; overflow:hidden"><div style="position:absolute; top:50px">
<button>Lifted out</button></div></div>
<input type=checkbox aria-label="Agree"><select aria-label="Colour"><option>Red<option>Blue
</select></div>"""
ROLES = """
<div role=tablist><div role=tab aria-selected=true tabindex=0>First tab</div>
<div role=tab>Second tab</div></div>
<div role=menu><div role=menuitem>Cut</div><div role=menuitemcheckbox aria-checked=true>Wrap
</div></div>
<ul role=listbox aria-label=Sizes><li role=option>Small</li><li role=option>Large</li></ul>
<div role=tree><div role=treeitem>Branch</div></div><span role=switch aria-checked=false>Dark
</span>
<span id=l1>Billing</span> <span id=l2>address</span><input aria-labelledby="l1 l2">
<button aria-label="Close the window">x</button><button><img alt="Print" src=data:,></button>
<button><svg width=10 height=10><title>Draw</title></svg></button>
<input type=image alt="Go there" src=data:,>
<label>Amount <input type=number value=3></label><input type=range aria-label=Volume>
<input type=search placeholder="Find it">
<input type=file aria-label="Attachment"><input type=password placeholder=Secret>
<input type=submit value="Hand it in"><textarea title="Remarks"></textarea>
<button disabled>Not now</button><fieldset disabled><button>Nor this</button></fieldset>
<a>No link</a><a href=#top>To the top</a>
<select multiple aria-label=Several><option>one<option>two</select>
<button role=presentation>Still a button</button>"""
ICONS = """
<style>.glyph::before {content: "\\e001"} .star::after {content: " *"}</style>
<button><i class=glyph></i> Save all</button><button class="fa-trash glyph"></button><button>
<i class="icon-gear"></i></button>
<label class=star for=f>Given name</label><input id=f>"""
TWINS = """
<table><tr><th>User</th><th>Do</th></tr><tr><td>Ada Lovelace</td><td><button>Remove</button></td>
</tr>
<tr><td>Grace Hopper</td><td><button>Remove</button></td></tr></table>
<section aria-label=Billing><button>Edit</button></section><section aria-label=Shipping>
<button>Edit</button></section>
<h2>Morning</h2><div><button>Book</button></div><h2>Evening</h2><div><button>Book</button>
</div>"""
FRAMES = """<h1>Outer</h1><iframe title=Inner src="/roles" width=600 height=400></iframe>
<iframe name=other src="{other}/nested" width=600 height=400></iframe>
<iframe src="/contents" style="display:none"></iframe>"""
NESTED = """<button>In the first frame</button>
<iframe title=Deep src="/slots" width=400 height=200></iframe>"""
FORM = """<form aria-label="Sign in to the harbour"><div class=row><label>User name
<input name=user></label></div>
<div class=row><label>Password <input name=word type=password></label></div><div class=row>
<label>Pier <input name=pier></label></div>
<div class=row><label>Berth <input name=berth></label></div><div class=row><label>Flag
<input name=flag></label></div>
<button>Log in</button></form><nav><a href=/help>Help with passwords</a></nav>
<form aria-label=People><label>Full name <input name=full></label><button>Create</button>
<button type=reset>Cancel</button></form>
<div>{lines}</div><ol>{items}</ol>"""
DIALOG = """<button>Behind one</button><button>Behind two</button><a href=/z>Behind three</a>
<dialog aria-label="Delete the berth"><button>Yes, delete</button></dialog>
<script>document.querySelector('dialog').showModal()</script>"""
LOADING = """<h1>Board</h1><div aria-busy=true style="width:300px;height:300px">...</div>"""
LATE = """<div id=app></div><script>
setTimeout(() => { app.innerHTML = '<button>Arrived</button>' }, 400)</script>"""


@dataclass(frozen=True, slots=True)
class Structures:
    """Where the pages are."""

    url: str
    other: str  # the same server by another name: another origin


def pages(other: str) -> dict[str, str]:
    """Every page by its path."""
    lines = "".join('<div class="line" style="height:1px"></div>' for _ in range(6))
    boats = "".join(
        BOAT.replace("{number}", number) for number in "one two three four five".split()
    )
    ships = range(60)
    items = "".join(f"<li>Ship {ship} <a href=/ship/{ship}>Open</a></li>" for ship in ships)
    return {
        "/slots": SLOTS,
        "/contents": CONTENTS,
        "/no-height": NO_HEIGHT,
        "/roles": ROLES,
        "/icons": ICONS,
        "/twins": TWINS,
        "/back-office": BACK_OFFICE.replace("{rows}", boats),
        "/frames": FRAMES.replace("{other}", other),
        "/nested": NESTED,
        "/form": FORM.replace("{lines}", lines).replace("{items}", items),
        "/dialog": DIALOG,
        "/loading": LOADING,
        "/late": LATE,
    }


@contextmanager
def structures() -> Iterator[Structures]:
    """Serve the pages while they are needed."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            other = f"http://localhost:{self.connection.getsockname()[1]}"
            body = pages(other).get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            head = '<!doctype html><html lang=en><link rel=icon href="data:,"><title>Page</title>'
            self.wfile.write(f"{head}{body or 'nothing'}".encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        try:
            yield Structures(f"http://127.0.0.1:{port}", f"http://localhost:{port}")
        finally:
            server.shutdown()
