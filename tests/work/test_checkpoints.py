"""Checkpoints on the disk: whole at any moment, read back with what has changed since."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from foreword.errors import (
    BadCheckpoint,
    CheckpointDamaged,
    ForewordError,
    StoreError,
    UnknownName,
    UsageError,
)
from foreword.secrets.masking import hide
from foreword.store import originals, workflows
from foreword.store.database import Database
from foreword.work.checkpoint import Checkpoint, as_json, file_name
from foreword.work.checkpoint_schema import read_checkpoint
from foreword.work.task_checkpoints import checkpoint_entries, newest, read, write
from tests.examples import examples
from tests.sources.test_git import repository, run
from tests.store.databases import KINDS, new_url, open_db
from tests.warm_process import ForkedCommand
from tests.work.test_checkpoint import states

KILLS = int(os.environ.get("FOREWORD_KILLS", "8"))
EXAMPLES = examples(15)
WRITER = """
import sys
from itertools import count
from pathlib import Path
from foreword.work.task_checkpoints import write
from foreword.store.urls import open_database
from foreword.work.checkpoint import Checkpoint

root, who, most = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
db = open_database(None, root) if sys.argv[4] == "store" else None
print("ready", flush=True)
for number in range(most) if most else count():
    state = {"who": who, "number": number, "fill": [who] * 2_000}
    write(root, db, Checkpoint(task="T", phase=str(number % 3), state=state))
    print(number, flush=True)
