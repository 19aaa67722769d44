"""What a coding agent is given of an earlier conversation, and how often a check accuses the
truth, on real sessions.

    python -m benchmarks.agent_work ../shared/evals [--every N]

A handoff at 4,000 tokens; the checkpoint of the hook beside the summary that the agent wrote then;
both by the share of the names that were needed later, as the folder's own `score.py` counts them.
And of names that do stand in the conversation, how many a check of summaries would call unproven:
those that were needed later, and all that our own summaries say.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.compaction import FILES, load_score, said
from foreword.coding_agents.compaction_checkpoint import ROOM_TOKENS
from foreword.coding_agents.handoff import make_handoff
from foreword.coding_agents.resume import LEADS, LONGEST
from foreword.coding_agents.work_state import work_state
from foreword.coding_agents.work_text import work_text
from foreword.compression.check import check_against, evidence_of
from foreword.compression.extract import summarize
from foreword.messages.message import Message
from foreword.messages.parts import Part, Text, ToolCall, ToolResult
from foreword.tokens import counter
from foreword.transcripts.events import MessageEvent
from foreword.transcripts.plumbing import attributed
from foreword.transcripts.reader import SessionFile

HANDOFF_TOKENS = 4_000
HOOK_CHARS = LONGEST - len(LEADS)  # where the project has no tier 0 of its own
SUMMARY_TOKENS = 3_000  # of our own summaries that are checked
Case = Mapping[str, Any]
_CALL = re.compile(r"\[tool_call ([^\]\n]+)\]\n")
_ARGUMENT = re.compile(r"^(\w+): (.*?)(?=^\w+: |\Z)", re.MULTILINE | re.DOTALL)


def messages_of(case: Case) -> list[Message]:
    """The messages of a case, calls and results as such."""
    messages = list[Message]()
    open_calls = list[str]()
    for number, each in enumerate(said(case)):
        text = each["text"]
        call = _CALL.match(text)
        if call and each["role"] == "assistant":
            name = f"call-{number}"
            open_calls.append(name)
            given = _ARGUMENT.findall(text[call.end() :])
            arguments = json.dumps({key: value.rstrip("\n") for key, value in given})
            part: Part = ToolCall(id=name, name=call[1], arguments=arguments)
        elif each["role"] == "tool" and open_calls:
            part = ToolResult(id=open_calls.pop(0), text=text)
        else:
            part = Text(text)
        messages.append(Message(each["role"], (part,)))
    return messages


def handoff(case: Case) -> str:
    """What `foreword handoff` hands over."""
    events = chain.from_iterable(
        attributed(MessageEvent(message=said)) for said in messages_of(case)
    )
    session = SessionFile("claude-code", events)
    return make_handoff(session, HANDOFF_TOKENS, None).text


def checkpoint_beside_summary(case: Case) -> str:
    """What an agent reads after a compaction: its own summary, and what the hook brings back."""
    summary = str(case["reference_summary"])
    state = work_state(messages_of(case), ROOM_TOKENS, counter())
    return f"{summary}\n{work_text(state, HOOK_CHARS, summary)}"


def flagged_share(cases: Sequence[Case]) -> tuple[float, float]:
    """Of names that were needed and of what our own summaries claim, the shares that a check of
    summaries calls unproven."""
    flagged = needed = own_flagged = own_claims = 0
    for case in cases:
        messages = messages_of(case)
        evidence = evidence_of(messages)
        summary = "\n".join(f"- it is in `{name}`" for name in case["must_keep"])
        found = check_against(summary, evidence)
        needed += len(found.claims)
        flagged += len(found.unproven)
        ours = check_against(summarize(messages, SUMMARY_TOKENS, counter("estimate")), evidence)
        own_claims += len(ours.claims)
        own_flagged += len(ours.unproven)
    return flagged / max(1, needed), own_flagged / max(1, own_claims)


def row(score: ModuleType, cases: Iterable[Case], make: Any) -> str:
    """Literal and loose shares, and the most CPU that one case took."""
    literal = list[float]()
    loose = list[float]()
    seconds = list[float]()
    for case in cases:
        began = time.process_time()
        text = make(case)
        seconds.append(time.process_time() - began)
        found = score.score(case, text)
        if found["literal"] is not None:
            literal.append(found["literal"])
            loose.append(found["loose"])
    share = 100 / max(1, len(literal))
    return f"{share * sum(literal):8.1f}{share * sum(loose):8.1f}{max(seconds):8.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="one case of so many")
    options = parser.parse_args()
    score = load_score(options.folder)
    print(f"{'':52}{'literal':>8}{'loose':>8}{'CPU s':>8}")
    for name in FILES:
        cases = list(score.cases(name))[:: options.every]
        if "compactions" in name:
            made = row(score, cases, checkpoint_beside_summary)
            print(f"{name + ', summary and checkpoint':52}{made}", flush=True)
        made = row(score, cases, handoff)
        print(f"{name + ', handoff':52}{made}", flush=True)
        flagged, own = flagged_share(cases)
        print(
            f"{'  true names flagged':52}{flagged:8.2%}; in our own summaries {own:.2%}", flush=True
        )


if __name__ == "__main__":
    main()
