"""The linter for authors, row by row (SPEC F16): sizes, and marks with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword import lint
from foreword.tokens import counter
from tests.corpus import rows
from tests.docs.pages import save

HEADER = "# P\n\n## Role\n\nx\n\n## Evaluate For\n\ny\n"


def sized(text: str, tokens: int) -> str:
    """The text filled up to so many tokens."""
    count = counter().count
    filled = f"{text}word" + " word" * (tokens - count(f"{text}word"))
    assert count(filled) == tokens
    return filled


def problems_in(root: Path, path: str, text: str) -> list[tuple[str, int, str, str]]:
    save(root, path, text)
    return [
        (one.file, one.line, one.code, one.severity)
        for one in lint.check(root)
        if one.code != "tier-over-budget"
    ]


@pytest.mark.parametrize(
    ("path", "start", "limit", "line", "severity"),
    [
        ("personas/p.md", HEADER, 500, 1, "warning"),
        ("governance/personas/deep/er/p.md", HEADER, 500, 1, "warning"),
        ("instructions.md", "", 200, 1, "warning"),
        ("instructions.md", "", 500, 1, "error"),
        ("instructions/testing.md", "", 500, 1, "warning"),
        ("instructions/governance.md", "", 500, 1, "warning"),
    ],
)
def test_a_file_may_reach_its_limit_and_not_pass_it(
    tmp_path: Path, path: str, start: str, limit: int, line: int, severity: str
) -> None:
    before = problems_in(tmp_path, path, sized(start, limit))
    assert (path, line, "too-large", severity) not in before
    assert (path, line, "too-large", severity) in problems_in(
        tmp_path, path, sized(start, limit + 1)
    )


@pytest.mark.parametrize("opening", ["## Phase 2: Long\n\n", "<!-- PHASE:2 -->\n## Long\n\n"])
def test_a_phase_may_have_a_thousand_tokens(tmp_path: Path, opening: str) -> None:
    marked = opening.startswith("<!--")
    first = "<!-- PHASE:1 -->\na\n<!-- /PHASE:1 -->\n" if marked else "## Phase 1\n\na\n\n"
    body = opening.removeprefix("<!-- PHASE:2 -->\n")
    for tokens, problems in ((1000, []), (1001, ["too-large"])):
        text = (
            first
            + opening
            + sized(body, tokens)[len(body) :]
            + ("\n<!-- /PHASE:2 -->\n" if marked else "\n")
        )
        path = "prompts/workflows/w.md"
        assert problems_in(tmp_path, path, text) == [
            (path, first.count("\n") + 1, code, "warning") for code in problems
        ]


@pytest.mark.parametrize(("text", "line", "code"), rows("documents/linted_marks.jsonl"))
def test_a_broken_mark_is_an_error_with_file_and_line(
    tmp_path: Path, text: str, line: int, code: str
) -> None:
    assert problems_in(tmp_path, "prompts/p.md", text) == [("prompts/p.md", line, code, "error")]
