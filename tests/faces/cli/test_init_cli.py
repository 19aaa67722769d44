"""`foreword init`: on an empty project, on one with settings of its own, on a hostile one, and
twice."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import foreword as fw
from foreword.coding_agents import file_writer, targets
from foreword.faces.cli.init import KINDS
from foreword.text import marks
from tests.command import CommandResult, foreword
from tests.corpus import rows
from tests.patience import PATIENCE_SECONDS

DATA = Path(__file__).parents[2] / "data"
EVERY = []
for agent_kind in KINDS:
    EVERY += ["--for", agent_kind]
SETTINGS = """\
{
    "permissions": {"allow": ["Bash(make test)"]},
    "statusLine": {"type": "command", "command": "mine"},
    "enabledPlugins": {"other@market": true}
}
"""


def init(root: Path, *options: str) -> CommandResult:
    return foreword("init", *options, cwd=root)


def files(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file() and ".cache" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def load(root: Path, path: str) -> Any:
    return json.loads((root / path).read_text("utf-8"))


# --- an empty project -----------------------------------------------------------------------------


def test_an_empty_project_gets_all_that_claude_code_needs(tmp_path: Path) -> None:
    ran = init(tmp_path, "--yes")
    assert ran.code == 0, ran.err
    assert set(files(tmp_path)) == {
        "foreword/recipes/coding.yaml",
        ".claude/skills/project-context/SKILL.md",
        ".mcp.json",
        ".claude/settings.json",
    }
    assert load(tmp_path, ".mcp.json") == {
        "mcpServers": {"foreword": {"command": "foreword", "args": ["mcp"]}}
    }
    settings = load(tmp_path, ".claude/settings.json")
    assert settings["statusLine"]["command"] == "foreword statusline"
    assert set(settings["hooks"]) == {"SessionStart", "PreCompact", "PostToolUse"}
    (start,) = settings["hooks"]["SessionStart"]
    assert start["hooks"][0] == {
        "type": "command",
        "command": "foreword hook --timeout 9",
        "timeout": 10,
    }


def test_the_skill_has_a_name_that_no_command_of_claude_code_has(tmp_path: Path) -> None:
    init(tmp_path, "--yes")
    (skill,) = (tmp_path / ".claude" / "skills").iterdir()
    head = yaml.safe_load((skill / "SKILL.md").read_text("utf-8").split("---")[1])
    assert head["name"] == skill.name
    assert len(head["description"]) < 1_024
    built_in = (DATA / "claude_code_commands.txt").read_text("utf-8").split()
    assert "context" in built_in
    assert skill.name not in built_in


def test_where_the_command_is_not_on_the_path_its_own_path_is_written_and_said(
    tmp_path: Path,
) -> None:
    ran = foreword("init", "--yes", *EVERY, cwd=tmp_path, PATH="/nowhere")
    assert "is not on your PATH" in ran.err
    command = load(tmp_path, ".mcp.json")["mcpServers"]["foreword"]["command"]
    assert Path(command).is_absolute()
    hooks = load(tmp_path, ".claude/settings.json")["hooks"]
    assert hooks["PreCompact"][0]["hooks"][0]["command"].startswith(f"{command} hook")
    assert command in (tmp_path / ".opencode/plugins/foreword.js").read_text("utf-8")
    again = foreword("init", *EVERY, cwd=tmp_path, PATH="/nowhere")
    assert "nothing to do" in again.err


def test_the_recipe_passes_lint_and_assembles(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(
        "# Tidepool\n\nTells harbours when the tide turns.\n", "utf-8"
    )
    init(tmp_path, "--yes", "--for", "agents-md")
    assert "1 recipe and 1 document checked, 0 errors" in foreword("lint", cwd=tmp_path).err
    text = fw.assemble("coding", root=tmp_path, save=False).text
    assert "Tells harbours" in text
    assert "foreword recall" in text


def test_the_commands_that_the_files_name_are_there(tmp_path: Path) -> None:
    init(tmp_path, "--yes", *EVERY)
    text = b"\n".join(files(tmp_path).values()).decode()
    for command in (
        "assemble coding --quiet",
        "hook",
        "statusline",
        "checkpoint list",
        "checkpoint resume",
        "mcp",
    ):
        assert f"foreword {command}" in text or f'"{command}"' in text
        assert foreword(*command.split()[:1], "--help").code == 0


def test_an_agent_that_is_mistyped_gets_a_suggestion(tmp_path: Path) -> None:
    ran = init(tmp_path, "--yes", "--for", "claude")
    assert ran.code == 2
    assert "did you mean 'claude-code'?" in ran.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_twice_is_once(tmp_path: Path, kind: str) -> None:
    assert init(tmp_path, "--yes", "--for", kind).code == 0
    before = files(tmp_path)
    again = init(tmp_path, "--for", kind)  # there is nothing to ask
    assert again.code == 0
    assert "nothing to do" in again.err
    assert files(tmp_path) == before


def test_all_agents_at_once_share_the_files_that_several_need(tmp_path: Path) -> None:
    assert init(tmp_path, "--yes", *EVERY).code == 0
    assert tomllib.loads((tmp_path / ".codex/config.toml").read_text())["mcp_servers"]["foreword"][
        "args"
    ] == ["mcp"]
    assert load(tmp_path, "opencode.json")["mcp"]["foreword"]["command"] == ["foreword", "mcp"]
    assert load(tmp_path, ".vscode/mcp.json")["servers"]["foreword"]["type"] == "stdio"
    assert load(tmp_path, ".cursor/mcp.json")["mcpServers"]["foreword"]["command"] == "foreword"
    assert set(load(tmp_path, ".codex/hooks.json")["hooks"]) == {"SessionStart", "PreCompact"}
    gemini = load(tmp_path, ".gemini/settings.json")
    assert set(gemini["hooks"]) == {"SessionStart", "PreCompress", "BeforeAgent"}
    assert gemini["mcpServers"]["foreword"]["args"] == ["mcp"]
    assert (tmp_path / "AGENTS.md").read_text("utf-8").count(marks.OWN_BEGIN) == 1


# --- showing and asking ---------------------------------------------------------------------------


def test_a_dry_run_shows_every_line_and_writes_none(tmp_path: Path) -> None:
    ran = init(tmp_path, "--dry-run", *EVERY)
    assert ran.code == 0
    assert files(tmp_path) == {}
    for one in targets.target_files(KINDS):
        assert f"new: {one.path}" in ran.out
    assert '+    "command": "foreword statusline",' in ran.out


def test_without_a_terminal_nothing_is_written_unasked(tmp_path: Path) -> None:
    ran = init(tmp_path)
    assert ran.code == 2
    assert files(tmp_path) == {}
    assert "hint: --yes writes" in ran.err


def terminal_output(root: Path, typed: bytes) -> str:
    """What a person sees who types this."""
    ours, theirs = pty.openpty()
    os.write(ours, typed)
    ran = subprocess.run(
        [sys.executable, "-m", "foreword", "init"],
        cwd=root,
        stdin=theirs,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    return ran.stderr.decode()


def test_at_a_terminal_a_person_decides(tmp_path: Path) -> None:
    assert "write this?" in terminal_output(tmp_path, b"n\n")
    assert files(tmp_path) == {}
    assert "4 files written" in terminal_output(tmp_path, b"y\n")
    assert len(files(tmp_path)) == 4


def test_a_file_of_another_author_is_replaced_only_on_a_yes_of_its_own(tmp_path: Path) -> None:
    recipe = tmp_path / "foreword" / "recipes" / "coding.yaml"
    recipe.parent.mkdir(parents=True)
    recipe.write_text("name: coding\nsections: {readme: {file: README.md}}\n", "utf-8")
    ran = init(tmp_path, "--yes")
    assert "in the way: foreword/recipes/coding.yaml" in ran.out
    assert "stays as it is" in ran.err
    assert recipe.read_text("utf-8").startswith("name: coding\nsections")
    terminal_output(tmp_path, b"n\n")
    assert recipe.read_text("utf-8").startswith("name: coding\nsections")
    terminal_output(tmp_path, b"y\n")
    assert recipe.read_text("utf-8").startswith("# What a coding agent reads")


# --- a project with settings of its own -----------------------------------------------------------


def test_settings_that_are_there_keep_every_key_and_their_order(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(SETTINGS, "utf-8")
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}', "utf-8")
    ran = init(tmp_path, "--yes")
    assert ran.code == 0
    settings = load(tmp_path, ".claude/settings.json")
    assert list(settings) == ["permissions", "statusLine", "enabledPlugins", "hooks"]
    assert settings["enabledPlugins"] == {"other@market": True}
    assert settings["statusLine"]["command"] == "mine"
    assert "has its own statusLine" in ran.err
    assert list(load(tmp_path, ".mcp.json")["mcpServers"]) == ["other", "foreword"]


def test_a_registration_that_was_changed_by_hand_stays_changed(tmp_path: Path) -> None:
    text = '{"mcpServers": {"foreword": {"command": "/opt/foreword", "args": ["mcp"]}}}\n'
    (tmp_path / ".mcp.json").write_text(text, "utf-8")
    assert "its own mcpServers.foreword" in init(tmp_path, "--yes").err
    assert (tmp_path / ".mcp.json").read_text("utf-8") == text


def test_comments_stay_where_the_format_has_them(tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode" / "mcp.json").write_text(
        '{\n  // ours\n  "servers": {}, // none yet\n}\n', "utf-8"
    )
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('# mine\nmodel = "x"  # fast\n', "utf-8")
    assert init(tmp_path, "--yes", "--for", "vscode", "--for", "codex").code == 0
    text = (tmp_path / ".vscode" / "mcp.json").read_text("utf-8")
    assert "// ours" in text
    assert "// none yet" in text
    assert '"foreword": {' in text
    config = (tmp_path / ".codex" / "config.toml").read_text("utf-8")
    assert config.startswith('# mine\nmodel = "x"  # fast\n')
    assert tomllib.loads(config)["model"] == "x"


def test_agents_md_keeps_its_words_and_gets_one_block(tmp_path: Path) -> None:
    agents = tmp_path / "AGENTS.md"
    agents.write_text("# Rules\n\nNever push.", "utf-8")
    init(tmp_path, "--yes", "--for", "agents-md")
    first = agents.read_text("utf-8")
    assert first.startswith("# Rules\n\nNever push.\n\n<!-- foreword init: begin -->")
    agents.write_text(first.replace("## Context", "## Old words") + "\nMore.\n", "utf-8")
    init(tmp_path, "--yes", "--for", "agents-md")
    assert agents.read_text("utf-8") == first + "\nMore.\n"


def test_the_mode_of_a_file_that_is_added_to_stays(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text("{}", "utf-8")
    path.chmod(0o664)
    init(tmp_path, "--yes")
    assert path.stat().st_mode & 0o777 == 0o664
    assert "foreword" in path.read_text("utf-8")


# --- what can't be used ---------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "path", "text"), rows("commands/settings_refused.jsonl"))
def test_a_file_that_can_not_be_added_to_is_an_error_and_changes_nothing(
    tmp_path: Path, kind: str, path: str, text: str
) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text(text, "utf-8")
    ran = init(tmp_path, "--yes", "--for", kind)
    assert ran.code == 2
    assert path in ran.err
    assert "hint:" in ran.err
    assert files(tmp_path) == {path: text.encode()}


@pytest.mark.parametrize(
    "name", [".claude", "foreword", ".mcp.json", ".claude/settings.json", ".claude/skills"]
)
def test_nothing_goes_through_a_symbolic_link(tmp_path: Path, name: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    (project / name).parent.mkdir(parents=True)
    (project / name).symlink_to(outside / "x.json" if name.endswith(".json") else outside)
    ran = init(project, "--yes")
    assert ran.code == 2
    assert "symbolic link" in ran.err
    assert list(outside.iterdir()) == []
    assert files(project) == {}


@pytest.mark.parametrize("path", [".mcp.json", ".claude/settings.json"])
def test_what_is_no_text_file_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    for make in (
        lambda: os.mkfifo(tmp_path / path),
        lambda: (tmp_path / path).write_bytes(b"\xff\xfe{"),
    ):
        make()
        ran = init(tmp_path, "--yes")
        assert ran.code == 2
        assert path in ran.err
        assert len(files(tmp_path)) <= 1
        (tmp_path / path).unlink()


def test_a_file_that_changed_after_it_was_shown_is_not_written(tmp_path: Path) -> None:
    (change, *_) = file_writer.changes(tmp_path, targets.target_files(["agents-md"]))
    (tmp_path / change.path).parent.mkdir(parents=True)
    (tmp_path / change.path).write_text("somebody else's", "utf-8")
    with pytest.raises(fw.ForewordError, match="has changed in the meantime"):
        file_writer.write_file(tmp_path, change)
    assert (tmp_path / change.path).read_text("utf-8") == "somebody else's"


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    ran = foreword("init", "--root", tmp_path / "nowhere", "--yes")
    assert ran.code == 2
    assert "no such folder" in ran.err
