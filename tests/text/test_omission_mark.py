"""What stands in a text for what was left out: one module writes it, the same everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import foreword
from foreword.text import omission_mark as mark

PACKAGE = Path(foreword.__file__).parent
# A literal with a bracket in front of the words, or a text of nothing but dots in brackets.
MARK_LITERAL = re.compile(r"""["']\[[^"'\]]*\bleft out|["']\[\.\.\.|["']\(binary data left out""")


def test_every_mark_says_what_is_missing_and_how_to_get_it_back() -> None:
    handle = "fw_1"
    assert mark.cut_mark(tokens=1_200, handle=handle, lines=30) == (
        "[... 30 lines, 1,200 tokens left out: foreword recall fw_1]"
    )
    assert mark.cut_mark(tokens=12, handle=handle, lines=1, recall="recall") == (
        "[... 12 tokens left out: recall fw_1]"
    )
    assert mark.missing_mark("3 older entries", handle) == (
        "[3 older entries left out: foreword recall fw_1]"
    )
    assert mark.missing_mark("4 sections", handle, purpose="lists what") == (
        "[4 sections left out: foreword recall fw_1 lists what]"
    )
    assert mark.reference_mark("a.md", tokens=9_000, handle=handle) == (
        "[a.md left out, 9,000 tokens: foreword recall fw_1]"
    )
    assert mark.reference_mark("", tokens=9, handle=handle) == (
        "[left out, 9 tokens: foreword recall fw_1]"
    )
    assert mark.too_large_mark("image png") == "[left out, too large: image png]"
    assert mark.diff_mark("2 of 3 files") == "[... 2 of 3 files left out]\n"
    assert mark.look_up_mark(1_500) == (
        "[about 1,500 tokens left out: look it up again with another `about`]"
    )


def test_marks_are_written_in_one_module() -> None:
    elsewhere = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if MARK_LITERAL.search(path.read_text("utf-8"))
    ]
    assert elsewhere == ["text/omission_mark.py"]
