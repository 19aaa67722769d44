"""What tests of sessions share: how one is opened, and what is said in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import foreword

Open = Callable[..., foreword.Session]


def words(name: str, count: int) -> str:
    """So many words that can be told apart."""
    return " ".join(f"{name}{n}" for n in range(count))


def numbered_message(number: int, size: int = 20) -> dict[str, Any]:
    """A message that begins with its number."""
    return {
        "role": "assistant" if number % 2 else "user",
        "content": f"Message {number}. {words('word', size)}",
    }


def call(*ids: str) -> dict[str, Any]:
    """The assistant calls a tool under each of these ids."""
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": i, "name": "read", "input": {}} for i in ids],
    }


def results(**texts: str) -> dict[str, Any]:
    """The answers to calls, by their ids."""
    blocks = [
        {"type": "tool_result", "tool_use_id": name, "content": text}
        for name, text in texts.items()
    ]
    return {"role": "user", "content": blocks}


def shown_numbers(package: foreword.Package) -> list[int]:
    """The numbers of the messages that are in."""
    return [int(number) for number in re.findall(r"^Message (\d+)\.", package.text, re.MULTILINE)]


def plan(status: str = "in_progress", **more: object) -> dict[str, Any]:
    """A plan whose second task has this status."""
    tasks = [
        {
            "task_id": 1,
            "description": "Scout Gmail login flow",
            "status": "completed",
            "notes": "#identifierId",
        },
        {
            "task_id": 2,
            "description": "Build navigation node",
            "status": status,
            "node_ids": ["node_123"],
        },
    ]
    phase = {"phase_name": "Gmail Login Setup", "status": "in_progress", "tasks": tasks}
    return {
        "overall_goal": "Gmail to Airtable",
        "current_phase": "Gmail Login Setup",
        "phases": [phase],
        **more,
    }


def fill_session(session: foreword.Session) -> foreword.Session:
    """A session in which every part has something to show, but for the browser: its tabs are given
    with each call."""
    session.append({"role": "system", "content": "You are Director, an AI workflow builder."})
    session.update_plan(plan(), "first plan")
    session.put_node(
        {
            "id": "node_123",
            "position": 1,
            "type": "browser_action",
            "config": {"action": "navigate"},
        }
    )
    session.set_variable("current_page", "gmail_inbox", "seen")
    session.append({"role": "user", "content": "Hi, I would like a Gmail to Airtable workflow"})
    session.append({"role": "assistant", "content": "I'll help you build it."})
    return session
