"""The demo: all three recipes on the built-in sample, readable on a terminal of 100 columns,
nothing left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import foreword
from foreword.demos import samples
from foreword.faces.cli import demo_recipes, demo_scenes


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary folders and the user's cache inside the test's own folder."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return temporary


def demo_text(sample: str = samples.KILNBOOK) -> str:
    lines: list[str] = []
    demo_recipes.run(lines.append, sample=sample)
    return "\n".join(lines)


def test_the_demo_shows_every_scene_at_both_budgets() -> None:
    for scene in demo_scenes.SCENES:
        text = demo_text(scene.sample)
        assert scene.title in text
        assert f"roomy: budget {scene.roomy_tokens:,} tokens" in text
        assert f"tight: budget {scene.tight_tokens:,} tokens" in text


@pytest.mark.parametrize("sample", [samples.KILNBOOK, samples.FACTORY])
def test_the_demo_fits_a_terminal_of_100_columns(sample: str) -> None:
    assert max(len(line) for line in demo_text(sample).splitlines()) <= 100


def test_the_demo_leaves_no_folder_behind(own_folders: Path) -> None:
    demo_text()

    assert list(own_folders.iterdir()) == []


@pytest.mark.parametrize("scene", demo_scenes.SCENES, ids=lambda scene: scene.title)
def test_a_roomy_budget_holds_everything_and_a_tight_one_does_not(
    scene: demo_scenes.Scene, tmp_path: Path
) -> None:
    root = samples.lay_out(tmp_path / "sample", scene.sample)
    roomy, tight = (
        scene.assemble(root, tokens).report for tokens in (scene.roomy_tokens, scene.tight_tokens)
    )

    assert demo_recipes.left_out(roomy)[0] == []
    assert len(demo_recipes.left_out(tight)[0]) >= 2
    assert 0.95 * scene.tight_tokens <= tight.total_tokens <= scene.tight_tokens


@pytest.mark.parametrize("scene", demo_scenes.SCENES, ids=lambda scene: scene.title)
def test_every_omission_can_be_recalled(scene: demo_scenes.Scene, tmp_path: Path) -> None:
    root = samples.lay_out(tmp_path / "sample", scene.sample)
    package = scene.assemble(root, scene.tight_tokens)

    for omission in package.report.omissions:
        assert foreword.recall(omission.handle, root).encode() == package.originals[omission.handle]
        assert "byte for byte the original" in demo_recipes.recall_example(omission, root, package)


def test_the_sample_finds_its_own_step_and_task(tmp_path: Path) -> None:
    package = demo_scenes.SCENES[0].assemble(samples.lay_out(tmp_path / "sample"), 8_000)

    sources = {row.tag: row.source for row in package.report.sections}
    assert sources["task"].endswith("02-reserve-a-shelf/tasks/03-reservation-form.md")
    assert sources["current_step"].endswith("02-reserve-a-shelf/STEP.md")
    assert package.report.warnings == ()


def test_without_git_the_demo_still_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    text = demo_text()

    assert "recent_changes" not in text
    assert "byte for byte the original" in text


@pytest.mark.parametrize("phase", ["planning", "interface", "implementation", "testing"])
def test_the_conversation_of_the_sample_serves_every_phase(phase: str, tmp_path: Path) -> None:
    package = foreword.assemble(
        "phases", root=samples.lay_out(tmp_path / "sample"), phase=phase, source="phases.json"
    )

    assert package.report.status == "within"
    assert package.messages[0].role == "system"
