"""A task of the factory, turn by turn: phases, warnings, what is released, and how it goes on
(SPEC F4, F13, F15)."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import foreword
from foreword.errors import UnknownName, UsageError
from foreword.store import artifacts
from foreword.store.urls import open_database
from foreword.tokens import COUNTERS
from foreword.work.task_checkpoints import newest
from tests.conformance.workshop import limited, workshop
from tests.factory import write
from tests.warm_process import ForkedCommand

LARGE = "# Packing\n\n" + "".join(
    f"Wrap pot {n} in straw, and the straw in paper.\n" for n in range(215)
)  # 2,500 tokens


@pytest.fixture
def task(tmp_path: Path) -> Iterator[foreword.Task]:
    opened = foreword.Task.open(
        workshop(tmp_path), task="FEAT-9", objective="A second kiln", workflow="feature"
    )
    with opened:
        yield opened


def checkpoints(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".checkpoints").glob("*.json"))


# --- F4: entering and leaving ---------------------------------------------------------------------


def test_f4_a_session_begins_without_a_phase(task: foreword.Task) -> None:
    package = task.start()
    assert "Type every pot." in package.text
    assert "<phase>" not in package.text


def test_f4_entering_a_phase_releases_what_the_last_one_loaded(task: foreword.Task) -> None:
    task.enter(1)
    assert "Wrap it in straw." in task.invoke("packing").text
    text = task.enter(2).text
    assert "Draw it" in text
    for gone in ("Find out", "keeps to loam", "Wrap it in straw."):
        assert gone not in text
    assert task.events.index("released tier 2 of phase 1") < task.events.index(
        "loaded tier 2 of phase 2"
    )


def prefix_through_tier_1(text: str) -> str:
    return text[: text.index("</plan>")]


def test_f3_tier_1_and_all_before_it_stay_in_a_resumed_task_and_when_room_is_made(
    tmp_path: Path,
) -> None:
    root = workshop(tmp_path)
    for name in ("packing", "drawing"):
        write(root, f"prompts/{name}.md", LARGE.replace("Packing", name))
    with foreword.Task.open(root, task="FEAT-9", workflow="feature") as task:
        prefix = prefix_through_tier_1(task.enter(1).text)
        task.decide("Two doors", "one for air")
        task.invoke("packing")
        made_room = task.invoke("drawing").text
        assert "restored the checkpoint" in task.events
        assert prefix_through_tier_1(made_room) == prefix
        assert "Two doors" in made_room[len(prefix) :]
    with foreword.Task.resume(root, task="FEAT-9") as task:
        resumed = prefix_through_tier_1(task.context().text)
        assert resumed.index("Two doors") < resumed.index("<language>")
        for phase in ("2", "3a"):
            task.decide(f"decided in {task.phase}")
            text = task.enter(phase).text
            assert prefix_through_tier_1(text) == resumed
        assert "decided in 2" in text[len(resumed) :]


def test_f3_tier_1_is_settled_once_and_what_changes_on_the_way_is_told(tmp_path: Path) -> None:
    root = workshop(tmp_path)
    with foreword.Task.open(root, task="FEAT-9", workflow="feature") as task:
        prefix = prefix_through_tier_1(task.enter(1).text)
        write(root, ".plans/999-newer.md", "# A newer plan\n\nAnother kiln.\n")
        for persona in sorted((root / "personas").rglob("*.md")):
            persona.write_text(persona.read_text() + "\nOne more word.\n")
        package = task.enter(2)
        assert prefix_through_tier_1(package.text) == prefix
        assert "changed since the session began" in "\n".join(package.report.warnings)
    with foreword.Task.resume(root, task="FEAT-9") as task:
        assert "A newer plan" in task.context().text


def test_f4_leaving_a_phase_writes_its_gates_checkpoint(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.enter(1)
    task.enter(2)
    assert checkpoints(tmp_path) == ["FEAT-9-phase-1.json"]
    data = json.loads((tmp_path / ".checkpoints/FEAT-9-phase-1.json").read_bytes())
    assert (data["done"], data["pending"]) == (["1"], ["2", "3a", "3b", "4"])


def test_f4_a_finished_phase_is_loaded_no_longer_and_its_checkpoint_is_written_once(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.enter(1)
    task.finish()
    assert "Find out" not in task.context().text
    task.enter(2)
    assert json.loads((tmp_path / ".checkpoints/FEAT-9-phase-1.json").read_bytes())["sequence"] == 1
    assert task.events.count("released tier 2 of phase 1") == 1


def test_f4_a_phase_can_be_entered_again_for_a_revision(
    task: foreword.Task, tmp_path: Path
) -> None:
    for phase in (1, 2, 1):
        task.enter(phase)
    task.checkpoint()
    with foreword.Task.resume(tmp_path, task="FEAT-9") as resumed:
        assert resumed.phase == "1"
        assert resumed.known.done == ["2"]


@pytest.mark.parametrize("phase", ["9", "", "3", "../1"])
def test_f4_a_phase_that_does_not_exist_changes_nothing(
    task: foreword.Task, tmp_path: Path, phase: str
) -> None:
    before = task.enter(1).text
    with pytest.raises(UnknownName, match="phase") as caught:
        task.enter(phase)
    assert "3a" in caught.value.hint
    assert task.context().text == before
    assert checkpoints(tmp_path) == []


def test_f4_a_task_without_a_workflow_has_no_phases(tmp_path: Path) -> None:
    write(tmp_path, "instructions.md", "# Base\n\nFire no kiln.\n")
    with foreword.Task.open(tmp_path, task="FEAT-9") as task:
        assert "Fire no kiln." in task.start().text
        with pytest.raises(UsageError, match="no workflow"):
            task.enter(1)
        with pytest.raises(UsageError, match="no phase was entered"):
            task.finish()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"task": "FEAT-9", "workflow": "feature-implementatoin"},
            "did you mean 'feature-implementation'",
        ),
        ({"task": ""}, "task"),
        ({"task": "FEAT-9", "counter": "o20k"}, "did you mean 'o200k'"),
        ({"task": "FEAT-9", "recipe": "factry"}, "did you mean 'factory'"),
    ],
)
def test_a_task_that_can_not_be_opened_is_one_clear_error(
    tmp_path: Path, options: dict[str, str], says: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        foreword.Task.open(workshop(tmp_path), **options)  # type: ignore[arg-type]
    assert not (tmp_path / ".checkpoints").exists()


def test_invoking_what_does_not_exist_is_an_error_with_a_suggestion(task: foreword.Task) -> None:
    before = task.enter(1).text
    with pytest.raises(
        UnknownName, match="unknown prompt, panel or persona 'packng', did you mean 'packing'"
    ):
        task.invoke("packng")
    assert task.context().text == before


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("outsider", "speakers"),
        ("packing", "prompts"),
        ("review", "panel"),
        ("crew/outsider", "speakers"),
    ],
)
def test_personas_prompts_and_panels_can_be_invoked(
    task: foreword.Task, name: str, tag: str
) -> None:
    task.enter("3a")
    assert f"<{tag}>" in task.invoke(name).text


# --- F13: usage -----------------------------------------------------------------------------------


def test_f13_usage_is_known_for_every_tier(task: foreword.Task) -> None:
    task.enter(1)
    assert [(use.tier, use.limit) for use in task.usage()] == [(0, 400), (1, 2_000), (2, 3_000)]
    assert all(0 < use.tokens < use.limit for use in task.usage())
    assert task.warnings() == []


def test_f13_a_tier_at_eighty_percent_warns(task: foreword.Task, tmp_path: Path) -> None:
    write(tmp_path, "prompts/packing.md", LARGE)
    task.enter("3a")
    package = task.invoke("packing")
    (warning,) = task.warnings()
    assert re.fullmatch(r"tier 2 is at (8|9)\d% of its 3,000 tokens", warning)
    assert warning in package.report.notes


@pytest.mark.parametrize(("limit", "warns"), [(100, False), (70, True)])
def test_f13_the_warning_begins_at_eighty_percent(tmp_path: Path, limit: int, warns: bool) -> None:
    root = limited(workshop(tmp_path), f"{{0: {limit}, 1: 2000, 2: 3000}}")
    package = foreword.assemble("factory", root=root, save=False)
    used = sum(row.tokens for row in package.report.sections if row.tier == 0)
    assert (used / limit >= 0.8) == warns
    assert any("tier 0 is at" in note for note in package.report.notes) == warns


def test_f13_what_tier_0_takes_from_tier_2_counts(task: foreword.Task, tmp_path: Path) -> None:
    write(tmp_path, "instructions.md", "# Base\n\n" + "Fire no kiln that is open.\n" * 200)
    task.enter(1)
    always, _, phase = task.usage()
    assert phase.limit == 3_000 - (always.tokens - 400)


@pytest.mark.parametrize("by", COUNTERS)
def test_f13_tier_2_over_its_budget_is_checkpoint_release_load_restore(
    tmp_path: Path, by: str
) -> None:
    root = workshop(tmp_path)
    for name in ("packing", "drawing"):
        write(
            root,
            f"prompts/{name}.md",
            LARGE.replace("Packing", name).replace("straw", f"straw {name}"),
        )
    with foreword.Task.open(root, task="FEAT-9", workflow="feature", counter=by) as task:
        task.enter("3a")
        task.invoke("packing")
        task.append({"role": "user", "content": "A question on straw"})
        task.decide("Two doors", "one for air")
        task.found({"severity": "low", "what": "a crack"})
        task.remember(branch="feat/kiln")
        before = len(task.events)
        package = task.invoke("drawing")
        assert task.events[before:] == [
            "checkpoint FEAT-9-phase-3a.json",
            "released what was invoked before and the conversation",
            "loaded prompts/drawing.md",
            "restored the checkpoint",
        ]
        for words in (
            "straw drawing",
            "Two doors",
            "one for air",
            "a crack",
            "feat/kiln",
            "Build it.",
        ):
            assert words in package.text
        for words in ("straw packing", "A question on straw"):
            assert words not in package.text
        assert all(use.tokens <= use.limit for use in task.usage())
        assert task.conversation == []
    data = json.loads((root / ".checkpoints/FEAT-9-phase-3a.json").read_bytes())
    assert data["decisions"] == [{"what": "Two doors", "why": "one for air"}]


def test_f13_with_room_enough_nothing_is_released(task: foreword.Task, tmp_path: Path) -> None:
    task.enter("3a")
    task.append({"role": "user", "content": "A question"})
    task.invoke("packing")
    text = task.invoke("drawing").text
    for words in ("Wrap it in straw.", "three sides", "A question"):
        assert words in text
    assert checkpoints(tmp_path) == []
    assert task.events[-1] == "loaded prompts/drawing.md"


def test_f13_a_prompt_larger_than_all_of_tier_2_takes_a_smaller_form(
    task: foreword.Task, tmp_path: Path
) -> None:
    write(tmp_path, "prompts/packing.md", LARGE * 9)
    task.enter("3a")
    package = task.invoke("packing")
    assert "Wrap pot" in package.text
    assert "Build it." in package.text
    assert task.usage()[-1].tokens <= 3_000


def test_f13_the_restored_checkpoint_is_that_of_the_newest_gate(
    task: foreword.Task, tmp_path: Path
) -> None:
    write(tmp_path, "prompts/packing.md", LARGE)
    write(tmp_path, "prompts/drawing.md", LARGE.replace("straw", "ink"))
    task.enter("3a")
    task.invoke("packing")
    task.invoke("drawing")
    task.decide("Blue glaze")
    text = task.enter("3b").text
    assert "Blue glaze" in text
    assert "done: 3a" in text


def test_a_task_with_dots_in_its_name_stays_in_its_folder(tmp_path: Path) -> None:
    root = workshop(tmp_path / "project")
    with foreword.Task.open(root, task="../../FEAT-9") as task:
        path = task.checkpoint()
    assert path.resolve().parent == (root / ".checkpoints").resolve()
    assert [entry.name for entry in tmp_path.iterdir()] == ["project"]
    with foreword.Task.resume(root, task="../../FEAT-9") as resumed:
        assert resumed.name == "../../FEAT-9"


# --- F15: after a reset ---------------------------------------------------------------------------

# An agent that works until it is killed, in the middle of phase 2.
AGENT = """
import sys
import foreword

