"""JSON as parts of a call are written: the same text as the standard library's."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from foreword.plan.indented_json import indented_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_it_is_what_the_standard_library_writes(value: object) -> None:
    assert indented_json(value) == json.dumps(value, indent=1, ensure_ascii=False)
    inside = json.dumps([value], indent=1, ensure_ascii=False)
    assert f"[\n {indented_json(value, level=1)}\n]" == inside
