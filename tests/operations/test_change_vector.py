"""Two vectors say what has changed between them, on either database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from foreword.operations import change_vector
from foreword.operations.change_vector import Vector
from foreword.session.session import Session
from foreword.store import plans, workflows
from foreword.work import task_checkpoints
from foreword.work.checkpoint import Checkpoint
from tests.sessions import numbered_message, plan
from tests.store.databases import KINDS, new_url


@pytest.fixture(params=KINDS)
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with Session.open(new_url(request.param, tmp_path), "kiln", root=tmp_path) as made:
        yield made


def kinds_since(session: Session, old: Vector) -> list[str]:
    now = change_vector.vectors(session.db, ["kiln"]).get("kiln")
    assert now is not None
    return [event.kind for event in change_vector.events_between("kiln", old, now)]


def now(session: Session) -> Vector:
    found = change_vector.vectors(session.db, ["kiln"]).get("kiln")
    assert found is not None
    return found


def test_each_change_is_told_by_its_kind(session: Session, tmp_path: Path) -> None:
    steps: dict[str, Any] = {
        "plan": lambda: session.update_plan(plan(), "first"),
        "messages": lambda: session.append(numbered_message(1)),
        "variables": lambda: session.set_variable("x", 1, "try"),
        "workflow": lambda: session.put_node(
            {"id": "n1", "position": 1, "type": "t", "config": {}}
        ),
        "report": lambda: session.context(),
        "checkpoint": lambda: task_checkpoints.write(
            tmp_path, session.db, Checkpoint(task="kiln", phase="1")
        ),
    }
    for kind, change in steps.items():
        before = now(session)
        change()
        assert kinds_since(session, before) == [kind]


def test_a_compression_and_its_undoing_are_both_told(session: Session) -> None:
    session.extend(numbered_message(number, 60) for number in range(40))
    before = now(session)
    assert session.compress(to=1_000).applied
    compressed = now(session)
    assert kinds_since(session, before) == ["compression"]
    session.undo()
    assert kinds_since(session, compressed) == ["compression"]


def test_a_checkpoint_that_replaces_another_is_told(session: Session, tmp_path: Path) -> None:
    task_checkpoints.write(tmp_path, session.db, Checkpoint(task="kiln", phase="1"))
    before = now(session)
    while now(session) == before:  # within the same millisecond nothing tells them apart
        task_checkpoints.write(tmp_path, session.db, Checkpoint(task="kiln", phase="1"))
    assert kinds_since(session, before) == ["checkpoint"]


def test_what_was_missed_is_told_kind_by_kind_and_each_id_resumes_behind_it(
    session: Session,
) -> None:
    before = now(session)
    session.update_plan(plan(), "first")
    session.append(numbered_message(1))
    events = list(change_vector.events_between("kiln", before, now(session)))
    assert [(event.kind, event.data) for event in events] == [
        ("plan", {"workflow": "kiln", "kind": "plan", "version": 1}),
        ("messages", {"workflow": "kiln", "kind": "messages", "seq": 1}),
    ]
    resumed = change_vector.parse_vector(str(events[0].at))
    assert resumed is not None
    assert kinds_since(session, resumed) == ["messages"]
    assert events[-1].at == now(session)


def test_a_vector_reads_back_from_its_text_and_nothing_else_does() -> None:
    made = Vector(**dict(zip(change_vector.LETTERS.values(), range(1, 10), strict=True)))
    assert change_vector.parse_vector(str(made)) == made
    for text in (
        "",
        "p1",
        "p1.m2",
        f"{made}.x",
        f"{made}\n",
        str(made).replace("p1", "p01"),
        "p" * 9_999,
        "\0",
    ):
        assert change_vector.parse_vector(text) is None


def test_nothing_is_told_of_other_workflows(session: Session) -> None:
    before = now(session)
    other = workflows.ensure(session.db, "wheel")
    plans.add(session.db, other.id, plan(), reason="first")
    assert kinds_since(session, before) == []
    assert change_vector.vectors(session.db) == {"kiln": before, "wheel": Vector(plan=1)}
    assert change_vector.vectors(session.db, ["wheel", "teapot"]) == {"wheel": Vector(plan=1)}
    assert change_vector.vectors(session.db, []) == {}
    assert change_vector.vectors(session.db, ["teapot"]) == {}


def test_the_sum_of_vectors_moves_with_each_of_them() -> None:
    one = Vector(plan=1)
    two = Vector(messages=3)
    assert change_vector.sum_of([one, two]) == Vector(plan=1, messages=3)
    assert change_vector.sum_of([]) == Vector()
