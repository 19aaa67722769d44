"""What texts name: behind labels, in links and in code."""

from __future__ import annotations

import pytest

from foreword.sources.references import Reference, references_in


def names(text: str) -> list[tuple[str, str]]:
    return [(named.kind, named.name) for named in references_in(text)]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("> **Adopt persona:** relecteur", [("persona", "relecteur")]),
        (
            "**Adopt personas:** relecteur, personas/b.md.",
            [("persona", "relecteur"), ("persona", "personas/b.md")],
        ),
        ("Persona: ./b.md", [("persona", "./b.md")]),
        ("- Invoke panel: `code-review`", [("panel", "code-review")]),
        (
            "Prompt: [this one](../plan.md#top) and `other`",
            [("prompt", "../plan.md"), ("prompt", "other")],
        ),
        ("Panel: rock-and-roll & jazz", [("panel", "rock-and-roll"), ("panel", "jazz")]),
        ("Invoke prompt: none", []),
        ("Prompt: ask everyone what it is that they want", []),
        ("See `a/b.md` and [c](d.md), not c.md", [("", "a/b.md"), ("", "d.md")]),
        ("The persona: relecteur", []),
    ],
)
def test_a_line_names_documents(line: str, named: list[tuple[str, str]]) -> None:
    assert names(f"words\n{line}\n") == named


def test_only_adopting_and_invoking_tells_to_and_places_are_offsets() -> None:
    text = "Adopt persona: a\n\nPersona: `b`\n"
    assert list(references_in(text)) == [
        Reference(at=15, name="a", kind="persona", is_directive=True, is_path=False),
        Reference(at=27, name="b", kind="persona", is_directive=False, is_path=False),
    ]


def test_fenced_code_names_nothing() -> None:
    assert names("```\nAdopt persona: a\n`b/c.md`\n```\n") == []
