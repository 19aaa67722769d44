"""Eight processes that write the same conversation, plan and variables at once lose nothing and
take turns."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, product
from pathlib import Path

import pytest

from foreword.store import messages, plans, variables
from tests.store.databases import (
    KINDS,
    OPEN,
    conversation_in,
    new_url,
    open_db,
    run_at_once,
    workflow_in,
)

WRITERS, ROUNDS = 8, 20
# Each says which numbers its messages were given, and which versions its plans.
WRITER = f"""{OPEN}
from foreword.errors import PlanConflict
for number in range({ROUNDS}):
    name = f"{{sys.argv[2]}}.{{number}}"
    batch = [(Message("user", (Text(name),)), 1 + number % 7, False)] * (1 + number % 2)
    print("seq", *(line.seq for line in messages.append(db, conversation, batch)))
    print("version", plans.add(db, workflow, {{"goal": name}}, reason=name).version)
    try:  # on top of what it has seen, as an agent does
        seen = plans.newest_version(db, workflow)
        made = plans.add(
            db, workflow, {{"goal": name}}, reason="seen " + name, expected=seen
        )
        print("version", made.version)
    except PlanConflict as conflict:
        assert conflict.version > seen and conflict.newest["plan_version"] == conflict.version
    variables.set_variable(db, workflow, f"v{{number % 5}}", name, reason=name)
db.close()
"""


WRITE_OR_READ = """
batch = [(Message("user", (Text("x" * 999),)), 1, False)] * 10
for number in range(60):
    lines = messages.after(db, conversation, 0)
    assert len(lines) % 10 == 0 and all(line.running == line.seq for line in lines), lines
    if sys.argv[2] == "w" and number % 2:
        messages.append(db, conversation, batch)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_eight_writers_at_once_lose_nothing(kind: str, tmp_path: Path) -> None:
    url = new_url(kind, tmp_path)
    numbers: dict[str, list[int]] = {"seq": [], "version": []}
    for output in run_at_once(WRITER, [(url, n) for n in range(WRITERS)]):
        for line in output.splitlines():
            what, *printed = line.split()
            numbers[what] += map(int, printed)
    with open_db(url) as db:
        workflow = workflow_in(db)
        lines = messages.after(db, conversation_in(db).id, 0)
        versions = plans.history(db, workflow)
        trail = variables.changes(db, workflow, 10**9)
        values = variables.all_variables(db, workflow)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert sorted(numbers["seq"]) == list(range(1, len(lines) + 1))
    assert [line.running for line in lines] == list(accumulate(line.tokens for line in lines))
    names = Counter[str]()
    for writer, number in product(range(WRITERS), range(ROUNDS)):
        names[f"{writer}.{number}"] = 1 + number % 2
    assert Counter(line.message.text for line in lines) == names
    assert [plan.version for plan in versions] == list(range(1, len(versions) + 1))
    assert sorted(numbers["version"]) == list(range(1, len(versions) + 1))
    assert [plan.data["plan_version"] for plan in versions] == [plan.version for plan in versions]
    assert {plan.reason for plan in versions} >= set(names)
    assert Counter(change.reason for change in trail) == Counter(list(names))
    assert values == {change.name: change.reason for change in reversed(trail)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_sees_no_half_of_a_batch_while_others_write(kind: str, tmp_path: Path) -> None:
    url = new_url(kind, tmp_path)
    run_at_once(f"{OPEN}{WRITE_OR_READ}", [(url, what) for what in ("w", "w", "r", "r")])
    with open_db(url) as db:
        assert messages.up_to(db, conversation_in(db).id) == messages.Extent(600, 600, 600)