"""


@pytest.fixture(params=KINDS)
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with open_db(new_url(request.param, tmp_path)) as database:
        yield database


def folder(root: Path) -> Path:
    return root / ".checkpoints"


def put(root: Path, checkpoint: Checkpoint) -> None:
    """A file as somebody else may have left it."""
    folder(root).mkdir(exist_ok=True)
    (folder(root) / file_name(checkpoint.task, checkpoint.phase)).write_bytes(as_json(checkpoint))


def numbered(phase: str, sequence: int, **fields: Any) -> Checkpoint:
    return Checkpoint(
        task="T",
        phase=phase,
        sequence=sequence,
        written_at="2026-01-02T03:04:05.000+00:00",
        **fields,
    )


# --- there and back -------------------------------------------------------------------------------


def test_a_checkpoint_is_in_its_file_and_comes_back(tmp_path: Path, db: Database) -> None:
    first = Checkpoint(
        task="FEAT-1",
        phase="1",
        objective="x",
        state={"é": ["\0", "\ud800", 1.5]},
        done=["1"],
        pending=["2"],
    )
    path = write(tmp_path, db, first)
    assert path == folder(tmp_path) / "FEAT-1-phase-1.json"
    write(tmp_path, db, Checkpoint(task="FEAT-1", phase="2"))
    for root, store in ((tmp_path, db), (tmp_path, None)):
        back = read(root, store, "FEAT-1", "1")
        last = newest(root, store, "FEAT-1")
        assert (back.checkpoint.state, back.checkpoint.done) == (first.state, ("1",))
        assert (back.checkpoint.sequence, back.checkpoint.previous) == (1, None)
        assert (last.checkpoint.phase, last.checkpoint.sequence, last.checkpoint.previous) == (
            "2",
            2,
            "FEAT-1-phase-1",
        )
        assert (back.changes, last.changes) == (
            ("there is a newer checkpoint: FEAT-1-phase-2",),
            (),
        )


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(states)
def test_any_state_comes_back(tmp_path: Path, state: dict[str, Any]) -> None:
    assume(hide(state) == state)  # a name such as PW by chance, whose value is hidden
    write(tmp_path, None, Checkpoint(task="T", phase="1", state=state))
    assert newest(tmp_path, None, "T").checkpoint.state == state


def test_a_phase_that_is_written_again_is_the_newest(tmp_path: Path, db: Database) -> None:
    for phase in ("1", "2", "1"):
        write(tmp_path, db, Checkpoint(task="T", phase=phase))
    last = newest(tmp_path, db, "T").checkpoint
    assert (last.phase, last.sequence, last.previous) == ("1", 3, "T-phase-2")
    assert [one.phase for one in checkpoint_entries(tmp_path)] == ["2", "1"]


def test_secrets_do_not_reach_the_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        None,
        Checkpoint(
            task="T", phase="1", state={"password": "hunter2"}, findings=["token=hunter2hunter2"]
        ),
    )
    assert "hunter2" not in path.read_text()
    assert "[hidden]" in path.read_text()


# --- names from outside ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../../up", "/etc/x", "..", ".x", "а", "a/b", "a%2Fb", "CON", "a-phase-1", "-rf"]
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, db: Database, name: str) -> None:
    root = tmp_path / "deep" / "root"
    root.mkdir(parents=True)
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert write(root, db, Checkpoint(task=name, phase=name, state={"n": name})).parent == folder(
        root
    )
    write(root, db, Checkpoint(task=f"{name}2", phase=name))
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.parent for path in made if path.suffix == ".json"} == {folder(root)}
    assert read(root, None, name, name).checkpoint.state == {"n": name}
    assert [one.task for one in checkpoint_entries(root)] == sorted([name, f"{name}2"])


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "a\nb", "x" * 300, "\ud800"])
def test_a_name_that_can_not_be_kept_is_an_error_and_changes_nothing(
    tmp_path: Path, name: str
) -> None:
    for checkpoint in (Checkpoint(task=name, phase="1"), Checkpoint(task="T", phase=name)):
        with pytest.raises(UsageError):
            write(tmp_path, None, checkpoint)
    with pytest.raises(UsageError):
        newest(tmp_path, None, name)
    assert not folder(tmp_path).exists()


def test_a_mistyped_task_or_phase_gets_a_suggestion(tmp_path: Path, db: Database) -> None:
    write(tmp_path, db, Checkpoint(task="FEAT-1", phase="3-Sequential"))
    with pytest.raises(UnknownName, match="did you mean 'FEAT-1'"):
        newest(tmp_path, db, "FEAT1")
    with pytest.raises(UnknownName, match="did you mean '3-Sequential'"):
        read(tmp_path, db, "FEAT-1", "3-sequental")
    with pytest.raises(UnknownName):
        checkpoint_entries(tmp_path, "other")
    assert checkpoint_entries(tmp_path / ".checkpoints") == []


def test_the_file_of_another_task_is_never_replaced(tmp_path: Path) -> None:
    folder(tmp_path).mkdir()
    # as if letters had no case
    (folder(tmp_path) / "t-phase-1.json").write_bytes(as_json(numbered("1", 1)))
    with pytest.raises(UsageError, match=r"t-phase-1\.json holds phase '1' of task 'T' already"):
        write(tmp_path, None, Checkpoint(task="t", phase="1"))
    with pytest.raises(CheckpointDamaged, match="it is of task 'T', phase '1'"):
        newest(tmp_path, None, "t")


@pytest.mark.parametrize("what", ["folder", "file"])
def test_no_link_is_followed(tmp_path: Path, what: str) -> None:
    root = tmp_path / "root"
    outside = tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    secret = outside / "T-phase-1.json"
    secret.write_bytes(as_json(numbered("1", 1)))
    before = secret.read_bytes()
    if what == "folder":
        folder(root).symlink_to(outside)
    else:
        folder(root).mkdir()
        (folder(root) / secret.name).symlink_to(secret)
    with pytest.raises(StoreError, match="is a symbolic link, so it is not used"):
        write(root, None, Checkpoint(task="T", phase="1"))
    with pytest.raises(
        (StoreError, CheckpointDamaged), match="is a symbolic link, so it is not used"
    ):
        newest(root, None, "T")
    assert [path.name for path in outside.iterdir()] == [secret.name]
    assert secret.read_bytes() == before


# --- damage ---------------------------------------------------------------------------------------

DAMAGE = {
    b"": "it is empty",
    as_json(numbered("2", 2))[:100]: "it is not JSON",
    b"\0\1\2": "it is binary",
    b"[1]": "must be a mapping",
    b'{"format": 2}': "written by a newer Foreword",
    b'{"format": 1, "task": "T"}': "phase: missing",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_offered(
    tmp_path: Path, damage: bytes
) -> None:
    for phase in ("1", "2"):
        path = write(tmp_path, None, Checkpoint(task="T", phase=phase, state={"phase": phase}))
    path.write_bytes(damage)
    with pytest.raises(
        CheckpointDamaged, match=r"T-phase-2 can't be used: \.checkpoints/T-phase-2\.json: "
    ) as raised:
        read(tmp_path, None, "T", "2")
    assert DAMAGE[damage] in raised.value.reason
    assert raised.value.before == "1"
    assert raised.value.hint.endswith("`foreword checkpoint resume T --phase 1`")
    restored = newest(tmp_path, None, "T")
    assert restored.checkpoint.phase == "1"
    assert restored.changes[0].startswith(
        "checkpoint T-phase-2 can't be used (.checkpoints/T-phase-2.json: "
    )
    assert [(one.phase, one.checkpoint is None) for one in checkpoint_entries(tmp_path)] == [
        ("2", True),
        ("1", False),
    ]
    write(tmp_path, None, Checkpoint(task="T", phase="2"))
    assert newest(tmp_path, None, "T").changes == ()


@pytest.mark.parametrize(("damaged", "offered"), [("1", "2"), ("2", "1"), ("3", "2")])
def test_of_several_the_one_before_the_damaged_one_is_offered(
    tmp_path: Path, damaged: str, offered: str
) -> None:
    paths = {
        phase: write(tmp_path, None, Checkpoint(task="T", phase=phase)) for phase in ("1", "2", "3")
    }
    paths[damaged].write_text("{")
    with pytest.raises(CheckpointDamaged) as raised:
        read(tmp_path, None, "T", damaged)
    assert raised.value.before == offered


def test_where_nothing_can_be_used_it_is_said_and_nothing_is_offered(tmp_path: Path) -> None:
    write(tmp_path, None, Checkpoint(task="T", phase="1")).write_text("{")
    with pytest.raises(CheckpointDamaged) as by_phase:
        read(tmp_path, None, "T", "1")
    with pytest.raises(CheckpointDamaged) as by_task:
        newest(tmp_path, None, "T")
    for raised in (by_phase, by_task):
        assert raised.value.before is None
        assert raised.value.hint.startswith("no other checkpoint")


def test_bad_input_changes_nothing(tmp_path: Path, db: Database) -> None:
    with pytest.raises(BadCheckpoint):
        write(tmp_path, db, Checkpoint(task="T", phase="1", state={"x": object()}))
    with pytest.raises(ForewordError):
        write(tmp_path / "nowhere", db, Checkpoint(task="T", phase="1"))
    assert not folder(tmp_path).exists()
    assert workflows.names(db) == []


def test_where_the_file_can_not_be_written_the_store_is_left_alone(
    tmp_path: Path, db: Database
) -> None:
    folder(tmp_path).write_text("a file in the way")
    with pytest.raises(StoreError, match=r"\.checkpoints can't be used: Not a directory"):
        write(tmp_path, db, Checkpoint(task="T", phase="1"))
    assert workflows.names(db) == []


# --- what has changed since -----------------------------------------------------------------------


def test_a_branch_that_moved_is_told_with_how_far(tmp_path: Path) -> None:
    repository(tmp_path, "One")
    write(tmp_path, None, Checkpoint(task="T", phase="1"))
    assert newest(tmp_path, None, "T").changes == ()
    run(tmp_path, "commit", "-q", "--allow-empty", "-m", "Two")
    (line,) = newest(tmp_path, None, "T").changes
    assert line.endswith(": 1 commit ahead")
    run(tmp_path, "checkout", "-q", "-b", "other")
    (tmp_path / "file").touch()
    assert newest(tmp_path, None, "T").changes == (
        "the branch is other, it was main",
        line,
        "there are changes that are not committed",
    )


def test_files_of_artifacts_that_are_gone_or_changed_are_told(tmp_path: Path) -> None:
    for name in ("same.md", "changed.md", "gone.md"):
        (tmp_path / name).write_text("text")
    digest = hashlib.sha256(b"text").hexdigest()
    names = ("same.md", "changed.md", "gone.md", "../outside.md")
    artifacts = {
        f"A-{n}": {"title": "x", "path": name, "digest": digest} for n, name in enumerate(names)
    }
    write(tmp_path, None, Checkpoint(task="T", phase="1", artifacts=artifacts))
    (tmp_path / "changed.md").write_text("other")
    (tmp_path / "gone.md").unlink()
    assert newest(tmp_path, None, "T").changes == (
        "artifact A-1: changed.md has changed",
        "artifact A-2: gone.md is missing",
        "artifact A-3: ../outside.md is outside the root",
    )


def test_artifacts_whose_store_is_gone_are_told(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with open_db(new_url("sqlite", tmp_path / "kept")) as db:
        handle = originals.keep(db, b"What phase 1 found.")
        about = {"title": "Requirements", "handle": handle, "tokens": 5}
        write(tmp_path, db, Checkpoint(task="T", phase="1", artifacts={"FEAT-1": about}))
        assert newest(tmp_path, db, "T").changes == ()
    shutil.rmtree(tmp_path / "kept")
    (told,) = newest(tmp_path, None, "T").changes
    assert told == (
        "these handles lead nowhere, since nothing is kept under them in this project, which has no"
        f" store: FEAT-1 ({handle})"
    )


def test_tiers_are_compared_with_those_the_caller_has_now(tmp_path: Path) -> None:
    write(
        tmp_path, None, Checkpoint(task="T", phase="1", tiers={"0": {"digest": "a", "tokens": 3}})
    )
    assert newest(tmp_path, None, "T").changes == ()
    assert newest(tmp_path, None, "T", tiers={"0": {"digest": "a"}}).changes == ()
    now = newest(tmp_path, None, "T", tiers={"0": {"digest": "b"}})
    assert now.changes == ("tier 0 reads differently: b, it was a",)


# --- whole at any moment --------------------------------------------------------------------------


def whole(root: Path) -> list[Checkpoint]:
    """Every checkpoint, the newest last; fails where one is not all of one writer's."""
    found = []
    for path in folder(root).glob("*.json"):
        checkpoint = read_checkpoint(path.read_bytes())
        assert isinstance(checkpoint, Checkpoint), checkpoint
        assert checkpoint.state["fill"] == [checkpoint.state["who"]] * 2_000
        assert checkpoint.phase == str(checkpoint.state["number"] % 3)
        found.append(checkpoint)
    return sorted(found, key=lambda one: one.sequence)