task = foreword.Task.open(sys.argv[1], task="FEAT-9", objective="A second kiln", workflow="feature")
task.start()
task.enter(1)
task.hand_on("FEAT-1", "# Requirements\\n\\nA kiln with two doors.\\n", "Requirements")
task.decide("Two doors", "one for air")
task.enter(2)
task.append({"role": "user", "content": "What of the chimney?"})
task.append({"role": "assistant", "content": "It leans."})
task.found("the chimney is too short")
task.remember(height_m=4)
task.checkpoint()
task.decide("never written down")
task.append({"role": "user", "content": "And the door?"})
print("working", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    with ForkedCommand([workshop(tmp_path)], program=AGENT) as agent:
        assert agent.stdout.readline() == "working\n"
        agent.kill()
    assert agent.returncode == -signal.SIGKILL
    return tmp_path


def test_f15_a_new_process_goes_on_from_the_checkpoint(killed: Path) -> None:
    with foreword.Task.resume(killed, task="FEAT-9") as task:
        assert (task.phase, task.objective) == ("2", "A second kiln")
        assert task.known.state == {"height_m": 4}
        assert task.known.decisions == [{"what": "Two doors", "why": "one for air"}]
        assert task.known.findings == ["the chimney is too short"]
        assert task.known.done == ["1"]
        assert task.conversation == []


def test_f15_the_next_call_is_tier_0_the_checkpoint_and_what_the_phase_needs(killed: Path) -> None:
    with foreword.Task.resume(killed, task="FEAT-9") as task:
        package = task.context()
    tags = re.findall(r"^<(\w+)>$", package.text, re.MULTILINE)
    assert tags == [
        "instructions",
        "project",
        "profile",
        "task",
        "checkpoint",
        "language",
        "guidance",
        "personas",
        "plan",
        "artifacts",
        "phase",
        "prompts",
    ]
    for words in (
        "Two doors",
        "the chimney is too short",
        "height_m: 4",
        "[FEAT-1] Requirements",
        "Draw it",
    ):
        assert words in package.text
    for words in (
        "It leans.",
        "What of the chimney?",
        "never written down",
        "with two doors",
        "Find out",
        "Build it.",
    ):
        assert words not in package.text


def test_f15_work_goes_on_and_the_artifacts_are_within_reach(killed: Path) -> None:
    with foreword.Task.resume(killed, task="FEAT-9") as task:
        assert "A kiln with two doors." in task.lookup("FEAT-1")
        task.append({"role": "user", "content": "Where were we?"})
        assert "Where were we?" in task.context().text
        text = task.enter("3a").text
        assert "done: 1, 2" in text
        assert "Build it." in text
    assert checkpoints(killed) == ["FEAT-9-phase-1.json", "FEAT-9-phase-2.json"]


def test_f15_a_task_that_stopped_at_a_gate_goes_on_with_the_next_phase(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.enter(1)
    task.finish()
    with foreword.Task.resume(tmp_path, task="FEAT-9") as resumed:
        assert resumed.phase == "2"
    task.checkpoint()
    with foreword.Task.resume(tmp_path, task="FEAT-9") as resumed:
        assert resumed.phase == "2"


@pytest.mark.parametrize("flow", ["feature", ""])
def test_f15_a_gate_that_only_the_file_says_was_passed_is_not(
    task: foreword.Task, tmp_path: Path, flow: str
) -> None:
    task.enter(1)
    path = task.finish()
    forged = json.loads(path.read_text()) | {"flow": flow, "done": ["1", "2"], "pending": ["3"]}
    path.write_text(json.dumps(forged))
    with foreword.Task.resume(tmp_path, task="FEAT-9") as resumed:
        assert (resumed.phase, resumed.known.done) == ("2", ["1"])
        assert "only the file says that the gate of 2 was passed" in resumed.context().text


def test_f15_a_task_before_its_first_phase_goes_on_there(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.decide("Bricks from the river")
    task.checkpoint()
    with foreword.Task.resume(tmp_path, task="FEAT-9") as resumed:
        assert resumed.phase == ""
        assert "Bricks from the river" in resumed.context().text


def test_f15_a_reset_throws_the_conversation_away_and_nothing_else(task: foreword.Task) -> None:
    before = task.enter(1).text
    task.append({"role": "user", "content": "What of the chimney?"})
    assert "chimney" in task.context().text
    task.reset()
    assert task.context().text == before


def test_f15_a_checkpoint_larger_than_tier_2_leaves_room_for_the_phase(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.enter(2)
    for number in range(400):
        task.found(f"finding {number}: a crack in the wall of the kiln, on the side of the door")
    task.checkpoint()
    with foreword.Task.resume(tmp_path, task="FEAT-9") as resumed:
        package = resumed.context()
        assert resumed.usage()[-1].tokens <= 3_000
    assert "Draw it" in package.text
    assert "finding 0:" in package.text


def test_f15_a_task_without_a_checkpoint_can_not_be_resumed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="FEAT-8"):
        foreword.Task.resume(workshop(tmp_path), task="FEAT-8")


def test_f15_two_tasks_of_one_project_know_nothing_of_each_other(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.enter(1)
    task.hand_on("FEAT-1", "Words of the first task.", "First")
    with foreword.Task.open(tmp_path, task="FEAT-10", workflow="feature") as other:
        assert "FEAT-1]" not in other.enter(2).text
        with pytest.raises(UnknownName):
            other.lookup("[FEAT-1]", kind="artifact")


def test_what_is_handed_on_again_counts_and_the_older_text_can_be_recalled(
    task: foreword.Task, tmp_path: Path
) -> None:
    task.enter(1)
    task.hand_on("FEAT-1", "One kiln.", "Requirements")
    older = next(iter(artifacts.of_task(task.db, task.name))).handle
    assert task.hand_on("FEAT-1", "Two kilns, not one.", "Requirements").startswith(
        "[FEAT-1] Requirements"
    )
    assert "Two kilns, not one." in task.lookup("FEAT-1")
    assert task.context().text.count("[FEAT-1] Requirements") == 1
    assert foreword.recall(older, tmp_path) == "One kiln."


def test_a_task_has_what_its_flows_handed_on(task: foreword.Task) -> None:
    artifacts.keep(
        task.db,
        run="flow-1",
        name="FEAT-1",
        phase="1",
        title="Requirements",
        text="A second kiln.",
        tokens=4,
        task=task.name,
    )
    assert "[FEAT-1] Requirements" in task.enter(2).text
    assert "A second kiln." in task.lookup("FEAT-1")
    with pytest.raises(UnknownName, match="unknown artifact 'FEAT-9'"):
        task.lookup("FEAT-9")


@pytest.mark.parametrize(
    ("path", "tier"),
    [("instructions.md", "0"), ("personas/crew/smith.md", "1"), ("docs/firing.md", "")],
)
def test_f15_who_goes_on_is_told_that_instructions_have_changed(
    tmp_path: Path, path: str, tier: str
) -> None:
    root = workshop(tmp_path)
    with foreword.Task.open(
        root, task="FEAT-9", objective="A kiln", workflow="feature", counter="o200k"
    ) as task:
        task.enter(1)
        task.finish()
    with closing(open_database(None, root)) as db:
        assert newest(root, db, "FEAT-9").changes == ()
        write(root, path, "# Other\n\nOther words.\n")
        changes = [change.partition(":")[0] for change in newest(root, db, "FEAT-9").changes]
    assert changes == ([f"tier {tier} reads differently"] if tier else [])
    with foreword.Task.resume(root, task="FEAT-9") as again:
        assert ("reads differently" in again.context().text) == bool(tier)
