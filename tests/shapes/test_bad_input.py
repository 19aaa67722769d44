"""Input of any form is read, or refused with its place; it never breaks a reader in another way."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import BadSource
from foreword.message import Message
from foreword.shapes import (
    from_anthropic,
    from_openai,
    from_responses,
    read_messages,
    read_transcript,
    to_anthropic,
    to_openai,
    to_responses,
)
from foreword.shapes.pydantic_ai import from_pydantic_ai_json, to_pydantic_ai_json
from tests.shapes.talk import SCALARS

NAMES = [
    *(
        "text image thinking redacted_thinking tool_use tool_result image_url input_text output_text input_image"
    ).split(),
    *("message reasoning function_call function_call_output custom_tool_call web_search_call").split(),
    *("user assistant system tool function developer base64 url request response binary image-url file").split(),
    *("tool-call tool-return user-prompt system-prompt retry-prompt image/png conversation").split(),
]
FIELDS = [
    *("type role kind part_kind content text source input id name tool_calls function custom arguments output").split(),
    *("call_id summary encrypted_content image_url url data media_type signature thinking parts args").split(),
    *("tool_name tool_call_id tool_use_id outcome identifier is_error function_call phase").split(),
]
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS | st.sampled_from(NAMES),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=12,
)
LIKELY = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6), max_size=2)
READERS: list[Callable[[object, str], tuple[Message, ...]]] = [
    from_anthropic,
    from_openai,
    from_responses,
    from_pydantic_ai_json,
    read_messages,
    lambda value, where: tuple(read_transcript(json.dumps(value).encode(), where)),
]


@pytest.mark.parametrize("reader", READERS)
@given(VALUES | LIKELY)
def test_what_is_read_can_be_written_in_every_shape_and_the_rest_is_refused_by_name(
    reader: Callable[[object, str], tuple[Message, ...]], value: object
) -> None:
    try:
        messages = reader(value, "talk.json")
    except BadSource as error:
        if error.path != "talk.json":
            raise
        return
    written = [write(messages) for write in (to_anthropic, to_openai, to_responses, to_pydantic_ai_json)]
    assert all(json.loads(json.dumps(shaped)) == shaped for shaped in written)
