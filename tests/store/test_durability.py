"""A writer that is killed at any moment: what it was told is kept is there, and nothing is there
by halves."""

from __future__ import annotations

import os
import random
import time
from itertools import accumulate
from pathlib import Path

import pytest

from foreword.section import handle_of
from foreword.store import messages, originals, plans, variables
from foreword.store.database import Database
from foreword.store.reports import newest_reports
from tests.store.databases import (
    KINDS,
    OPEN,
    conversation_in,
    new_url,
    open_db,
    text_message,
    workflow_in,
)
from tests.warm_process import ForkedCommand

KILLS = int(os.environ.get("FOREWORD_KILLS", "12"))
# It writes as fast as it can, and says what was kept only after the call has returned.
WRITER = f"""{OPEN}
import os
from itertools import count
from foreword.section import handle_of
from foreword.store.reports import save_report

print("open", flush=True)
for number in count():
    name = f"{{os.getpid()}}-{{number}}"
    batch = []
    for part in range(1 + number % 4):
        message = Message("user", (Text(name + " " * part * 900),))
        batch.append((message, part + 1, False))
    print("message", messages.append(db, conversation, batch)[-1].seq, flush=True)
    print("plan", plans.add(db, workflow, {{"goal": name * 50}}, reason=name).version, flush=True)
    variables.set_variable(db, workflow, "v" + str(number % 3), name, reason=name)
    print("variable", name, flush=True)
    body = name.encode() * 2000
    report = {{"recipe": name, "total_tokens": 1, "budget_tokens": 1}}
    save_report(db, {{handle_of(body): body}}, report)
    print("report", name, flush=True)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_lost_or_half_written_when_a_writer_is_killed(kind: str, tmp_path: Path) -> None:
    url, chance = new_url(kind, tmp_path), random.Random(20260)
    kinds = ("message", "plan", "variable", "report")
    acknowledged = {kind: set[str]() for kind in kinds}
    with open_db(url):
        pass
    for _ in range(KILLS):
        for line in written_until_killed(url, chance):
            what, _, which = line.partition(" ")
            if which:
                acknowledged[what].add(which)
        with open_db(url) as db:
            nothing_is_missing(db, acknowledged)
            it_can_be_written(db, acknowledged)
    assert all(len(each) > KILLS for each in acknowledged.values())


def written_until_killed(url: str, chance: random.Random) -> list[str]:
    """What a writer said was kept, up to the moment it was killed."""
    with ForkedCommand([url], program=WRITER) as writer:
        lines = [writer.stdout.readline() for _ in range(chance.randrange(30))]
        # no wait for anything: the kill comes some way into the next write
        time.sleep(chance.random() / 50)
        writer.kill()
        lines += writer.stdout.read().splitlines(keepends=True)
        assert writer.stderr.read() == b""
    return [line.strip() for line in lines if line.endswith("\n")]


def nothing_is_missing(db: Database, acknowledged: dict[str, set[str]]) -> None:
    workflow, conversation = workflow_in(db), conversation_in(db).id
    lines = messages.after(db, conversation, 0)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert [line.running for line in lines] == list(accumulate(line.tokens for line in lines))
    assert {int(seq) for seq in acknowledged["message"]} <= {line.seq for line in lines}
    versions = [plan.version for plan in plans.history(db, workflow)]
    assert versions == list(range(1, len(versions) + 1))
    assert {int(version) for version in acknowledged["plan"]} <= set(versions)
    trail = variables.changes(db, workflow, 10**9)
    assert acknowledged["variable"] <= {change.reason for change in trail}
    newest = {change.name: change.reason for change in reversed(trail)}
    assert variables.all_variables(db, workflow) == newest
    reports = {stored.report["recipe"] for stored in newest_reports(db, 10**9)}
    assert acknowledged["report"] <= reports
    for name in reports:
        assert originals.read_exact(db, handle_of(name.encode() * 2000))


def it_can_be_written(db: Database, acknowledged: dict[str, set[str]]) -> None:
    (line,) = messages.append(db, conversation_in(db).id, [(text_message("still here"), 2, False)])
    acknowledged["message"].add(str(line.seq))
