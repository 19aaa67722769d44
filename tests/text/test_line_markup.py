"""AsciiDoc and Org: what stands under a title stays under it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks import form_checks
from foreword.text import cut, line_markup
from foreword.text.content_type import content_type
from tests.text.smaller_forms import mark

SENTENCES = [
    "The kiln is lit at six, and nobody opens it before noon.",
    "Glazes are mixed by weight; a spoon is no measure.",
    "Shelves carry forty kilograms each, and not one more.",
    "Cones are read through the lower hole, with dark glasses on.",
]
TITLES = ["Firing", "Glazes", "Shelves", "Cones"]
# A title, what stands above all of them, and a block that is closed by a line of its own.
LANGUAGES = {
    "kiln.adoc": ("= Kilns\n\n", "== {}\n", "[source]\n----\nlight {}\nwait\n----\n"),
    "kiln.org": ("* Kilns\n", "** {}\n", "#+BEGIN_SRC sh\nlight {}\nwait\n#+END_SRC\n"),
}
FORMS = [cut.summary, cut.relevant, cut.excerpt]


def document(name: str) -> str:
    above, title, block = LANGUAGES[name]
    parts = [above.format()]
    for topic, sentence in zip(TITLES, SENTENCES, strict=True):
        parts.append(title.format(topic))
        parts += [f"{sentence}\n\n", f"{block.format(topic.lower())}\n"]
    return "".join(parts)


@pytest.mark.parametrize("name", LANGUAGES)
def test_titles_rank_as_their_signs_say_and_blocks_are_whole(name: str) -> None:
    text = document(name)

    found = line_markup.blocks(text, content_type(text, name))

    titles = [block for block in found if block.kind == "heading"]
    assert len(titles) == 1 + len(TITLES)
    assert {titles[0].level < title.level for title in titles[1:]} == {True}
    assert len({title.level for title in titles[1:]}) == 1
    code = [text[block.start : block.end] for block in found if block.kind == "code"]
    assert [topic.lower() in body for topic, body in zip(TITLES, code, strict=True)] == [True] * 4
    assert "".join(text.split()) == "".join(
        "".join(text[block.start : block.end].split()) for block in found
    )


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("form_of", FORMS)
def test_no_sentence_stands_under_a_title_that_was_not_its_own(
    name: str, form_of: Callable[..., str | None]
) -> None:
    text = document(name)
    whole = form_checks.Document(text, content_type(text, name))
    forms = 0
    for room in range(140, len(text), 17):
        form = form_of(text, room, len, mark, query="how much does a shelf carry", name=name)
        if form is None:
            continue
        forms += 1
        assert list(form_checks.findings(whole, form, room)) == []
        _, title, _ = LANGUAGES[name]
        has_titles = any(title.format(topic) in form for topic in TITLES)
        for topic, sentence in zip(TITLES, SENTENCES, strict=True):
            if has_titles and sentence in form:
                assert title.format(topic) in form
    assert forms > 5


def test_a_title_of_asciidoc_may_have_a_line_of_signs_below_it() -> None:
    text = "Kilns\n=====\n\nFiring\n------\nHot.\n\n----\nlight it\n----\n\nGlazes\n------\nWet.\n"

    found = line_markup.blocks(text, "asciidoc")

    assert [(block.kind, block.level) for block in found] == [
        ("heading", 1),
        ("heading", 2),
        ("paragraph", 0),
        ("code", 0),
        ("heading", 2),
        ("paragraph", 0),
    ]
