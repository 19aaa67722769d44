"""A conversation of a few hundred turns for the demo: made up, the same every time, shaped like
real ones.

An agent builds a workflow that copies invoices from a mailbox into a table. It looks at pages,
builds nodes, runs into trouble, is corrected. What is played goes through `Session` as any
conversation does: plan, variables and nodes change on the way, and the history grows past its
limits.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

WORKFLOW = "invoices-to-table"
SYSTEM = (
    "You build browser workflows out of small nodes. Look before you act, keep the plan up to date,"
    " ask before anything is sent or deleted, and never write a password into the chat."
)
GOAL = "Copy every new invoice from the mailbox into the table, once, with its amount and due date"
FIRST = (
    "Every Monday I copy invoices from my mail into a table by hand. Build me a workflow that does"
    " it. Never mark a mail as read, and never copy the same invoice twice. Amounts are in euros,"
    " with a comma."
)
STAGES = (
    (
        "Sign in",
        ("Find the sign-in form", "Handle the second factor", "Keep the session between runs"),
    ),
    (
        "Find the invoices",
        ("Search by sender and subject", "Open a mail without marking it", "Read the attachment"),
    ),
    ("Read an invoice", ("Find the amount", "Find the due date", "Tell invoices from reminders")),
    ("Write the table", ("Open the table", "Look for the invoice number", "Add the row")),
    (
        "Run it every week",
        ("Schedule Monday at seven", "Report what was copied", "Try it on last month"),
    ),
)
SENDERS = (
    "Hafenstrom",
    "Nordlicht Energie",
    "Kontor 7",
    "Bahn & Bus",
    "Druckerei Ahrens",
    "Wassergenossenschaft",
)
TROUBLE = (
    (
        "TimeoutError: waiting for #signin-next to be visible",
        "the button is only there after the address was checked",
    ),
    (
        "Error: 2 elements match [role=row] >> text=Invoice",
        "the search shows the conversation and the mail in it",
    ),
    (
        "ValueError: could not convert string to float: '1.284,50'",
        "the amount has a dot for thousands and a comma",
    ),
    (
        "PermissionError: the table is shared for reading only",
        "the account needs to be invited as an editor",
    ),
)
WISHES = (
    "Use the sender's name as it is in the mail, not the address.",
    "Leave out anything below 5 euros.",
    "If the due date is missing, write 30 days after the date of the mail.",
    "Good. Go on with the next one.",
    "Stop at the first error and tell me, do not skip anything.",
    "What did you do about the second factor?",
)


@dataclass(slots=True)
class Step:
    """One turn: the messages it adds, and what it does to the workflow's state."""

    messages: list[dict[str, Any]]
    plan: tuple[dict[str, Any], str] | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    node: dict[str, Any] | None = None


def conversation(turns: int, seed: int = 7) -> Iterator[Step]:
    """So many turns; the first one brings the system prompt, the wish and the first plan."""
    chance = random.Random(seed)
    yield Step([_said("system", SYSTEM), _said("user", FIRST)], plan=(_plan(0), "first plan"))
    each = max(1, turns // sum(len(tasks) for _, tasks in STAGES))
    for turn in range(1, turns):
        done = turn // each
        step = Step(list(_messages(turn, done, chance)))
        if turn % each == 0:
            step.plan = (_plan(done), f"{_task(done - 1)} works")
            step.node = _node(done)
        if turn == each:
            step.variables["mail"] = {
                "user": "renske@kilnbook.example",
                "password": "correct-horse-7",
            }
        if turn % (2 * each) == 0:
            step.variables["last_invoice"] = _invoice(chance)
        yield step


def _messages(turn: int, done: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """A look at something, what it showed, and a remark; now and then trouble, now and then a
    wish."""
    task, call = _task(done), f"call_{turn}"
    tool = chance.choice(("look_at_page", "run_node", "read_mail", "read_log"))
    yield {
        "role": "assistant",
        "content": chance.choice(("", f"For {task.lower()} I need to see this first.")) or None,
        "tool_calls": [
            {
                "id": call,
                "type": "function",
                "function": {"name": tool, "arguments": json.dumps({"about": task})},
            }
        ],
    }
    yield {"role": "tool", "tool_call_id": call, "content": _result(tool, turn, chance)}
    if chance.random() < 0.2:
        error, cause = chance.choice(TROUBLE)
        yield _said(
            "assistant",
            f"{task}: it failed with `{error}`. The reason: {cause}. I change the node and try"
            " again.",
        )
    else:
        yield _said(
            "assistant",
            f"{task}: done for {chance.choice(SENDERS)}. The selector is stable over three loads.",
        )
    if chance.random() < 0.25:
        yield _said("user", chance.choice(WISHES))


def _result(tool: str, turn: int, chance: random.Random) -> str:
    if tool == "read_mail":
        return json.dumps([_invoice(chance) for _ in range(chance.randint(6, 14))], indent=1)
    if tool == "read_log":
        lines = (
            f"2026-11-{1 + turn % 28:02} 07:{n:02}:13 INFO  node {chance.randint(1, 15)} ok"
            for n in range(25)
        )
        return "\n".join(lines)
    kinds = ("button", "link", "textbox", "row", "cell", "heading")
    rows = [
        {
            "role": chance.choice(kinds),
            "name": f"{chance.choice(SENDERS)} {chance.randint(1000, 9999)}",
            "selector": f"#{chance.choice(kinds)}-{chance.randint(1, 400)}",
            "visible": chance.random() < 0.9,
        }
        for _ in range(chance.randint(12, 24))
    ]
    return json.dumps({"url": f"https://mail.example/inbox?page={turn}", "elements": rows})


def _invoice(chance: random.Random) -> dict[str, Any]:
    return {
        "number": f"R-{chance.randint(10_000, 99_999)}",
        "from": chance.choice(SENDERS),
        "amount": f"{chance.randint(4, 2_400)},{chance.randint(0, 99):02}",
        "due": f"2026-12-{chance.randint(1, 28):02}",
    }


def _task(done: int) -> str:
    tasks = [task for _, tasks in STAGES for task in tasks]
    return tasks[min(done, len(tasks) - 1)]


def _plan(done: int) -> dict[str, Any]:
    """The plan when so many tasks are done."""
    phases, number = [], 0
    for name, tasks in STAGES:
        listed = []
        for task in tasks:
            number += 1
            status = (
                "completed"
                if number <= done
                else "in_progress"
                if number == done + 1
                else "pending"
            )
            listed.append({"task_id": number, "description": task, "status": status})
        states = {task["status"] for task in listed}
        phases.append(
            {
                "phase_name": name,
                "status": states.pop() if len(states) == 1 else "in_progress",
                "tasks": listed,
            }
        )
    return {"overall_goal": GOAL, "phases": phases}


def _node(done: int) -> dict[str, Any]:
    task = _task(done - 1)
    return {
        "id": f"n{done}",
        "position": done,
        "type": "browser_action" if done < 10 else "table",
        "config": {"instruction": task, "timeout_seconds": 30},
        "description": task,
    }


def _said(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "content": words}
