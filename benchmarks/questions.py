"""What questions cost: the index with each append, a question over 100,000 messages, a lookup among
2,600 documents. CPU time, so that a busy machine says about the same.

    python -m benchmarks.questions
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import foreword
from foreword.relevance import read_question
from foreword.search import document_search
from foreword.sources.library import lookup_library
from foreword.store import messages
from foreword.store.database import Database
from foreword.store.urls import open_store

APPENDS = 1_024  # whole batches of the index
PAIRS = 20
MESSAGES = 100_000
DOCUMENTS = 2_600
QUESTIONS = (
    "why does the harbour close early",
    "which lantern was repaired in the north tower",
    "item77123",
    "what was said about the keeper and the tide table",
)
_SYLLABLES = "ha lan ter kee tow ti bo ne ru sal mor vin dra pel gus ori".split()


def main() -> None:
    """Measure and print."""
    random.seed(7)
    words = [*"harbour lantern tower keeper tide table north repaired close early boat".split()]
    words += ["".join(random.choices(_SYLLABLES, k=3)) for _ in range(4_000)]
    with tempfile.TemporaryDirectory() as folder:
        _measure_appends(Path(folder), words)
        _measure_recall(Path(folder), words)
        _measure_lookup(Path(folder), words)


def _measure_appends(folder: Path, words: list[str]) -> None:
    """Pairs of rounds, with the index and without it: the median of what it adds."""
    bare = list[float]()
    added = list[float]()
    for number in range(PAIRS):
        texts = [_text(words, 12, 120) for _ in range(APPENDS)]
        times = dict[bool, float]()
        # which of the two comes first changes: a machine gets faster and slower
        for indexed in sorted((False, True), reverse=bool(number % 2)):
            store = f"sqlite:///{folder}/append{number}{indexed}.db"
            times[indexed] = _append_seconds(store, folder, texts, indexed=indexed)
        bare.append(times[False])
        added.append(times[True] / times[False] - 1)
    print(f"an append                       {1e6 * median(bare) / APPENDS:8.0f} us")
    print(f"  what the index adds           {median(added):+8.1%}")


def _append_seconds(store: str, folder: Path, texts: list[str], *, indexed: bool) -> float:
    whole = messages.INDEX_BATCH
    messages.INDEX_BATCH = whole if indexed else APPENDS + 1
    try:
        with foreword.Session.open(store, root=folder, auto_compress=False) as session:
            began = time.process_time()
            for text in texts:
                session.append({"role": "user", "content": text})
            return time.process_time() - began
    finally:
        messages.INDEX_BATCH = whole


def _measure_recall(folder: Path, words: list[str]) -> None:
    with foreword.Session.open(
        f"sqlite:///{folder}/long.db", root=folder, auto_compress=False
    ) as session:
        session.extend(
            {"role": "user", "content": f"item{number} {_text(words, 8, 60)}"}
            for number in range(MESSAGES)
        )
        for question in QUESTIONS:
            least = _least(partial(session.recall, question))
            print(f"recall of {MESSAGES:,} messages      {1e3 * least:8.1f} ms  {question}")


def _measure_lookup(folder: Path, words: list[str]) -> None:
    root = folder / "project"
    for number in range(DOCUMENTS):
        place = root / "docs" / f"area{number % 40}"
        place.mkdir(parents=True, exist_ok=True)
        parts = [f"## {random.choice(words)}\n\n{_text(words, 60, 200)}\n" for _ in range(4)]
        text = "\n".join([f"# {_text(words, 2, 4)} {number}\n", *parts])
        (place / f"{random.choice(words)}-{number}.md").write_text(text)
    began = time.process_time()
    foreword.lookup(QUESTIONS[0], root=root)
    print(f"index of {DOCUMENTS:,} documents        {time.process_time() - began:8.1f} s")
    with open_store(root) as store:
        for question in (QUESTIONS[0], QUESTIONS[3]):
            found = _least(partial(_find, store, root, question))
            answered = _least(partial(foreword.lookup, question, root=root))
            print(f"  found                         {1e3 * found:8.1f} ms  {question}")
            print(f"  answered within 1,000 tokens  {1e3 * answered:8.1f} ms")


def _find(store: Database, root: Path, question: str) -> None:
    library = lookup_library(root)
    known, _ = document_search.take_in(store, root, library.documents, library.read)
    document_search.find(store, known, read_question(question), {})


def _text(words: list[str], least: int, most: int) -> str:
    return " ".join(random.choices(words, k=random.randint(least, most)))


def _least(ask: Callable[[], object]) -> float:
    """The least CPU of five times, the first of which does not count."""
    times = list[float]()
    for _ in range(6):
        began = time.process_time()
        ask()
        times.append(time.process_time() - began)
    return min(times[1:])


if __name__ == "__main__":
    main()
