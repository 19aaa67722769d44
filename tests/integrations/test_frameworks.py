"""`make frameworks`: every integration with the oldest and the newest version of its framework, at
a conversation of 400 turns, and the framework's own objects in and out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.example_runs import (
    FEW_LINES,
    FRAMEWORKS,
    LIGHT,
    ROOT,
    check_conversation,
    check_requests,
    run_adapters,
    run_example,
)

TURNS = 400
AGENT = "claude-agent-sdk"  # it keeps its own history; its results are cut
FOLDERS = sorted(Path(os.environ["FOREWORD_FRAMEWORKS"]).iterdir())


def framework_of(folder: Path) -> str:
    return folder.name.rpartition("-")[0]


def python_of(folder: Path) -> str:
    return str(folder / "bin" / "python")


LOOPS = [folder for folder in FOLDERS if framework_of(folder) in FRAMEWORKS]
SHORT = [folder for folder in FOLDERS if framework_of(folder) in FEW_LINES]
DEEP = [folder for folder in FOLDERS if framework_of(folder) == "langchain"]
# What a deep agent says by itself, tools and prompt, takes up to 8,000 tokens of its budget.
DEEP_SIZE = (12_000, 0.95)
ADAPTERS = ("langchain", "litellm", "llama-index", "openai-agents")
OBJECTS = [folder for folder in FOLDERS if folder not in SHORT]
AGENTS = [folder for folder in FOLDERS if framework_of(folder) == AGENT]


@pytest.mark.parametrize("folder", LOOPS, ids=lambda folder: folder.name)
def test_four_hundred_turns_stay_within_the_budget(tmp_path: Path, folder: Path) -> None:
    check_conversation(tmp_path, python_of(folder), FRAMEWORKS[framework_of(folder)], TURNS)


@pytest.mark.parametrize("folder", SHORT, ids=lambda folder: folder.name)
def test_a_framework_without_an_integration_stays_within_the_budget(
    tmp_path: Path, folder: Path
) -> None:
    example = FEW_LINES[framework_of(folder)]
    found = run_example(tmp_path, python_of(folder), example, "60", "2000")
    assert len(found["requests"]) >= 60
    check_requests(found, 60, 2_000)


@pytest.mark.parametrize("example", LIGHT)
def test_four_hundred_turns_of_a_light_one_do_too(tmp_path: Path, example: str) -> None:
    check_conversation(tmp_path, sys.executable, example, TURNS)


@pytest.mark.parametrize("folder", AGENTS, ids=lambda folder: folder.name)
def test_a_long_result_of_the_claude_agent_sdk_is_cut_and_can_be_recalled(
    tmp_path: Path, folder: Path
) -> None:
    found = run_example(tmp_path, python_of(folder), "claude_agent_run")
    assert found["whole"] > 10_000
    assert max(found["sizes"]) < 1_200  # of a budget of 1,000, and what JSON adds
    assert all("foreword recall fw_" in text for text in found["results"])


@pytest.mark.parametrize("folder", DEEP, ids=lambda folder: folder.name)
def test_a_deep_agent_stays_within_its_budget(tmp_path: Path, folder: Path) -> None:
    check_conversation(tmp_path, python_of(folder), "deep_agent", 100, DEEP_SIZE)
    run_adapters(python_of(folder), "deepagents", tmp_path)


@pytest.mark.parametrize("folder", LOOPS, ids=lambda folder: folder.name)
def test_what_an_integration_has_beside_its_example_works(tmp_path: Path, folder: Path) -> None:
    if framework_of(folder) in ADAPTERS:
        run_adapters(python_of(folder), framework_of(folder), tmp_path)


@pytest.mark.parametrize("folder", OBJECTS, ids=lambda folder: folder.name)
def test_objects_of_a_framework_are_read_and_written_without_loss(folder: Path) -> None:
    script = Path(__file__).with_name("framework_objects.py")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    ran = subprocess.run(
        [python_of(folder), str(script), framework_of(folder)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
