"""What makes a context: ours, and what else runs without a network, all at the same size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import log

import foreword
from benchmarks.evals.cases import Case, Maker, tokens
from foreword.text.words import STOP_WORDS, words

NEIGHBOURS = 2


def fitted(case: Case, size: int) -> str:
    """`foreword.fit`."""
    material: list[dict[str, str]] = []
    for turn in case.turns:
        fields = {
            "role": turn.role,
            "content": turn.text,
            "speaker": turn.speaker,
            "date": turn.date,
            "session": turn.session,
        }
        material.append(
            {name: value for name, value in fields.items() if value or name == "content"}
        )
    package = foreword.fit(
        material, budget=size, question=case.question, counter="estimate", save=False
    )
    return package.text


def by_bm25(case: Case, size: int) -> str:
    """The turns that BM25 ranks best, in order."""
    return _packed(case, size, _best(_bm25(case)))


def by_bm25_with_neighbours(case: Case, size: int) -> str:
    """The same, each with the two turns on either side of it."""
    order: list[int] = []
    for at in _best(_bm25(case)):
        around = range(max(0, at - NEIGHBOURS), min(len(case.turns), at + NEIGHBOURS + 1))
        order += [at, *around]
    return _packed(case, size, order)


def first_and_recent(case: Case, size: int) -> str:
    """The first turn, a quarter at most, and the newest words."""
    lines = [turn.line for turn in case.turns]
    first = lines[0][:size]
    rest = "\n".join(lines[1:])
    return f"{first}\n{rest[-max(1, 4 * size - len(first) - 1) :]}"


def recent(case: Case, size: int) -> str:
    """The newest turns, as trimming a history leaves them."""
    return _packed(case, size, reversed(range(len(case.turns))), stop=True)


def head_and_tail(case: Case, size: int) -> str:
    """The two ends of the text."""
    text = "\n".join([turn.line for turn in case.turns])
    if tokens(text) <= size:
        return text
    return f"{text[: 2 * size - 1]}\n{text[-2 * size :]}"


def by_langchain(case: Case, size: int) -> str:
    """`trim_messages` of langchain, where it is installed: the newest messages that fit."""
    from langchain_core.messages import BaseMessage, HumanMessage, trim_messages

    def count(messages: list[BaseMessage]) -> int:
        return tokens("\n".join([str(message.content) for message in messages]))

    messages = [HumanMessage(turn.line) for turn in case.turns]
    kept = trim_messages(messages, max_tokens=size, token_counter=count, strategy="last")
    return "\n".join([str(message.content) for message in kept])


def makers() -> Mapping[str, Maker]:
    """All that run here, ours first."""
    found: dict[str, Maker] = {
        "foreword.fit": fitted,
        "BM25": by_bm25,
        "BM25, two neighbours": by_bm25_with_neighbours,
        "first + recent": first_and_recent,
        "recent": recent,
        "head + tail": head_and_tail,
    }
    try:
        import langchain_core  # noqa: F401
    except ImportError:
        return found
    found["langchain trim"] = by_langchain
    return found


def _bm25(case: Case) -> list[float]:
    """Plain BM25 over turns, without endings of words: k1 = 1.2, b = 0.75."""
    documents = [[_singular(word) for word in words(turn.text)] for turn in case.turns]
    wanted = {_singular(word) for word in words(case.question) if word not in STOP_WORDS}
    holders = Counter[str]()
    for document in documents:
        holders.update(set(document))
    average = sum(map(len, documents)) / max(1, len(documents)) or 1.0
    scores: list[float] = []
    for document in documents:
        score = 0.0
        for word, uses in Counter(filter(wanted.__contains__, document)).items():
            rarity = log(1 + (len(documents) - holders[word] + 0.5) / (holders[word] + 0.5))
            damping = 1.2 * (0.25 + 0.75 * len(document) / average)
            score += rarity * uses * 2.2 / (uses + damping)
        scores.append(score)
    return scores


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _best(scores: list[float]) -> list[int]:
    places = [at for at, score in enumerate(scores) if score > 0]
    return sorted(places, key=lambda at: (-scores[at], at))


def _packed(case: Case, size: int, order: Iterable[int], *, stop: bool = False) -> str:
    """Whole turns in this order, as long as they fit, written as they came."""
    room = 4 * size
    kept: set[int] = set()
    for at in order:
        cost = len(case.turns[at].line) + 1
        if at in kept:
            continue
        if cost <= room:
            kept.add(at)
            room -= cost
        elif stop:
            break
    return "\n".join([case.turns[at].line for at in sorted(kept)])
