"""What becomes of a section that has no smaller form."""

from __future__ import annotations

from foreword import tokens
from foreword.engine import forms
from foreword.engine.pipeline import Request, assemble
from foreword.engine.render import Scale
from foreword.messages.message import Message
from foreword.messages.parts import Text
from foreword.section import Budget, Entry, Rule, Section


def test_what_is_never_lost_and_has_no_sentence_that_fits_leaves_its_mark() -> None:
    endless = "The pump " + "and the valve " * 80 + "failed."
    section = Section(tag="step", text=endless, rule=Rule(forms=("full", "summary")))
    request = Request(
        budget=Budget(tokens=80, window_tokens=80), counter=tokens.counter("estimate")
    )
    package = assemble([section], request)
    assert f"tokens left out: foreword recall {section.handle}]" in package.text
    assert "The pump" not in package.text
    (omission,) = package.report.omissions
    assert omission.handle == section.handle


def test_what_an_item_leads_with_has_the_mark_on_its_line_where_that_goes_on() -> None:
    long = "Pump seven sticks in the cold. " + "It was opened twice and closed again. " * 30
    wrapped = "Pump nine is new.\n\n" + "It was opened twice and closed again.\n\n" * 30
    for text, between in ((long, " "), (wrapped, "\n")):
        section = Section(tag="note", text=text, rule=Rule(forms=("full", "lead", "gone")))
        request = Request(
            budget=Budget(tokens=80, window_tokens=80), counter=tokens.counter("estimate")
        )
        opening = text.partition(".")[0]
        assert f"{opening}.{between}[... " in assemble([section], request).text


def test_a_change_without_a_hunk_that_fits_leads_with_its_commit() -> None:
    subject = "Pump seven is opened from the other side, since the valve sticks in the cold"
    body = "    Before, the key was turned twice.\n" * 4
    head = f"commit {'a1' * 20}\nAuthor: Ada <ada@example.org>\n\n    {subject}\n\n{body}\n\n"
    changed = "".join([f"+line {at} of what is new\n" for at in range(200)])
    patch = f"diff --git a/p.md b/p.md\n--- a/p.md\n+++ b/p.md\n@@ -1,0 +1,200 @@\n{changed}"
    rule = Rule(forms=("full", "summary", "gone"), tier=2)
    section = Section(tag="diff", text=f"{head}{patch}", rule=rule)
    scale = Scale(counter=tokens.counter("estimate"), tags=frozenset(), shared_tags=frozenset())
    least = forms.least(section, scale)
    assert least is not None
    assert subject in least.text
    assert least.text.endswith(f"left out: foreword recall {section.handle}]")


def test_the_least_of_a_conversation_fits_where_there_is_exactly_its_room() -> None:
    entries: list[Entry] = []
    for place in range(1_002):
        text = f"Message {place}." if place < 1_001 else "Now."
        message = Message(role="user", parts=(Text(text),))
        entries.append(Entry(text, (message,), pinned=place == 0))
    section = Section(
        tag="messages",
        text="\n".join(entry.text for entry in entries),
        rule=Rule(forms=("full", "newest")),
        entries=tuple(entries),
    )
    scale = Scale(counter=tokens.counter("estimate"), tags=frozenset(), shared_tags=frozenset())
    least = forms.least_entries(section, scale)
    assert least is not None
    best = forms.best(section, forms.units(section, least, scale), scale)
    assert best is not None
    assert "Message 0." in best[0].text
    assert "Now." in best[0].text
