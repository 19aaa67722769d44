"""A checkpoint's name, its shape, what has changed since, and how a model reads it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.errors import BadCheckpoint, UsageError
from foreword.sources.git_status import GitStatus
from foreword.work.checkpoint import (
    Checkpoint,
    CurrentState,
    as_data,
    as_json,
    as_plain_text,
    as_text,
    changes_since,
    file_name,
    named_by,
)
from foreword.work.checkpoint_schema import Damage, json_schema, prepare_checkpoint, read_checkpoint
from tests.examples import examples

EXAMPLES = examples(15)
WRITTEN = Checkpoint(
    task="FEAT-1",
    phase="2",
    objective="Members can join a waiting list",
    flow="feature-implementation",
    state={"step": 3, "open": ["a", "b"], "note": "two\nlines"},
    decisions=({"what": "SQLite", "why": "one file"}, {"what": "No queue", "why": ""}),
    findings=("the test is slow", {"severity": "high", "file": "a.py", "line": 7}),
    artifacts={
        "FEAT-1": {
            "title": "Requirements",
            "handle": "fw_3f9c01d7ab52e8",
            "tokens": 1200,
            "path": "req.md",
        }
    },
    done=("1", "2"),
    pending=("3a", "3b"),
    tiers={"0": {"digest": "aa", "tokens": 380}, "1": {"digest": "bb", "tokens": 900}},
    git=GitStatus("main", "1" * 40, False),
    written_at="2026-01-02T03:04:05.678+00:00",
    sequence=2,
    previous="FEAT-1-phase-1",
)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12) | st.from_regex(
    r"(phase-|-phase|-|\.|%2E|/|a|A|\x00){1,6}", fullmatch=True
)
states = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


# --- the name -------------------------------------------------------------------------------------


def test_a_plain_task_and_phase_are_a_plain_file_name() -> None:
    assert file_name("FEAT-1", "3a") == "FEAT-1-phase-3a.json"
    assert file_name("v1.2_x", "3-Sequential") == "v1.2_x-phase-3-Sequential.json"


@pytest.mark.parametrize(
    "task",
    [
        "../../etc/passwd",
        "/abs",
        "..",
        ".",
        ".hidden",
        "a\\b",
        "a:b",
        "CON",
        "ﬁ",
        "аdmin",
        "a b",
        "a\u202eb",
    ],
)
def test_a_name_from_outside_becomes_one_safe_segment_and_comes_back(task: str) -> None:
    name = file_name(task, "1")
    assert name.isascii()
    assert not set(name) & set('/\\:\0 *?"<>|')
    assert not name.startswith(".")
    assert named_by(name) == (task, "1")


@pytest.mark.parametrize(
    ("task", "phase"), [("", "1"), ("a", ""), ("x" * 300, "1"), ("é" * 60, "1"), ("\ud800", "1")]
)
def test_a_name_that_makes_no_file_name_is_an_error(task: str, phase: str) -> None:
    with pytest.raises(UsageError):
        file_name(task, phase)


@settings(max_examples=3 * EXAMPLES)
@given(names, names)
def test_every_name_can_be_read_back_so_no_two_share_a_file(task: str, phase: str) -> None:
    try:
        name = file_name(task, phase)
    except UsageError:
        assert len((task + phase).encode()) * 3 > 100
        return
    assert named_by(name) == (task, phase)


@pytest.mark.parametrize(
    "other",
    [
        "notes.json",
        "a-phase-.json",
        "-phase-1.json",
        "%zz-phase-1.json",
        "a-phase-1.txt",
        "%61-phase-1.json",
        ".new-1-2",
        "%FF-phase-1.json",
    ],
)
def test_files_of_other_names_are_nobodys_checkpoint(other: str) -> None:
    assert named_by(other) is None


# --- its shape ------------------------------------------------------------------------------------


def test_a_checkpoint_comes_back_as_it_was_and_follows_the_published_schema() -> None:
    assert read_checkpoint(as_json(WRITTEN)) == WRITTEN
    jsonschema.Draft202012Validator.check_schema(json_schema())
    jsonschema.validate(json.loads(as_json(WRITTEN)), json_schema())


@settings(max_examples=EXAMPLES)
@given(states)
def test_any_json_comes_back_from_the_state(state: dict[str, Any]) -> None:
    back = read_checkpoint(as_json(replace(WRITTEN, state=state)))
    assert isinstance(back, Checkpoint)
    assert back.state == state


def test_fields_of_somebody_else_are_kept_at_any_depth() -> None:
    data = {
        **as_data(WRITTEN),
        "team": {"lead": "Ada"},
        "decisions": [{"what": "x", "why": "y", "by": "Ada"}],
    }
    back = read_checkpoint(json.dumps(data))
    assert isinstance(back, Checkpoint)
    assert back.extra == {"team": {"lead": "Ada"}}
    assert as_data(back) == data
    assert prepare_checkpoint(back).decisions == data["decisions"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not JSON"),
        (as_json(WRITTEN)[:200], "not JSON: Unterminated|not JSON: Expecting"),
        (b"[]", "must be a mapping, not a list"),
        (b"\xff{}", "not UTF-8"),
        (b'{"format": NaN}', "NaN"),
        (b"[" * 100_000, "not usable JSON|not JSON"),
        (b'{"format": 9, "shape": "new"}', r"newer Foreword \(format 9, this one knows 1\)"),
        (b'{"format": 1}', "task: missing; phase: missing; state: missing and 2 more"),
        (
            json.dumps({**as_data(WRITTEN), "sequence": "2"}).encode(),
            "sequence: must be a whole number",
        ),
        (json.dumps({**as_data(WRITTEN), "done": "all"}).encode(), "done: must be a list"),
        (
            json.dumps({**as_data(WRITTEN), "git": {"head": "--upload-pack=x"}}).encode(),
            r"git\.head: must match",
        ),
        (
            json.dumps({**as_data(WRITTEN), "decisions": [{"why": 1}]}).encode(),
            r"decisions\[0\]\.what: missing",
        ),
    ],
)
def test_what_is_no_checkpoint_is_told_with_the_reason(text: bytes, reason: str) -> None:
    damage = read_checkpoint(text)
    assert isinstance(damage, Damage)
    with pytest.raises(ValueError, match=reason):
        raise ValueError(damage.reason)


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {}


LOOP: dict[str, Any] = {}
LOOP["loop"] = LOOP


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"state": {"x": float("nan")}}, "can't be kept as JSON"),
        ({"state": {"x": object()}}, "can't be kept as JSON"),
        ({"state": nested(150)}, "nested more than 100 deep"),
        ({"state": LOOP}, "nested more than 100 deep"),
        ({"state": []}, "state: must be a mapping"),
        ({"decisions": ["x"]}, r"decisions\[0\]"),
        (
            {"artifacts": {"A": {"content": "all of it"}}},
            r"artifacts\.A\.content: an artifact is a reference",
        ),
        ({"extra": {"task": "other"}}, r"extra\.task: the checkpoint has a field of that name"),
    ],
)
def test_what_can_not_be_kept_is_refused_with_its_path(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadCheckpoint, match=problem):
        prepare_checkpoint(replace(WRITTEN, **wrong))


def test_secrets_are_hidden_wherever_somebody_may_have_put_them() -> None:
    secret = "sk-ant-REDACTED"
    kept = prepare_checkpoint(
        replace(
            WRITTEN,
            objective=f"use {secret}",
            state={"password": "hunter2", "deep": [{"note": secret}]},
            decisions=[{"what": secret, "why": "password: hunter2"}],
            findings=[secret],
            artifacts={
                "auth-token": {"title": f"key {secret}", "handle": "fw_3f9c01d7ab52e8", "tokens": 5}
            },
            pending=[f"rotate {secret}"],
            extra={"api_key": "hunter2"},
        )
    )
    written = as_json(kept).decode()
    assert secret not in written
    assert "hunter2" not in written
    assert kept.artifacts["auth-token"] == {
        "title": "key [hidden]",
        "handle": "fw_3f9c01d7ab52e8",
        "tokens": 5,
    }


# --- what has changed since -----------------------------------------------------------------------


def test_nothing_has_changed_where_everything_is_as_it_was() -> None:
    assert changes_since(WRITTEN, CurrentState(git=WRITTEN.git, tiers=WRITTEN.tiers)) == ()
    assert (
        changes_since(
            replace(WRITTEN, git=GitStatus()), CurrentState(git=GitStatus("main", "1" * 40, True))
        )
        == ()
    )


def test_every_change_is_one_line() -> None:
    now = CurrentState(
        git=GitStatus("other", "2" * 40, True),
        apart=(3, 1),
        files={"FEAT-1": "req.md is missing"},
        tiers={"0": {"digest": "aa"}, "1": {"digest": "cc"}, "2": {"digest": "dd"}},
        newer="FEAT-1-phase-3",
    )
    assert changes_since(WRITTEN, now) == (
        "there is a newer checkpoint: FEAT-1-phase-3",
        "the branch is other, it was main",
        "HEAD is 222222222222, it was 111111111111: 3 commits ahead, 1 commit behind",
        "there are changes that are not committed",
        "artifact FEAT-1: req.md is missing",
        "tier 1 reads differently: cc, it was bb",
        "tier 2 was not loaded then and is now",
    )


@pytest.mark.parametrize(
    ("then", "now", "told"),
    [
        (GitStatus("main", "1" * 40, False), GitStatus(), "there is no git repository any more"),
        (
            GitStatus("x", "1" * 40, True),
            GitStatus("x", "1" * 40, False),
            "the changes that were not committed then are gone",
        ),
        (
            GitStatus("main", "1" * 40),
            GitStatus(None, "1" * 40),
            "the branch is none (a commit is checked out), it was main",
        ),
        (
            GitStatus("main", "1" * 40),
            GitStatus("main", "2" * 40),
            "HEAD is 222222222222, it was 111111111111: that commit is not in this repository",
        ),
    ],
)
def test_git_is_told_as_far_as_it_is_known(then: GitStatus, now: GitStatus, told: str) -> None:
    assert changes_since(replace(WRITTEN, git=then), CurrentState(git=now)) == (told,)


# --- as a model reads it --------------------------------------------------------------------------


def test_a_model_reads_it_in_a_fixed_order_and_without_empty_parts() -> None:
    assert as_text(WRITTEN, ["the branch is other, it was main"]) == (
        "task: FEAT-1 (flow feature-implementation)\n"
        "objective: Members can join a waiting list\n"
        "phase: 2\n"
        "checkpoint: 2, written 2026-01-02T03:04:05.678+00:00\n"
        "git: main at 111111111111\n"
        "changed since:\n"
        "- the branch is other, it was main\n"
        "done: 1, 2\n"
        "pending: 3a, 3b\n"
        "next: 3a\n"
        "decisions:\n"
        "- SQLite (why: one file)\n"
        "- No queue\n"
        "findings:\n"
        "- the test is slow\n"
        '- {"severity":"high","file":"a.py","line":7}\n'
        "artifacts:\n"
        "- [FEAT-1] Requirements, req.md, fw_3f9c01d7ab52e8, 1,200 tokens\n"
        "state:\n"
        "- step: 3\n"
        '- open: ["a","b"]\n'
        '- note: "two\\nlines"\n'
    )
    assert as_text(Checkpoint(task="A", phase="1")) == "task: A\nphase: 1\n"


@settings(max_examples=EXAMPLES)
@given(st.text(st.characters(codec=None)))
def test_no_value_can_forge_a_line(text: str) -> None:
    forged = replace(
        WRITTEN,
        objective=f"x{text}",
        state={text: text},
        findings=[text],
        done=[text, "b"],
        pending=[],
    )
    told = as_text(forged, [f"x{text}"])
    assert len(told.splitlines()) == told.count("\n") == 17


def test_a_phase_that_is_not_done_is_the_next_one() -> None:
    assert "next: 2\n" in as_text(Checkpoint(task="A", phase="2", done=["1"], pending=["2", "3"]))
    assert "next: 1\n" in as_text(Checkpoint(task="A", phase="0", pending=["1", "2"]))
    assert "next" not in as_text(Checkpoint(task="A", phase="2", done=["1", "2"]))


def test_as_it_was_written_has_every_field() -> None:
    told = as_plain_text(WRITTEN)
    assert "tiers:\n- 0: " in told
    assert all(f"\n{name}:" in told for name in as_data(WRITTEN) if as_data(WRITTEN)[name])
