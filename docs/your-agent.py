"""An agent of one's own: a loop with tools, a pinned rule, a budget, and a tool that recalls.

`python docs/your-agent.py` runs it with a model that is scripted, on this machine, without a key.
With ANTHROPIC_API_KEY set it asks Anthropic's; ANTHROPIC_MODEL names another model. The page
`your-agent.md` goes through it. It needs `anthropic` beside Foreword.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Any

import anthropic

import foreword
from foreword.testing import Reply, ToolCall, fake_provider

BUDGET = 4_000
QUESTIONS = [f"What does the log of day {day} say?" for day in range(1, 9)]
QUESTIONS.append("At how many degrees did the glaze of the bowls crack?")


FIRED = ("bowls", "vases", "plates", "jugs", "tiles", "cups", "pots", "lids")


# --- the loop: what the page shows ---
def read_log(day: int) -> str:
    """The log of a day: far more than anyone wants in every call."""
    lines = [f"Day {day}: shelf {n} stands at {800 + n} degrees." for n in range(150)]
    lines[70] = f"Day {day}: the glaze of the {FIRED[day - 1]} has cracked at {1100 + day} degrees."
    return "\n".join(lines)


READ_LOG = {
    "name": "read_log",
    "description": "The kiln's log of a day.",
    "input_schema": {"type": "object", "properties": {"day": {"type": "integer"}}},
}


def run(client: anthropic.Anthropic, model: str, store: str) -> str:
    """Ask every question; gives the last answer."""
    answer = ""
    with foreword.Session.open(store, "kiln", recipe="chat", budget=BUDGET) as session:
        recall = session.recall_tool(budget=600)
        tools = [READ_LOG, recall.definition]
        handlers = {"read_log": read_log, recall.name: recall.handler}
        session.system_prompt = "You look after a kiln."
        rule = {"role": "user", "content": "Never fire above 1,200 degrees."}
        session.append(rule, pinned=True)
        for question in QUESTIONS:
            session.append({"role": "user", "content": question})
            wants_tools = True
            while wants_tools:
                package = session.context(tools=tools)
                reply = client.messages.create(
                    model=model, max_tokens=500, tools=tools, **package.to_anthropic()
                )
                session.append(reply)
                calls = [block for block in reply.content if block.type == "tool_use"]
                for call in calls:
                    text = handlers[call.name](**call.input)
                    result = {"type": "tool_result", "tool_use_id": call.id, "content": text}
                    session.append({"role": "user", "content": [result]})
                wants_tools = bool(calls)
            answer = "".join(block.text for block in reply.content if block.type == "text")
            print(f"{package.report.total_tokens:>6,} tokens  {answer}")
        print(session.why().text)
    return answer


# --- the end of the loop ---


def main() -> None:
    """With a real model where there is a key, else with one that is scripted."""
    with TemporaryDirectory() as folder:
        store = f"sqlite:///{folder}/kiln.db"
        if os.environ.get("ANTHROPIC_API_KEY"):
            model = os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5")
            run(anthropic.Anthropic(), model, store)
            return
        with fake_provider(scripted_reply) as provider:
            run(anthropic.Anthropic(api_key="none", base_url=provider.url), "scripted", store)


def scripted_reply(request: Mapping[str, Any]) -> str | Reply:
    """What the scripted model says: it reads a log where it is asked for one, and recalls what it
    no longer sees."""
    newest = request["messages"][-1]["content"]
    last = newest[-1] if isinstance(newest, list) else {"type": "text", "text": newest}
    if last["type"] == "tool_result":
        found = re.search(r"glaze of the (\w+) has cracked at (\d+)", str(last["content"]))
        return (
            f"The glaze of the {found[1]} has cracked at {found[2]}." if found else "I don't know."
        )
    day = re.search(r"What does the log of day (\d) say", last["text"])
    if day:
        return Reply("", [ToolCall("read_log", {"day": int(day[1])})])
    return Reply("", [ToolCall("recall", {"question": last["text"]})])


if __name__ == "__main__":
    main()
