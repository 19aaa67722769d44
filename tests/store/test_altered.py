"""Rows that somebody has changed by hand into other JSON that is valid: one clear error that
names the row."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import foreword
from foreword.errors import StoreError
from tests.sessions import Open, numbered_message, plan
from tests.store.databases import KINDS, new_url

USAGES = ["[]", "5", "{}", '{"prefix_break": ""}']
ALTERED: dict[str, tuple[list[str], Callable[[foreword.Session], object], str]] = {
    "plans.written": (
        [
            "[]",
            "5",
            "null",
            "{}",
            '{"phases": 5}',
            '{"plan_version": 1, "created_at": "", "updated_at": ""}',
        ],
        lambda session: session.plan_diff(1, 1),
        "plan version 1 in {db} was altered",
    ),
    "workflows.written": (
        ["[]", "5"],
        lambda session: session.snapshot(),
        "workflow 'main' in {db} was altered",
    ),
    "nodes.written": (
        ["[]", "5", "{}"],
        lambda session: session.drop_node("x"),
        "node 'n' in {db} was altered",
    ),
    "compressions.summary": (
        ["[]", "5"],
        lambda session: session.compressions(),
        "compression 1 in {db} was altered",
    ),
    "cuts.excerpts": (
        ["[]", "5", '{"a": 5}', '{"1": "b"}', '{"1": -5}', '{"1": true}'],
        lambda session: session.context(),
        "the cut of conversation 1 for a budget of 2000 in {db} was altered",
    ),
    "reports.usage": (
        USAGES,
        lambda session: session.usage(),
        "the usage of report 1 in {db} was altered",
    ),
}
CASES = []
for column, (rows, look, says) in ALTERED.items():
    CASES += [(column, row, look, says) for row in rows]


def fill_tables(session: foreword.Session) -> None:
    """Something in every table."""
    session.update_plan(plan(), "first plan")
    session.put_node({"id": "n", "position": 1, "type": "t"})
    for number in range(12):
        session.append(numbered_message(number, 200))
    session.compress(to=1_000)
    session.append(numbered_message(12, 600))
    session.context()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("column", "row", "look", "says"), CASES, ids=[f"{case[0]}={case[1]}" for case in CASES]
)
def test_a_row_that_was_altered_is_named_and_not_used(
    kind: str,
    column: str,
    row: str,
    look: Callable[[foreword.Session], object],
    says: str,
    tmp_path: Path,
) -> None:
    url = new_url(kind, tmp_path)
    with foreword.Session.open(url, root=tmp_path, budget=2_000, auto_compress=False) as session:
        fill_tables(session)
        table, _, name = column.partition(".")
        assert session.db.rows(f"SELECT 1 FROM {table}")
        session.db.rows(f"UPDATE {table} SET {name} = ?", (row,))
        with pytest.raises(StoreError) as found:
            look(session)
    assert found.value.message.startswith(says.format(db=session.db.name))
    assert (
        "restore the database" in found.value.hint or f"from the table {table}" in found.value.hint
    )


def test_a_usage_line_that_was_altered_stops_a_call_until_its_row_is_gone(
    open_session: Open,
) -> None:
    session = open_session()
    session.append(numbered_message(0))
    session.context()
    session.db.rows("""UPDATE reports SET usage = '{"prefix": 5}'""")
    other = open_session()
    with pytest.raises(StoreError, match=r"the usage of report 1 in .* was altered"):
        other.context()
    session.db.rows("DELETE FROM reports")
    assert "Message 0." in other.context().text


def test_a_plan_of_a_wrong_shape_is_replaced_by_the_next_version(open_session: Open) -> None:
    session = open_session()
    session.update_plan(plan(), "first plan")
    session.db.rows("UPDATE plans SET written = replace(written, 'phases', 'faces')")
    with pytest.raises(StoreError, match=r"plan version 1 in .* was altered") as found:
        session.plan_history()
    assert "foreword plan update" in found.value.hint
    session.update_plan(plan(), "again")
    assert session.get_current_plan() is not None


@pytest.mark.parametrize(
    "counter", ["o200k x0", "o200k xnan", "o200k xinf", "o200k x-1", "o200k x1e-300"]
)
def test_a_counter_that_counts_nothing_is_refused_until_one_is_named(
    open_session: Open, counter: str
) -> None:
    session = open_session()
    session.append(numbered_message(0))
    session.db.rows("UPDATE conversations SET counter = ?", (counter,))
    with pytest.raises(
        StoreError, match=f"the counter '{counter}' in the table conversations was altered"
    ) as found:
        open_session()
    assert "counter=o200k" in found.value.hint
    assert open_session(counter="o200k").size_tokens() > 0
