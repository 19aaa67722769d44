"""Data given in Python in place of a file is read as data, and errors say what the caller wrote."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import foreword
from foreword.errors import BadSource


def package(root: Path, source: Any) -> foreword.Package:
    return foreword.assemble("package", root=root, purpose="design", source=source, save=False)


def phase(root: Path, source: Any) -> foreword.Package:
    return foreword.assemble("phases", root=root, phase="implementation", source=source, save=False)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"items": [{"text": "a"}, {"text": 5}]}, "items[1].text: must be text, not a number"),
        ([{"text": b"a"}], "[0].text: must be plain data, not bytes"),
        ({"items": {"text": "a"}}, "items: must be a list, not an object"),
        ({"items": [{"text": object()}]}, "items[0].text: must be plain data, not object"),
        ({"items": [{"text": {1.5: "a"}}]}, "items[0].text: the key 1.5: must be plain data"),
        ((5, "b"), "items[0]: must be an object or a text, not a number"),
    ],
)
def test_an_error_names_the_place_in_the_data_and_the_type_that_was_given(
    tmp_path: Path, data: object, problem: str
) -> None:
    with pytest.raises(BadSource) as caught:
        package(tmp_path, data)
    assert str(caught.value).startswith(f"source: {problem}")
    assert "standard input" not in caught.value.hint


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"units": "pump"}, "units: must be a list, not text"),
        ({"units": [{"name": "pump"}, 7]}, "units[1]: must be a mapping, not a number"),
        ([{"name": "pump"}], "must be a JSON object, not a list"),
        ({"units": [{"name": "pump", "status": "current"}], "messages": "Hi"}, "messages: must be"),
    ],
)
def test_state_that_is_wrong_is_called_the_source(
    tmp_path: Path, data: object, problem: str
) -> None:
    if isinstance(data, dict):
        data = {"system_prompt": "Build.", "design_document": "Berths", "types": "Berth", **data}
    with pytest.raises(BadSource) as caught:
        phase(tmp_path, data)
    assert str(caught.value).startswith(f"source: {problem}")


def test_data_that_holds_itself_is_refused(tmp_path: Path) -> None:
    data: dict[str, object] = {}
    data["items"] = [data]
    with pytest.raises(BadSource, match="source: it is nested too deeply, or holds itself"):
        package(tmp_path, data)


def test_data_makes_the_context_that_the_same_in_a_file_makes(tmp_path: Path) -> None:
    items = [
        {"kind": "decision", "title": "Tides", "text": "Boats wait.", "created": "2026-03-01"},
        {"kind": "task", "text": "Write the berth plan.", "source": "notes/berth.md"},
    ]
    (tmp_path / "items.json").write_text(json.dumps(items))
    given = (
        {**items[0], "created": date(2026, 3, 1)},
        {**items[1], "source": PurePosixPath("notes/berth.md")},
    )
    assert package(tmp_path, given).text == package(tmp_path, tmp_path / "items.json").text
    unnamed = package(tmp_path, items[:1]).report.to_dict()["sections"]
    assert [row["source"] for row in unnamed] == ["source items[0]"]
