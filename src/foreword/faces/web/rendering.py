"""Templates to pages: one environment that escapes everything, and how numbers, times and Markdown
read.

In Markdown, HTML is shown as text, pictures are their words, links lead to other sites alone and
pass nothing on. No style is written into an element, since the policy of the page forbids it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from foreword.faces.web import addresses, glossary
from foreword.pattern import lazy_pattern
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


TEMPLATES = Path(__file__).parent / "templates"
STATUSES = {  # of a task: how people read it
    "pending": "Pending",
    "in_progress": "In progress",
    "completed": "Completed",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
# the part that each colour of the style sheet is for; the last is for parts of other recipes
HUES = (
    "system_prompt",
    "current_plan",
    "workflow_snapshot",
    "workflow_variables",
    "browser_state",
    "conversation_history",
    "tool_definitions",
    "",
)
_STATUSES = lazy_pattern(rf"\b({'|'.join(STATUSES)}) -> ({'|'.join(STATUSES)})$")
_UNITS = (
    (86_400 * 365, "year"),
    (86_400 * 30, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
)

# Levels of lists and quotations; deeper ones are shown as text. A page is not read beyond that.
DEEPEST = 12
LINK_SCHEMES = ("http://", "https://")


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template filled in; it can't be kept by anything in between, for it shows what is true
    now."""
    text = environment().get_template(template).render(values)
    body = text.encode("utf-8", "replace")  # half characters can be kept, and not be sent
    return HTMLResponse(body, status, headers={"Cache-Control": "no-store"})


@cache
def environment() -> Environment:
    """The templates with their filters."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "tokens": tokens,
        "short": short,
        "percent": percent,
        "ago": ago,
        "utc": utc,
        "many": quantity,
        "words": words,
        "signed": signed_number,
        "hue": hue,
        "arrows": arrows,
        "piece": addresses.piece,
        "shell": shlex.quote,
        "status": STATUSES.__getitem__,
        "why": why,
        "markdown": html,
    }
    made.globals |= {
        "session_at": addresses.session,
        "checkpoint_at": addresses.checkpoint,
        "statuses": STATUSES,
        "release": version("foreword"),
        "glossary": glossary,
    }
    return made


def hue(part: str, place: int) -> str:
    """The colour of a part: those of a conversation have their own in every recipe, others by
    where they stand."""
    number = HUES.index(part) if part in HUES else place % len(HUES)
    return f"part-{number + 1}"


def arrows(line: str) -> str:
    """A difference as people read it: statuses in words, and no line ends inside an arrow."""
    text = _STATUSES.sub(lambda found: found[0].replace("_", "\u00a0"), line)
    return text.replace(" -> ", " \u2192 ")


def why(reason: str) -> str:
    """Why something was left out, without the compressor's own name for how it works."""
    return reason.replace("compressed (extract)", "summed up by the built-in compressor")


def tokens(count: int) -> str:
    """`12,345`."""
    return f"{count:,}"


def signed_number(count: int) -> str:
    """`+1,200`, `−40` or `0`."""
    return f"{count:+,}".replace("-", "\u2212") if count else "0"


def short(count: int) -> str:
    """`180K`, `1.4K`, `950`."""
    for size, unit in ((1_000_000, "M"), (1_000, "K")):
        if count >= size:
            number = f"{count / size:.1f}" if count < 100 * size else f"{count / size:.0f}"
            return number.removesuffix(".0") + unit
    return str(count)


def percent(share: float | None) -> str:
    """`87%`, with a decimal where it matters."""
    if share is None:
        return "\u2013"
    if 0 < share < 0.001:
        return "<0.1%"
    needs_decimal = share < 0.1 or 0.99 <= share < 1
    text = f"{share:.1%}" if needs_decimal else f"{share:.0%}"
    return text.replace(".0%", "%")


def words(name: str) -> str:
    """`conversation_history` as people read it."""
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def utc(stamp: str) -> str:
    """A time of the store to the second."""
    return stamp[:19].replace("T", " ")


def ago(stamp: str) -> str:
    """How long ago a time of the store is."""
    try:
        then = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    if then.tzinfo is None:
        then = then.replace(tzinfo=UTC)
    seconds = (datetime.now(UTC) - then).total_seconds()
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{quantity(int(seconds // size), unit)} ago"
    return "just now"


def shares(sizes: Mapping[str, int], whole: int) -> list[tuple[str, int, float, float]]:
    """Each part of a whole: its name, its size, where it begins and how wide it is, in
    hundredths of the whole."""
    bars = list[tuple[str, int, float, float]]()
    begin = 0
    for name, size in sizes.items():
        bars.append((name, size, _hundredths(begin, whole), _hundredths(size, whole)))
        begin += size
    return bars


def _hundredths(size: int, whole: int) -> float:
    return round(100 * size / max(1, whole), 3)


def html(text: str) -> Markup:
    """The text as HTML that is safe to be put into a page."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        _make_safe(token)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "breaks": True, "maxNesting": DEEPEST}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = _is_web_address  # type: ignore[method-assign]
    return parser


def _is_web_address(url: str) -> bool:
    return url.lower().startswith(LINK_SCHEMES)


def _make_safe(token: Token) -> None:
    """Take styles out of a token, and let its links tell other sites nothing."""
    token.attrs.pop("style", None)
    if token.type == "link_open":
        token.attrs |= {"rel": "noopener noreferrer nofollow", "target": "_blank"}
    if token.tag in ("h1", "h2", "h3") and token.type.startswith("heading"):
        # the page has its own headings of these levels
        token.tag = "h4"
    children: Sequence[Token] = token.children or ()
    for child in children:
        _make_safe(child)
