"""A source of the wrong shape is an error in words, wherever it is wrong."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foreword
from foreword.errors import BadSource, ForewordError
from foreword.recipe.load import load
from foreword.sources import json_state
from tests.examples import examples

PHASES = [str(phase) for phase in load("phases", Path()).phases]
WHOLE = {
    "system_prompt": "Be exact.",
    "design_document": "# Design",
    "feature": "A queue.",
    "types": "T",
}  # without them, no context
KEYS = (
    "units failures messages name unit status test role content type text id types tests"
    " implementation".split()
)
KEYS += "approved in_progress current user assistant tool tool_calls tool_use tool_result".split()
TEXTS = st.text(st.characters(), max_size=9)  # lone surrogates, too
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | st.sampled_from(KEYS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("unit", [5, {"a": 1}, [5], [["a"]], True])
def test_a_failure_that_names_its_unit_oddly_is_told_with_its_place(unit: object) -> None:
    with pytest.raises(BadSource, match=r"state.json: failures\[1\]\.unit: must be text"):
        json_state.members_named_by(
            [{"name": "a"}], [{"unit": "a"}, {"unit": unit}], "state.json", "failures"
        )


@pytest.mark.parametrize("phase", PHASES)
def test_units_of_the_wrong_shape_are_an_error_in_words(tmp_path: Path, phase: str) -> None:
    shapes: list[object] = [5, "text", {"a": 1}, [5], [None], [[]], True]
    for units in shapes:
        assert_only_our_errors({"units": units, "failures": [{"unit": 5}]}, phase, tmp_path)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=examples(25),
    deadline=None,
)
@given(
    data=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=8), phase=st.sampled_from(PHASES)
)
def test_no_json_whatever_is_a_crash(tmp_path: Path, data: dict[str, Any], phase: str) -> None:
    assert_only_our_errors(data, phase, tmp_path)


def assert_only_our_errors(data: dict[str, Any], phase: str, folder: Path) -> None:
    (folder / "state.json").write_text(json.dumps(WHOLE | data))
    with suppress(ForewordError):
        foreword.assemble(
            "phases",
            phase=phase,
            source=folder / "state.json",
            root=folder,
            budget=8_000,
            save=False,
        )
