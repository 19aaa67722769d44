"""The table `answer_usage`: what each answer in a conversation cost, in tokens, as its provider
counted.

An answer is there once, by its key, however often it comes in. Only sums by model are read.
"""

from __future__ import annotations

from foreword.prices import AnswerUsage
from foreword.store.database import Database, stamp, storable_text

# Tokens of one answer: no provider counts as many, and sums of them stay whole numbers for both
# databases.
MOST_TOKENS = 10**12


def keep(db: Database, conversation: int, key: str, usage: AnswerUsage) -> None:
    """Keep what an answer cost, unless it is known by that key."""
    numbers = (
        usage.input_tokens,
        usage.cached_tokens,
        usage.written_tokens,
        usage.written_hour_tokens,
        usage.output_tokens,
    )
    db.rows(
        "INSERT INTO answer_usage (conversation, answer, created, model, input, cached, written,"
        " written_hour, output) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            conversation,
            storable_text(key),
            stamp(),
            storable_text(usage.model),
            *[min(number, MOST_TOKENS) for number in numbers],
        ),
    )


def by_model(db: Database, conversation: int) -> list[tuple[int, AnswerUsage]]:
    """How many answers each model gave, and what all of them cost."""
    rows = db.rows(
        "SELECT model, COUNT(*), CAST(SUM(input) AS bigint), CAST(SUM(cached) AS bigint),"
        " CAST(SUM(written) AS bigint), CAST(SUM(written_hour) AS bigint), CAST(SUM(output) AS"
        " bigint) FROM answer_usage WHERE conversation = ? GROUP BY model ORDER BY model",
        (conversation,),
    )
    found = list[tuple[int, AnswerUsage]]()
    for model, answers, sent, cached, written, written_hour, output in rows:
        usage = AnswerUsage(
            answer="",
            model=model,
            input_tokens=sent,
            cached_tokens=cached,
            written_tokens=written,
            written_hour_tokens=written_hour,
            output_tokens=output,
        )
        found.append((answers, usage))
    return found
