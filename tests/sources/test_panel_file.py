"""Who sits on a panel, by the names in its front matter or its one list."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.errors import BadSource
from foreword.review.panel import Panel
from foreword.sources.panel_file import MOST_MEMBERS, read_panel

KNOWN = {
    "Code Reviewer": "engineering/code-reviewer.md",
    "code-reviewer": "engineering/code-reviewer.md",
    "../engineering/code-reviewer.md": "engineering/code-reviewer.md",
    "engineering/code-reviewer": "engineering/code-reviewer.md",
    "Security Auditor": "compliance/security-auditor.md",
    "compliance/security-auditor.md": "compliance/security-auditor.md",
}


def read(text: str) -> Panel:
    def find(name: str) -> tuple[str, str] | None:
        path = KNOWN.get(name)
        return (path, f"# Persona: {path}") if path else None

    return read_panel(text, "review", "review.md", find)


def names(panel: Panel) -> list[str]:
    return [member.name for member in panel.members]


def test_a_persona_is_listed_by_name_link_or_path() -> None:
    for item in (
        "Code Reviewer",
        "**Code Reviewer**: does it work?",
        "[Code Reviewer](../engineering/code-reviewer.md)",
        "[Code Reviewer](../engineering/code-reviewer.md#role): does it work?",
        "`engineering/code-reviewer`",
        "engineering/code-reviewer: reads",
    ):
        panel = read(
            f"# Round Table: Review\n\nProse.\n\n- x\n\n## Participants\n\n- {item}\n"
            "* Security Auditor\n\n## Moderator\n\n- Poet\n"
        )
        assert [name.casefold().replace("-", " ") for name in names(panel)] == [
            "code reviewer",
            "security auditor",
        ]
        assert panel.title == "Review"
        assert panel.members[0].source == "engineering/code-reviewer.md"
        assert panel.missing == ()


def test_front_matter_names_personas_of_files_and_of_the_panel_itself() -> None:
    panel = read(
        "---\npersonas: [Captain, 'Code Reviewer', engineering/code-reviewer, Cook: the galley,"
        " {Security Auditor: who gets in}, Poet]\n---\n# Review: Ships\n\n## Perspectives\n\n"
        "### 1. Captain\n\n**Role:** Steers.\n\n---\n\n### 2. Bosun\n\nWhistles.\n"
    )
    assert names(panel) == ["Captain", "Code Reviewer", "Cook", "Security Auditor"]
    assert panel.missing == ("Poet",)
    captain, reviewer, cook, auditor = panel.members
    assert captain.text == "### 1. Captain\n\n**Role:** Steers."
    assert (captain.source, reviewer.source) == ("review.md", "engineering/code-reviewer.md")
    assert "## Evaluate For\n\nthe galley" in cook.text
    assert auditor.text.endswith("security-auditor.md\n\nFocus: who gets in")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("personas: Captain", "must be a list of names"),
        ("personas: [7]", "must be names, or NAME: what it looks at, not 7"),
        ("personas: [{A: b, C: d}]", "must be names"),
        ("personas: [{A: x}, {A: y}]", "names two personas 'A'"),
        ("personas: []", "names no persona"),
        ("personas: [", "front matter is not valid YAML"),
    ],
)
def test_front_matter_in_another_form_is_an_error(fields: str, problem: str) -> None:
    with pytest.raises(BadSource, match=re.escape(problem)) as caught:
        read(f"---\n{fields}\n---\n# Review\n\n## Participants\n\n- Code Reviewer\n")
    assert "personas: [NAME, NAME]" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["", "# Review\n\nProse only.\n", "## Participants\n\nNobody yet.\n", "\x00"]
)
def test_a_panel_on_which_nobody_sits_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(BadSource, match="names no persona") as caught:
        read(text)
    assert "## Participants" in caught.value.hint


def test_a_panel_of_thousands_is_refused() -> None:
    many = "\n".join(f"- Persona {number}" for number in range(5_000))
    with pytest.raises(
        BadSource, match=f"names 5,000 personas; a panel has at most {MOST_MEMBERS}"
    ):
        read(f"## Participants\n\n{many}\n")


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "## Participants",
                "### A",
                "- A",
                "- b: c",
                "",
                "```",
                "---",
                "x",
                "# T",
                "- [d](../e.md)",
            ]
        ),
        max_size=14,
    ).map("\n".join)
)
def test_whatever_the_file_says_members_have_names_that_differ(text: str) -> None:
    try:
        panel = read(text)
    except BadSource:
        return
    assert len(set(names(panel))) == len(panel.members)
    assert all(name.strip() for name in names(panel))
    assert all(member.text.strip() for member in panel.members)
