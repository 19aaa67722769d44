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
# Of the turns: enough for a summary to have something to keep, so few that work is most of it.
TROUBLE_SHARE = 0.2
WISH_SHARE = 0.25
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
    first = [_message("system", SYSTEM), _message("user", FIRST)]
    yield Step(first, plan=(_plan(0), "first plan"))
    each = max(1, turns // len(_tasks()))  # turns for a task
    for turn in range(1, turns):
        done = turn // each
        step = Step(list(_turn_messages(turn, done, chance)))
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


def _turn_messages(turn: int, done: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """A look at something, what it showed, and a remark; now and then trouble, now and then a
    wish."""
    task = _task(done)
    call = f"call_{turn}"
    tool = chance.choice(("look_at_page", "run_node", "read_mail", "read_log"))
    words = chance.choice(("", f"For {task.lower()} I need to see this first."))
    function = {"name": tool, "arguments": json.dumps({"about": task})}
    yield {
        "role": "assistant",
        "content": words or None,
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }
    yield {"role": "tool", "tool_call_id": call, "content": _tool_result(tool, turn, chance)}
    yield _message("assistant", _remark(task, chance))
    if chance.random() < WISH_SHARE:
        yield _message("user", chance.choice(WISHES))


def _remark(task: str, chance: random.Random) -> str:
    """What the agent says about a result: what went wrong, or that it is done."""
    if chance.random() < TROUBLE_SHARE:
        error, cause = chance.choice(TROUBLE)
        remedy = "I change the node and try again."
        return f"{task}: it failed with `{error}`. The reason: {cause}. {remedy}"
    sender = chance.choice(SENDERS)
    return f"{task}: done for {sender}. The selector is stable over three loads."


def _tool_result(tool: str, turn: int, chance: random.Random) -> str:
    if tool == "read_mail":
        count = chance.randint(6, 14)
        return json.dumps([_invoice(chance) for _ in range(count)], indent=1)
    if tool == "read_log":
        day = 1 + turn % 28
        lines = []
        for minute in range(25):
            node = chance.randint(1, 15)
            lines.append(f"2026-11-{day:02} 07:{minute:02}:13 INFO  node {node} ok")
        return "\n".join(lines)
    count = chance.randint(12, 24)
    elements = [_page_element(chance) for _ in range(count)]
    return json.dumps({"url": f"https://mail.example/inbox?page={turn}", "elements": elements})


def _page_element(chance: random.Random) -> dict[str, Any]:
    kinds = ("button", "link", "textbox", "row", "cell", "heading")
    return {
        "role": chance.choice(kinds),
        "name": f"{chance.choice(SENDERS)} {chance.randint(1000, 9999)}",
        "selector": f"#{chance.choice(kinds)}-{chance.randint(1, 400)}",
        "visible": chance.random() < 0.9,
    }


def _invoice(chance: random.Random) -> dict[str, Any]:
    return {
        "number": f"R-{chance.randint(10_000, 99_999)}",
        "from": chance.choice(SENDERS),
        "amount": f"{chance.randint(4, 2_400)},{chance.randint(0, 99):02}",
        "due": f"2026-12-{chance.randint(1, 28):02}",
    }


def _tasks() -> list[str]:
    """The tasks of all stages, in their order."""
    found: list[str] = []
    for _, tasks in STAGES:
        found += tasks
    return found


def _task(done: int) -> str:
    """The task at hand when so many are done; the last one, when all are."""
    tasks = _tasks()
    return tasks[min(done, len(tasks) - 1)]


def _plan(done: int) -> dict[str, Any]:
    """The plan when so many tasks are done."""
    phases = []
    number = 0
    for name, descriptions in STAGES:
        tasks = []
        statuses = set()
        for description in descriptions:
            number += 1
            status = _task_status(number, done)
            statuses.add(status)
            tasks.append({"task_id": number, "description": description, "status": status})
        phase_status = statuses.pop() if len(statuses) == 1 else "in_progress"
        phases.append({"phase_name": name, "status": phase_status, "tasks": tasks})
    return {"overall_goal": GOAL, "phases": phases}


def _task_status(number: int, done: int) -> str:
    if number <= done:
        return "completed"
    return "in_progress" if number == done + 1 else "pending"


def _node(done: int) -> dict[str, Any]:
    task = _task(done - 1)
    return {
        "id": f"n{done}",
        "position": done,
        "type": "browser_action" if done < 10 else "table",
        "config": {"instruction": task, "timeout_seconds": 30},
        "description": task,
    }


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}
