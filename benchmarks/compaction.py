"""How much of what was needed later is in a context after a compaction, on real sessions.

    python -m benchmarks.compaction ../shared/evals [--every N]

Goes the public way: a session is opened, the messages are appended, `compress(to)` and
`context(budget)` make the text that is scored by the folder's own `score.py`. Sizes are characters
/ 4: of the agent's own summary for compactions, a tenth of the conversation for sessions. Beside it
stand what keeps the first message and the newest, the two ends of the text, and the agent's own
summary.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import foreword
from foreword.messages.message import Message
from foreword.messages.parts import Text

FILES = ("claude_code_compactions", "claude_code_sessions", "specstory_sessions")
MEASURES = ("literal", "whole_line", "loose")
Case = Mapping[str, Any]
Maker = Callable[[Case, int], str]


def load_score(folder: Path) -> ModuleType:
    """The folder's own way of scoring."""
    spec = importlib.util.spec_from_file_location("score", folder / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(case: Case) -> list[Mapping[str, Any]]:
    """The messages of a case without the system's."""
    return [message for message in case["messages"] if message.get("kind") != "system"]


def compressed(case: Case, size: int) -> str:
    """Our context, compressed to the size."""
    with tempfile.TemporaryDirectory() as folder, _session(folder, case) as session:
        session.compress(to=size)
        return session.context(budget=size).text


def cut(case: Case, size: int) -> str:
    """Our context at that budget, with nothing compressed."""
    with tempfile.TemporaryDirectory() as folder, _session(folder, case) as session:
        return session.context(budget=size).text


def _session(folder: str, case: Case) -> foreword.Session:
    session = foreword.Session.open(
        f"sqlite:///{folder}/state.db", counter="estimate", auto_compress=False
    )
    session.extend(Message(each["role"], (Text(each["text"]),)) for each in said(case))
    return session


def first_and_recent(case: Case, size: int) -> str:
    """The first message, a quarter at most, and the newest words."""
    texts = [each["text"] for each in said(case)]
    first = texts[0][:size]
    return f"{first}\n" + "\n".join(texts[1:])[-(4 * size - len(first) - 1) :]


def recent(case: Case, size: int) -> str:
    """The newest words alone."""
    return "\n".join(each["text"] for each in said(case))[-4 * size :]


def head_and_tail(case: Case, size: int) -> str:
    """The two ends of the conversation."""
    text = "\n".join(each["text"] for each in said(case))
    return f"{text[: 2 * size - 1]}\n{text[-2 * size :]}"


def own_summary(case: Case, size: int) -> str:
    """What the agent wrote itself, where it did."""
    return str(case.get("reference_summary", ""))


MAKERS: Mapping[str, Maker] = {
    "foreword": compressed,
    "foreword, context alone": cut,
    "recent": recent,
    "first + recent": first_and_recent,
    "head + tail": head_and_tail,
    "the agent's own": own_summary,
}


def measure(score: ModuleType, cases: Iterable[Case], maker: Maker) -> str:
    """One row of the table."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    used = list[float]()
    seconds = list[float]()
    for case in cases:
        size = score.size_for(case)
        began = time.process_time()
        text = maker(case, size)
        seconds.append(time.process_time() - began)
        if not text:
            return ""
        used.append(score.tokens(text) / size)
        for name, value in score.score(case, text).items():
            if value is not None:
                found[name].append(value)
    shares = [100 * sum(values) / max(1, len(values)) for values in found.values()]
    row = "".join(f"{share:12.1f}" for share in shares)
    return f"{row}{100 * min(used):9.1f}{100 * max(used):7.1f}{max(seconds):9.2f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one case of so many")
    options = parser.parse_args()
    score = load_score(options.folder)
    for name in FILES:
        cases = list(score.cases(name))[:: options.every]
        heading = "".join(f"{each.replace('_', ' '):>12}" for each in MEASURES)
        print(f"\n{name}, {len(cases)} cases")
        print(f"{'':24}{heading}{'used %':>9}{'most':>7}{'CPU s':>9}")
        for label, maker in MAKERS.items():
            row = measure(score, cases, maker)
            if row:
                print(f"{label:24}{row}", flush=True)


if __name__ == "__main__":
    main()
