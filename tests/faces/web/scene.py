"""What the browser tests look at: a session with something in every view, and names that attack
the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import foreword
from foreword.faces.web import addresses
from foreword.store.urls import open_database
from foreword.work.checkpoint import Checkpoint
from foreword.work.task_checkpoints import write
from tests.sessions import numbered_message

WORKFLOW, HOSTILE = "gmail-to-airtable", "ש </script><img src=x onerror=alert(1)> \"a/b' 🙂"
IMAGE = "<img src=x onerror=alert(1)>"
SECRET = "hunter2-correct-horse-battery"
LONG = "long " * 2_000
HOME = addresses.session(WORKFLOW)
BROKEN = "name: broken\nextends: director\nsections:\n  vision: {essential: maybe}\n"


def plan(**statuses: str) -> dict[str, Any]:
    """A plan of two phases; `t3="completed"` sets the status of task 3."""

    def task(number: int, description: str, **more: Any) -> dict[str, Any]:
        status = statuses.get(f"t{number}", "pending")
        return {"task_id": number, "description": description, "status": status, **more}

    login = [
        task(1, "Scout the login flow", notes="#identifierId"),
        task(2, "Build a node", node_ids=["node_1"]),
    ]
    inbox = [task(3, "Read the inbox"), task(4, "Write the rows")]
    return {
        "overall_goal": "Gmail to Airtable",
        "phases": [
            {"phase_name": "Login", "status": "in_progress", "tasks": login},
            {"phase_name": "Inbox", "status": "pending", "tasks": inbox},
        ],
        "blockers": ["no write access yet"],
    }


def hostile_plan() -> dict[str, Any]:
    """A plan in which every text attacks the page."""
    task = {
        "task_id": f'"{IMAGE}',
        "description": IMAGE,
        "status": "failed",
        "notes": LONG,
        "node_ids": [IMAGE, "a/b"],
    }
    phase = {"phase_name": f"</h2>{IMAGE}", "status": "pending", "tasks": [task]}
    return {
        "overall_goal": f"</title>{IMAGE}",
        "phases": [phase],
        "next_actions": [IMAGE],
        "notes": f"\u202e{IMAGE}",
    }


def fill(db: str, root: Path) -> None:
    """A session with calls, versions, variables and a checkpoint; a hostile one; a recipe that
    is wrong."""
    with foreword.Session.open(db, WORKFLOW, root=root) as session:
        session.append({"role": "system", "content": "You are Director."})
        session.update_plan(plan(), "the first plan")
        session.update_plan(plan(t1="completed"), "scouted")
        session.put_node(
            {"id": "node_1", "position": 1, "type": "browser_action", "config": {"action": "click"}}
        )
        session.set_variable("page", "inbox", "seen")
        session.set_variable("gmail.password", SECRET, "typed by the person")
        for number in range(60):
            session.append(numbered_message(number, 40))
            if number % 6 == 0:
                session.context()
    with foreword.Session.open(db, HOSTILE, root=root) as session:
        session.update_plan(hostile_plan(), IMAGE)
        session.set_variable(IMAGE, IMAGE, IMAGE)
        session.put_node(
            {
                "id": IMAGE,
                "position": 1,
                "type": "click",
                "config": {"selector": f"{IMAGE}{LONG}"},
                "description": IMAGE,
                "status": "failed",
            }
        )
        session.append({"role": "user", "content": f"{IMAGE}\n</pre></script>{LONG}"})
        session.context()
    with foreword.Session.open(db, "another", root=root) as session:
        session.append(numbered_message(1))
    store = open_database(db, root)
    write(
        root,
        store,
        Checkpoint(task=WORKFLOW, phase="1", objective="Log in", done=["Scout"], pending=["Build"]),
    )
    store.close()
    (root / "foreword" / "recipes").mkdir(parents=True)
    (root / "foreword" / "recipes" / "broken.yaml").write_text(BROKEN, "utf-8")
