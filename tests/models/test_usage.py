"""What providers report goes back into the counter: after a call the estimate is nearer to the
truth."""

from __future__ import annotations

import pytest

from foreword.models import ask, calibrate, usage_pair
from foreword.testing import Reply, fake_provider
from foreword.tokens import calibrated, counter

CODE = "\n".join(f'{{"id": {n}, "x": [{n}, {n + 1}], "ok": true}},' for n in range(300))
TASK = "Summarise the rows."


@pytest.mark.parametrize("kind", ["openai", "openai_responses", "anthropic"])
def test_what_a_provider_counted_corrects_the_estimate(kind: str) -> None:
    estimate = counter("estimate")
    with fake_provider("Three hundred rows.") as provider:
        answer = ask(getattr(provider, kind), TASK, CODE)
    real = answer.request_tokens
    before, after = (
        estimate.count(f"{TASK}\n{CODE}"),
        calibrate(answer, TASK, CODE, estimate).count(f"{TASK}\n{CODE}"),
    )
    assert before < 0.8 * real, "characters / 4 is far too low for JSON"
    assert real <= after <= 1.05 * real


def test_pairs_of_many_calls_make_one_counter() -> None:
    estimate, texts = counter("estimate"), [CODE[:2000], CODE[2000:5000], CODE[5000:9000]]
    with fake_provider("Yes.") as provider:
        pairs = [
            usage_pair(ask(provider.openai, TASK, text), TASK, text, estimate) for text in texts
        ]
    learnt = calibrated(estimate, pairs)
    assert all(
        learnt.count(f"{TASK}\n{text}") >= real
        for text, (_, real) in zip(texts, pairs, strict=True)
    )


def test_a_provider_that_reports_nothing_changes_nothing() -> None:
    with fake_provider(Reply("Yes.", usage=(0, 0))) as provider:
        answer = ask(provider.openai, TASK, CODE)
    assert calibrate(answer, TASK, CODE, counter("estimate")) is counter("estimate")


def test_a_call_with_tools_teaches_nothing_since_their_descriptions_were_counted_too() -> None:
    def lookup(name: str) -> str:
        """Find something."""
        return name

    with fake_provider("Yes.") as provider:
        answer = ask(provider.openai, TASK, CODE, tools=[lookup])
    assert answer.input_tokens > 0
    assert calibrate(answer, TASK, CODE, counter("estimate")) is counter("estimate")
