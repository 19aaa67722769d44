"""The fields of a state file, however it is written."""

from __future__ import annotations

import pytest

from foreword.sources.locate import field_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("**Current step:** PDF generation", "PDF generation"),
        ("- current step : `02-pdf`  \r\nother: x", "02-pdf"),
        ("# State\n\n> Current step: 3 (of 5)!", "3 (of 5"),
        ("Current step:\nNext: x", ""),
        ("Current step: --\nCurrent step: 4", "4"),
        ("The current step: x", ""),
        ("", ""),
    ],
)
def test_a_field_is_read_from_its_own_line(text: str, value: str) -> None:
    assert field_of(text, "Current step") == value


@pytest.mark.parametrize("filler", ["\n", "-", " \n", "x -", "Current step", "Current step:\n"])
def test_a_long_state_file_costs_no_time(filler: str) -> None:
    assert field_of(filler * 200_000 + "\nCurrent step: 4" + "!" * 200_000, "Current step") == "4"
