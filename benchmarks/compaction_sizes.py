"""Real sessions at many sizes, and what has to hold at each of them.

    python -m benchmarks.compaction_sizes ../shared/evals ../shared/recorded/transcripts [--every N]

Each session is compressed to a size and the next call asked for within it: it is never over, uses
95% of the size where more came in, parts no call from its result, has the newest message, says
where something is missing, and is the same bytes when it is made again. Then ten compressions in a
row, with the session growing between them: what the first one decided stays. Prints every breach
and ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import gzip
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import foreword
from benchmarks.compaction import FILES, load_score, said
from foreword.compression.statements import states
from foreword.compression.summary_text import read
from foreword.messages.message import IMAGE_TOKENS, Message
from foreword.messages.parts import Part, Text, ToolCall, ToolResult
from foreword.transcripts.import_file import read_transcript

SIZES = (300, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
AGAIN = 3  # every third size is made a second time
LEAST_TARGET = 1_000  # what the smaller can't hold is shortened in the call
PROMPT = "system_prompt"
MARK = re.compile(r"foreword (?:session expand|recall fw_)")
BESIDE_TEXT = re.compile(r"take about ([\d,]+) tokens beside the text")
LEAST_FILLED = 500  # below it, what is left is less than a line
SESSIONS = 40
LEAST_USED = 0.95
IN_A_ROW = 10
ROW_SIZE = 6_000  # of each compression in a row: a tenth of a usual session
LEAST_KEPT = 0.9  # of the first compression's decisions, at its end


@dataclass(frozen=True, slots=True)
class RealSession:
    """A session by its name."""

    name: str
    messages: Sequence[Message]


def recorded_sessions(folder: Path) -> Iterator[RealSession]:
    """What coding agents have written."""
    for path in sorted(folder.glob("*.gz")):
        with gzip.open(path) as file:
            messages = list(read_transcript(file.read(), path.name.removesuffix(".gz")))
        yield RealSession(path.name, messages)


def eval_sessions(folder: Path) -> Iterator[RealSession]:
    """The development cases in turn, one of each file after another; what tools said answers calls
    of the message in front of it."""
    score = load_score(folder)
    files = [list(score.cases(name)) for name in FILES]
    for number in range(max(map(len, files))):
        for name, cases in zip(FILES, files, strict=True):
            if number < len(cases):
                yield RealSession(f"{name} {number}", messages_of(cases[number]))


def messages_of(case: Mapping[str, Any]) -> list[Message]:
    """The messages of a case, with calls and results in place of the words of tools."""
    messages = list[Message]()
    for number, each in enumerate(said(case)):
        if each["role"] != "tool":
            messages.append(Message(each["role"], (Text(each["text"]),)))
            continue
        call = ToolCall(id=f"call-{number}", name="run", arguments="{}")
        result = ToolResult(id=call.id, text=each["text"])
        asking = len(messages) - 1
        while asking >= 0 and messages[asking].role == "tool":
            asking -= 1
        if asking < 0 or messages[asking].role != "assistant":
            messages.append(Message("assistant", (call,)))
        else:
            parts: tuple[Part, ...] = (*messages[asking].parts, call)
            messages[asking] = Message("assistant", parts)
        messages.append(Message("tool", (result,)))
    return messages


def breaches(db: Path, folder: Path, size: int) -> Iterator[str]:
    """What does not hold for a session at one size."""
    texts = list[str]()
    copies = 2 if size in SIZES[::AGAIN] else 1
    for _ in range(copies):
        path = Path(shutil.copy(db, folder / "copy.db"))
        with foreword.Session.open(f"sqlite:///{path}", auto_compress=False) as session:
            came_in = session.size_tokens()
            made = session.compress(to=size)
            try:
                package = session.context(budget=size)
            except foreword.EssentialsTooLarge as error:
                if error.sections[PROMPT] < size / 2:
                    yield f"refused: {error}"
                return
            history = session.history()
            came_in -= sum(IMAGE_TOKENS * message.images for message in history)
            size_after = session.size_tokens()
        texts.append(package.text)
        path.unlink()
    total = package.report.total_tokens
    if total > size:
        yield f"{total} tokens are over"
    # images, thoughts and the like stand beside the text, which is all that a budget is about
    for number in BESIDE_TEXT.findall("\n".join(package.report.warnings)):
        total += int(number.replace(",", ""))
    if came_in > size >= LEAST_FILLED and total < LEAST_USED * size:
        yield f"only {total} of {size} tokens used, {came_in} came in, {made.tokens_after} after"
    if made.reached and not 0.95 * size_after <= total <= 1.01 * size_after:
        yield f"the session says {size_after}, the call has {total}"
    if len(set(texts)) > 1:
        yield "made again, it is another text"
    has_images = any(message.images for message in package.messages)  # which stay whole
    if not made.reached and size >= LEAST_TARGET and not has_images:
        yield f"the target was not reached: {made.notes}"
    yield from _pair_problems(package.messages)
    if not _has_newest(history, package):
        yield "the newest message is not in it"
    if came_in > size and not MARK.search(package.text):
        yield "no mark says what the summary stands for"
    lost = [left for left in package.report.omissions if left.tokens and not left.handle]
    if lost:
        yield f"left out without a handle: {[left.what for left in lost]}"


def _pair_problems(messages: Sequence[Message]) -> Iterator[str]:
    open_calls = set[str]()
    for message in messages:
        if message is messages[-1] and message.calls:
            continue  # they are answered next
        for part in message.parts:
            if isinstance(part, ToolCall):
                open_calls.add(part.id)
            elif isinstance(part, ToolResult) and part.id not in open_calls:
                yield f"a result without its call: {part.id}"
            elif isinstance(part, ToolResult):
                open_calls.remove(part.id)
    if open_calls:
        yield f"calls without results: {sorted(open_calls)[:3]}"


def _has_newest(history: Sequence[Message], package: foreword.Package) -> bool:
    """Whether the call ends with the newest message, whole or with a mark for what is missing."""
    last = package.messages[-1]
    newest = history[-1]
    is_whole = newest.text.strip() in last.text
    return last.role == newest.role and (is_whole or "left out" in last.text)


def row_breaches(session_messages: Sequence[Message], folder: Path) -> Iterator[str]:
    """What does not hold after ten compressions with a tenth of the session between them."""
    path = folder / "row.db"
    step = -(-len(session_messages) // IN_A_ROW)
    first = ""
    with foreword.Session.open(f"sqlite:///{path}", auto_compress=False) as session:
        for start in range(0, len(session_messages), step):
            session.extend(session_messages[start : start + step])
            made = session.compress(to=ROW_SIZE)
            first = first or made.summary
        package = session.context(budget=ROW_SIZE)
    path.unlink()
    if package.report.total_tokens > ROW_SIZE:
        yield f"in a row: {package.report.total_tokens} tokens are over"
    decided = [line.text for line in read(first).lines if states("decision", line.text)]
    lost = [line for line in decided if line not in package.text]
    if len(lost) > (1 - LEAST_KEPT) * len(decided):
        yield f"in a row: {len(lost)} of {len(decided)} decisions of the first are gone: {lost[:2]}"


def check(session: RealSession, sizes: Sequence[int]) -> list[str]:
    """All that does not hold for a session."""
    found = list[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        db = folder / "whole.db"
        with foreword.Session.open(f"sqlite:///{db}", auto_compress=False) as opened:
            opened.extend(session.messages)
        for size in sizes:
            found += [f"at {size:,}: {breach}" for breach in breaches(db, folder, size)]
        found += row_breaches(session.messages, folder)
    return found


def main() -> None:
    """Go through the sessions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("evals", type=Path)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one session of so many")
    options = parser.parse_args()
    sessions = [*recorded_sessions(options.recorded)]
    for session in eval_sessions(options.evals):
        if len(sessions) < SESSIONS:
            sessions.append(session)
    sessions = sessions[:: options.every]
    began = time.process_time()
    count = 0
    for session in sessions:
        for breach in check(session, SIZES):
            count += 1
            print(f"{session.name} {breach}", flush=True)
        print(f"{session.name}: done", file=sys.stderr, flush=True)
    seconds = time.process_time() - began
    print(
        f"{len(sessions)} sessions at {len(SIZES)} sizes and {IN_A_ROW} compressions in a row each:"
        f" {count} breaches, {seconds:.0f} s of CPU"
    )
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
