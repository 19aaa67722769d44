"""The same calls in the same order leave the same state in both databases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.errors import ForewordError
from foreword.messages.message import KINDS, Message, keep
from foreword.messages.parts import Image, Opaque, Text, Thinking, ToolCall, ToolResult
from foreword.section import handle_of
from foreword.store import checkpoints, compressions, cuts, messages, plans, variables, workflows
from foreword.store.carried_items import read_items, write_items
from foreword.store.database import Database
from foreword.store.messages import Range
from foreword.store.reports import save_report, usage_log
from foreword.store.urls import open_database
from tests.examples import examples
from tests.postgres import new_database
from tests.store.databases import USAGE, record_call

EXAMPLES = examples(15)
TIMES = {"created", "updated", "changed", "created_at", "updated_at"}
NUMBERS = {"id", "workflow"}  # given by the database
_names = count()

texts = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["\0", "\ud800", "\ufdd00000", "password", "🧭"]
)
names = st.sampled_from(["a", "B", "é", "password", "z y"])
numbers = st.integers(-(2**63) - 1, 2**63) | st.integers(0, 9)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
details = st.dictionaries(texts, values, max_size=3)
small = st.integers(0, 6)
sizes = st.dictionaries(small, small)
nodes = st.builds(
    lambda name, at, data: {**data, "id": name, "position": at}, texts, numbers, details
)
images = st.builds(Image, texts, texts, texts)
opaque = st.builds(
    lambda name, text, raw: keep(Opaque(name, text), name, raw), texts, texts, details
)
parts = st.one_of(
    st.builds(Text, texts),
    images,
    opaque,
    st.builds(Thinking, texts, texts, redacted=st.booleans(), shape=texts),
    st.builds(ToolCall, texts, texts, texts),
    st.builds(
        ToolResult,
        texts,
        texts,
        st.booleans(),
        rest=st.lists(images | opaque, max_size=2).map(tuple),
    ),
)
said = st.builds(
    Message,
    st.sampled_from(["user", "assistant", "tool"]),
    st.lists(parts, max_size=3).map(tuple),
    st.sampled_from(KINDS),
)
batches = st.lists(st.tuples(said, st.integers(0, 99), st.booleans()), max_size=3)

Call = Callable[[Database, int, int], object]


def _compress(last: int, summary: str, note: str) -> Call:
    new = compressions.Compression(
        last=last,
        summary=summary,
        method="extract",
        note=note,
        replaced_tokens=2,
        summary_tokens=1,
        tokens_before=4,
        tokens_after=3,
        excerpts={4: 200},
    )
    return lambda db, workflow, talk: compressions.add(
        db, talk, new, after=compressions.number_of(compressions.current(db, talk))
    )


def _save(body: bytes, usage: dict[str, Any] | None) -> Call:
    report = {"recipe": "r", "total_tokens": 1, "budget_tokens": 2, "usage": usage}
    used = None if usage is None else usage | USAGE
    return lambda db, workflow, talk: (
        save_report(db, {handle_of(body): body}, report, conversation=talk, usage=used) > 0
    )


def _carry(kind: str, title: str, end: bool) -> Call:
    key = (kind, title)
    item = {"kind": kind, "title": title, "text": "t"}
    if end:
        return lambda db, workflow, talk: write_items(db, f"work {workflow}", {}, ended=[key])
    return lambda db, workflow, talk: write_items(db, f"work {workflow}", {key: item})


calls = st.one_of(
    st.builds(lambda data: lambda db, w, c: workflows.describe(db, w, data), details),
    st.builds(lambda node: lambda db, w, c: workflows.put_node(db, w, node), nodes),
    st.builds(lambda name: lambda db, w, c: workflows.drop_node(db, w, name), texts),
    st.builds(
        lambda data, why: lambda db, w, c: plans.add(db, w, data, reason=why), details, texts
    ),
    st.builds(
        lambda data, why, seen: lambda db, w, c: plans.add(db, w, data, reason=why, expected=seen),
        details,
        texts,
        small,
    ),
    st.builds(lambda version: lambda db, w, c: plans.get(db, w, version), numbers),
    st.builds(
        lambda name, value, why: (
            lambda db, w, c: variables.set_variable(db, w, name, value, reason=why)
        ),
        names,
        values,
        texts,
    ),
    st.builds(
        lambda name, why: lambda db, w, c: variables.drop(db, w, name, reason=why), names, texts
    ),
    st.builds(lambda why: lambda db, w, c: variables.drop_all(db, w, why), texts),
    st.builds(lambda batch: lambda db, w, c: messages.append(db, c, batch), batches),
    st.builds(
        lambda counted: lambda db, w, c: messages.recount(db, c, "other", counted.items()), sizes
    ),
    st.builds(lambda text: lambda db, w, c: messages.set_system_prompt(db, c, text), texts),
    st.builds(
        lambda a, b: lambda db, w, c: messages.set_limits(db, c, warned=a, quiet_until=b),
        numbers,
        numbers,
    ),
    st.builds(lambda seq, limit: lambda db, w, c: messages.before(db, c, seq, limit), small, small),
    st.builds(lambda a, b: lambda db, w, c: messages.between(db, Range(c, a, b)), small, small),
    st.builds(_compress, small, texts, texts),
    st.just(lambda db, w, c: compressions.undo(db, c)),
    st.builds(
        lambda number, last: lambda db, w, c: record_call(db, c, number, last=last), small, small
    ),
    st.builds(
        lambda after: lambda db, w, c: cuts.request_cut(db, c, "compressed", after=after), small
    ),
    st.just(lambda db, w, c: cuts.newest_call(db, c)),
    st.builds(lambda name: lambda db, w, c: checkpoints.note_written(db, w, name, [name]), names),
    st.builds(_save, st.binary(max_size=9), st.none() | details),
    st.builds(_carry, texts, texts, st.booleans()),
)


@cache
def both() -> tuple[Database, Database]:
    """Two databases, open for as long as the tests run."""
    return open_database(f"sqlite:///{mkdtemp()}/store.db", Path()), open_database(
        new_database(), Path()
    )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(calls, max_size=12))
def test_the_same_calls_leave_the_same_state(sequence: list[Call]) -> None:
    name = f"workflow {next(_names)}"
    seen = []
    for db in both():
        workflow = workflows.ensure(db, name).id
        talk = messages.ensure(db, workflow, "main", "words").id
        answers = [_answer(call, db, workflow, talk) for call in sequence]
        seen.append((answers, state(db, workflow, talk)))
    assert seen[0] == seen[1]


def _answer(call: Call, db: Database, workflow: int, talk: int) -> object:
    try:
        return comparable(call(db, workflow, talk))
    except ForewordError as error:
        return type(error).__name__


def state(db: Database, workflow: int, talk: int) -> dict[str, object]:
    """All that can be seen of a workflow, in order, without numbers and times of the database's
    own."""
    (found,) = [
        one
        for one in workflows.list_workflows(db)
        if workflows.find_workflow(db, one.name).id == workflow
    ]
    everything = {
        "listed": found,
        "details": workflows.find_workflow(db, found.name),
        "nodes": workflows.nodes(db, workflow),
        "plans": plans.history(db, workflow),
        "variables": variables.all_variables(db, workflow),
        "changes": variables.changes(db, workflow),
        "conversation": messages.find(db, workflow, "main"),
        "history": messages.after(db, talk, 0),
        "pinned": messages.pinned_messages(db, talk),
        "size": messages.up_to(db, talk),
        "compressions": compressions.all_compressions(db, talk),
        "call": cuts.newest_call(db, talk),
        "checkpoints": db.rows(
            "SELECT name FROM checkpoints WHERE workflow = ? ORDER BY id", (workflow,)
        ),
        "usage": [{**entry, "report": 0} for entry in usage_log(db, talk)],
        "carried": read_items(db, f"work {workflow}"),
    }
    return {name: comparable(value) for name, value in everything.items()}


def comparable(value: Any) -> Any:
    """A value in a form that can be compared, order of keys included."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {name: each for name, each in asdict(value).items() if name not in NUMBERS}
    if isinstance(value, dict):
        return [(name, comparable(each)) for name, each in value.items() if name not in TIMES]
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    return repr(value)