@pytest.mark.parametrize("where", ["store", "files"])
def test_a_writer_that_is_killed_leaves_the_old_one_or_the_new_one(
    tmp_path: Path, where: str
) -> None:
    chance = random.Random(2026)
    written = 0
    for _ in range(KILLS // 2):
        with ForkedCommand([tmp_path, "killed", 0, where], program=WRITER) as writer:
            lines = [writer.stdout.readline() for _ in range(chance.randrange(1, 8))]
            # no wait for anything: the kill comes some way into the next write
            time.sleep(chance.random() / 100)
            writer.kill()
            lines += writer.stdout.readlines()
        written += sum(line.endswith("\n") for line in lines) - 1
        there = whole(tmp_path)
        last = there[-1].sequence if there else 0
        assert written <= last
        written = last
    write(
        tmp_path,
        None,
        Checkpoint(task="T", phase="0", state={"who": "us", "number": 0, "fill": ["us"] * 2_000}),
    )
    assert whole(tmp_path)[-1].sequence == written + 1
    assert {path.suffix for path in folder(tmp_path).iterdir()} == {".json"}


def test_writers_at_once_take_turns_and_readers_see_whole_ones(tmp_path: Path) -> None:
    each = 12
    running = [
        ForkedCommand([tmp_path, who, each, "files"], program=WRITER)
        for who in ("one", "two", "three")
    ]
    while any(process.poll() is None for process in running):
        if folder(tmp_path).exists():
            whole(tmp_path)
    assert [process.wait() for process in running] == [0, 0, 0]
    for process in running:
        process.communicate()
    assert whole(tmp_path)[-1].sequence == 3 * each


def test_what_a_dead_writer_left_is_cleared_away(tmp_path: Path) -> None:
    folder(tmp_path).mkdir()
    (folder(tmp_path) / ".new-1-abcdef00").write_text('{"half')
    assert checkpoint_entries(tmp_path) == []
    write(tmp_path, None, Checkpoint(task="T", phase="1"))
    assert [path.name for path in folder(tmp_path).iterdir()] == ["T-phase-1.json"]


CRAMPED = """
import resource, sys
from foreword.errors import StoreError
from foreword.work.task_checkpoints import write
from foreword.work.checkpoint import Checkpoint

resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    write(sys.argv[1], None, Checkpoint(task="T", phase="1", state={"fill": "x" * 100_000}))
except StoreError as error:
    print(error.message, flush=True)
"""


def test_where_there_is_no_room_the_old_one_stays(tmp_path: Path) -> None:
    path = write(tmp_path, None, Checkpoint(task="T", phase="1", state={"n": 1}))
    before = path.read_bytes()
    said, trouble = ForkedCommand([tmp_path], program=CRAMPED).communicate()
    assert (said, trouble) == (f"{path} can't be used: File too large\n", "")
    assert path.read_bytes() == before
    assert list(folder(tmp_path).iterdir()) == [path]
