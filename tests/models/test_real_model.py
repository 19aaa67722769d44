"""A real model on this machine, asked over real HTTP: the whole path once. Only the shape of
what it says is sure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from foreword.models import ask, calibrate
from foreword.tokens import counter
from tests.local_model import local_model
from tests.patience import PATIENCE_SECONDS

TASK = "You are helpful and brief."
QUESTION = "Name three colours of the rainbow."


@pytest.fixture(scope="module")
def smollm2() -> Iterator[str]:
    with local_model() as name:
        yield name


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_real_model_answers_says_what_it_cost_and_stops_where_it_must(
    smollm2: str, streamed: bool
) -> None:
    heard: list[str] = []
    answer = ask(
        smollm2,
        TASK,
        QUESTION,
        max_output_tokens=8,
        timeout_seconds=PATIENCE_SECONDS,
        on_text=heard.append if streamed else None,
    )
    assert answer.text.strip()
    assert answer.text == "".join(heard) or not streamed
    assert answer.input_tokens > 10
    assert 0 < answer.output_tokens <= 8
    assert answer.cut == (answer.output_tokens == 8)
    assert (answer.attempts, answer.tool_calls) == (1, 0)


def test_what_a_real_model_counts_corrects_the_counter(smollm2: str) -> None:
    answer = ask(smollm2, TASK, QUESTION * 5, max_output_tokens=2, timeout_seconds=PATIENCE_SECONDS)
    learnt = calibrate(answer, TASK, QUESTION * 5, counter("estimate"))
    assert learnt.count(f"{TASK}\n{QUESTION * 5}") >= answer.request_tokens
