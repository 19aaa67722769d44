"""Who sits on a panel, read from the ways people write it down."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    "item",
    [
        "Code Reviewer",
        "**Code Reviewer**: does it work?",
        "Code Reviewer - does it work?",
        "Code Reviewer (the first to speak)",
        "[Code Reviewer](../engineering/code-reviewer.md)",
        "[Code Reviewer](../engineering/code-reviewer.md#role): does it work?",
        "[ ] Code Reviewer",
    ],
)
@pytest.mark.parametrize("mark", ["-", "*", "1."])
def test_a_persona_is_listed_by_name_link_or_path(item: str, mark: str) -> None:
    panel = read(
        f"# Round Table: Review\n\nProse.\n\n## Participants\n\n{mark} {item}\n{mark} Security"
        " Auditor\n"
    )
    assert names(panel) == ["Code Reviewer", "Security Auditor"]
    assert panel.title == "Review"
    assert panel.members[0].source == "engineering/code-reviewer.md"


@pytest.mark.parametrize(
    "item", ["`engineering/code-reviewer`", "engineering/code-reviewer", "`code-reviewer`: reads"]
)
def test_a_path_or_a_word_in_code_is_a_name(item: str) -> None:
    panel = read(f"# Review\n\n## Personas\n\n- {item}\n")
    assert names(panel) == ["code-reviewer"]
    assert panel.missing == ()


def test_personas_may_be_named_by_headings_tables_and_front_matter() -> None:
    link = "See [it](../engineering/code-reviewer.md)."
    by_heading = read(
        f"# Review\n\n## Members\n\n### 1. Code Reviewer\n\n{link}\n\n### Security Auditor\n"
    )
    by_table = read(
        "# Review\n\n| Persona | File |\n|---|---|\n| Code Reviewer | `engineering/code-reviewer`"
        " |\n| Security Auditor | |\n"
    )
    by_field = read("---\npersonas: [Code Reviewer, {name: Security Auditor}, 7]\n---\n# Review\n")
    assert (
        names(by_heading)
        == names(by_table)
        == names(by_field)
        == ["Code Reviewer", "Security Auditor"]
    )


def test_without_a_heading_for_them_links_to_files_are_the_members() -> None:
    panel = read(
        "# Review\n\n- look closely\n- [Code Reviewer](../engineering/code-reviewer.md)\n- say"
        " why\n"
    )
    assert (names(panel), panel.missing) == (["Code Reviewer"], ())


def test_a_persona_that_is_nowhere_is_named_and_the_others_stand() -> None:
    panel = read("## Participants\n\n- Code Reviewer\n- Poet\n- [Juggler](../circus/juggler.md)\n")
    assert names(panel) == ["Code Reviewer"]
    assert panel.missing == ("Poet", "Juggler")


HEADINGS = """# Review

## Participants

### 1. Code Reviewer
Looks at what runs.

### 2. {second}
Looks at {what}.
"""


@pytest.mark.parametrize("what", ["who gets in", "`compliance/security-auditor.md`"])
def test_a_member_by_heading_is_its_file_with_the_words_under_it_as_focus(what: str) -> None:
    panel = read(HEADINGS.format(second="Security Auditor", what=what))
    assert names(panel) == ["Code Reviewer", "Security Auditor"]
    assert panel.members[0].text.endswith("md\n\nFocus: Looks at what runs.")
    assert panel.members[1].source == "compliance/security-auditor.md"


@pytest.mark.parametrize("what", ["the bill", "`compliance/gone.md`"])
def test_a_member_by_heading_whose_file_is_gone_is_missed(what: str) -> None:
    panel = read(HEADINGS.format(second="Cost Analyst", what=what))
    assert (names(panel), panel.missing) == (["Code Reviewer"], ("Cost Analyst",))


def test_where_no_member_has_a_file_the_words_under_the_headings_are_who_they_are() -> None:
    panel = read("# A\n\n## Reviewers\n\n### Potter\nThe clay.\n\n### Firer\nThe heat.\n")
    assert [(one.name, one.source) for one in panel.members] == [
        ("Potter", "review.md"),
        ("Firer", "review.md"),
    ]
    assert "The heat." in panel.members[1].text


def test_a_heading_without_a_role_beside_members_with_one_is_named_as_unclear() -> None:
    perspectives = "### Potter\n\n**Role:** the clay.\n\n### Scoring\n\nFrom 1 to 5.\n"
    panel = read(f"# A\n\n## Perspectives\n\n{perspectives}")
    assert (names(panel), panel.missing, panel.unclear) == (["Potter"], (), ("Scoring",))


def test_a_persona_listed_twice_sits_once() -> None:
    panel = read(
        "## Participants\n\n- Code Reviewer\n- `engineering/code-reviewer`\n- Code Reviewer\n"
    )
    assert names(panel) == ["Code Reviewer"]


def test_perspectives_come_with_their_own_text() -> None:
    panel = read(
        "# Review: Ships\n\n## Perspectives\n\n### 1. Captain\n\n**Role:** Steers.\n\n**Evaluate"
        " For:**\n- course\n\n---\n\n### 2. Cook\n\n#### Role\n\nFeeds.\n\n---\n\n### What everyone"
        " checks\n\nThe weather.\n\n## Process\n\n- Talk\n"
    )
    assert names(panel) == ["Captain", "Cook"]
    assert (
        panel.members[0].text
        == "### 1. Captain\n\n**Role:** Steers.\n\n**Evaluate For:**\n- course"
    )
    assert panel.members[0].source == "review.md"


def test_participants_in_tables_are_told_apart_by_their_group() -> None:
    table = "| Participant | Focus |\n|---|---|\n| Auditor | {} |\n| {} | I/O and GDPR/privacy |\n"
    panel = read(
        "# Review\n\n## Review Tracks and Participants\n\n### Track 1: Deck\n**Lead:** Someone\n\n"
        + table.format("sails", "Captain")
        + "\n### Track 2: Hold\n\n"
        + table.format("cargo", "Cook")
        + "\n## Output\n\n### Per Participant\n\n- Name\n"
    )
    assert names(panel) == ["Auditor (Deck)", "Captain", "Auditor (Hold)", "Cook"]
    assert panel.missing == ()
    assert "Auditor in the track Deck." in panel.members[0].text
    assert "I/O and GDPR/privacy" in panel.members[1].text


def test_one_persona_may_sit_twice_with_another_focus_each_time() -> None:
    table = "### Track {}: {}\n\n| Participant | Focus |\n|---|---|\n| Code Reviewer | {} |\n\n"
    panel = read(
        "# R\n\n## Participants\n\n"
        + table.format(1, "Deck", "sails")
        + table.format(2, "Hold", "cargo")
    )
    assert names(panel) == ["Code Reviewer (Deck)", "Code Reviewer (Hold)"]
    assert [member.text.splitlines()[-1] for member in panel.members] == [
        "Focus: sails",
        "Focus: cargo",
    ]


def test_a_persona_on_its_own_is_a_panel_of_one() -> None:
    panel = read("# Persona: Captain\n\n## Role\n\nSteers.\n")
    assert names(panel) == ["Captain"]


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
                "**Role:** x",
                "- b",
                "| Persona | x |",
                "|---|---|",
                "| c | d |",
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
