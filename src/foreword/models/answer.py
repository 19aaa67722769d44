"""What a model answered and what it cost, and how its count corrects ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foreword.tokens import Counter, calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer, with the tokens its provider counted over all rounds."""

    text: str
    model: str
    input_tokens: int
    output_tokens: int
    attempts: int
    tool_calls: int
    request_tokens: int = 0  # of the instructions and the request alone; 0 where that can't be told
    cut: bool = False  # whether it ends where it does because of `max_output_tokens`
    output: Any = None  # by the schema that was requested, if any; `text` is its JSON
    first: str = ""  # the answer before it, which did not fit the schema


def usage_pair(
    answer: Answer, instructions: str, request: str, counter: Counter
) -> tuple[int, int]:
    """What the counter says about a call, and what its provider said: what `foreword.calibrated`
    learns from."""
    return counter.count(f"{instructions}\n{request}"), answer.request_tokens


def calibrate(answer: Answer, instructions: str, request: str, counter: Counter) -> Counter:
    """The counter, corrected by what one call has really used; to learn from many, keep each
    `usage_pair`."""
    return calibrated(counter, [usage_pair(answer, instructions, request, counter)])
