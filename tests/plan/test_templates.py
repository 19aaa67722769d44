"""Templates: what they name, what becomes of a value, and what is said when they lead nowhere."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import ForewordError, UnknownName, UsageError
from foreword.plan.templates import Scope, expressions, fill, parse_expression, problems
from tests.corpus import rows

EMAILS = [
    {"subject": "Re: Funding", "from": {"name": "Ada"}, "tags": ["a", "b"]},
    {"subject": "Hello"},
]
SCOPE = Scope(
    {
        "node7.emails": EMAILS,
        "node7": {"other": 1},
        "creds": {"password": "hunter2hunter2"},
        "n": 3,
        "no": None,
    }
)


@pytest.mark.parametrize(("template", "value"), rows("nodes/templates.jsonl"))
def test_a_template_alone_is_the_value_and_inside_a_text_it_is_written_out(
    template: object, value: object
) -> None:
    assert fill(template, SCOPE) == value


@pytest.mark.parametrize(("template", "message", "hint"), rows("nodes/templates_to_nowhere.jsonl"))
def test_a_template_that_leads_nowhere_says_so_with_what_there_is(
    template: str, message: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        fill(f"see {template}", SCOPE)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_no_value_is_in_an_error() -> None:
    with pytest.raises(UnknownName) as caught:
        fill("{{creds.passwort}}", SCOPE)
    assert "hunter2" not in caught.value.message + caught.value.hint
    with pytest.raises(UsageError) as second:
        fill("{{creds.password.first}}", SCOPE)
    assert "hunter2" not in second.value.message


def test_the_name_of_a_loop_goes_before_a_variable_and_the_inner_loop_before_the_outer() -> None:
    scope = (
        SCOPE.inside("node7", {"emails": "of the loop"}).inside("n", "outer").inside("n", "inner")
    )
    assert fill("{{node7.emails}} {{n}}", scope) == "of the loop inner"
    assert fill("{{n}}", SCOPE) == 3


def test_what_is_wrong_with_templates_is_told_with_the_path_before_anything_runs() -> None:
    config = {"url": "{{a..b}}/{{c}}", "fields": {"x": ["{{[0]}}"]}, "text": "{{ok[1].fine}}"}
    assert list(problems(config, "config")) == [
        "config.url: {{a..b}} can't be read, for example {{node7.emails[0].subject}}",
        "config.fields.x[0]: {{[0]}} can't be read, for example {{node7.emails[0].subject}}",
    ]
    assert expressions(config) == ["a..b", "c", "[0]", "ok[1].fine"]
    assert parse_expression("a.b[0]['c d'].e") == ("a", "b", 0, "c d", "e")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(), json_values, max_size=4),
    st.text(alphabet="ab.[]0\"'{} ", max_size=30),
)
def test_whatever_is_written_there_it_is_filled_or_refused(
    variables: dict[str, Any], expression: str
) -> None:
    with suppress(ForewordError):
        fill(f"{{{{{expression}}}}}", Scope(variables))
