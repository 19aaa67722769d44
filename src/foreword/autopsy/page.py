"""One compaction as a page of its own: what stood before, the summary, what was needed later and
whether it was there, what was invented, what Foreword would have kept.

One file without scripts and without anything from elsewhere, readable by its owner only; secrets
are hidden.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from foreword.autopsy.aftermath import Aftermath
from foreword.autopsy.autopsy_findings import CompactionFinding, Loss, SessionFinding
from foreword.compression.check import check_against, evidence_of, mark_unproven
from foreword.messages.message import Message
from foreword.secrets.masking import mask

LONGEST_MESSAGE = 2_000  # characters of each message that the page shows
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem;
  color: #1d2733; background: #fbfbf9 }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #fff; border: 1px solid #d8d8d2;
  border-radius: 6px; padding: .8rem; font: 13px/1.45 ui-monospace, monospace }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25rem .6rem;
  border-bottom: 1px solid #e4e4de; overflow-wrap: anywhere; vertical-align: top }
.lost { color: #8a2f1b } .kept { color: #1f6b3a } mark { background: #fbe3b3 }
@media (prefers-color-scheme: dark) { body { color: #e4e7ea; background: #16191d }
  pre { background: #1d2126; border-color: #333a42 } td, th { border-color: #2b3138 }
  .lost { color: #f0a58f } .kept { color: #8ed1a5 } mark { background: #5b4713; color: inherit } }
"""


def page(aftermath: Aftermath, session: SessionFinding) -> str:
    """The page of a compaction."""
    found = aftermath.finding()
    title = f"Compaction {found.number} of {session.agent} {session.name}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(_words(found))}</p>",
        "<h2>Needed later and not in the summary</h2>",
        _losses(found),
        "<h2>The summary that was written</h2>",
        f"<pre>{_marked_summary(aftermath)}</pre>",
        "<h2>What it says and nobody had said</h2>",
        _list(found.invented, "Nothing: everything that can be looked up is there."),
        "<h2>What Foreword makes of the same messages at the same size</h2>",
        f"<pre>{escape(mask(aftermath.foreword_text()))}</pre>",
        "<h2>Before</h2>",
        "".join(map(_message, aftermath.before)),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"{''.join(body)}</body></html>\n"
    )


def write_page(text: str) -> Path:
    """Put the page into the user's cache folder, in place of the one before."""
    from foreword.store import private
    from foreword.store.locations import cache_folder

    path = cache_folder() / "autopsy.html"
    private.make_folder(path.parent)
    private.write_file(path, text.encode("utf-8", "replace").decode())
    return path


def _words(found: CompactionFinding) -> str:
    return (
        f"{found.tokens_before:,} tokens became a summary of {found.summary_tokens:,}. Of"
        f" {found.needed:,} names that were used again, it has {found.kept:,}; Foreword's text of"
        f" the same size has {found.foreword_kept:,}. {found.reread_tokens:,} tokens were read"
        " again."
    )


def _losses(found: CompactionFinding) -> str:
    if not found.losses:
        return "<p>Nothing.</p>"
    rows = "".join(map(_loss, found.losses))
    return f"<table><tr><th>what<th>kind<th>restored<th>found again</tr>{rows}</table>"


def _loss(loss: Loss) -> str:
    restored = '<td class="kept">yes' if loss.restored else '<td class="lost">no'
    again = "by a tool" if loss.found_again else "no"
    return f"<tr><td>{escape(loss.text)}<td>{loss.kind}{restored}<td>{again}</tr>"


def _marked_summary(aftermath: Aftermath) -> str:
    """The summary with a mark behind everything that is unproven."""
    summary = mask(aftermath.compaction.summary)
    checked = check_against(summary, evidence_of(aftermath.before))
    marked = escape(mark_unproven(summary, checked))
    return marked.replace("[unproven]", "<mark>[unproven]</mark>")


def _list(texts: tuple[str, ...], nothing: str) -> str:
    if not texts:
        return f"<p>{escape(nothing)}</p>"
    return f"<ul>{''.join(f'<li>{escape(text)}' for text in texts)}</ul>"


def _message(message: Message) -> str:
    text = mask(message.text[:LONGEST_MESSAGE])
    more = " ..." if len(message.text) > LONGEST_MESSAGE else ""
    who = "summary" if message.kind == "summary" else message.role
    return f"<p>{escape(who)}</p><pre>{escape(text)}{more}</pre>" if text.strip() else ""
