"""What each coding agent needs in a project: which files, and what has to be in them.

A file is ours as a whole, or it is the user's and we add to it: members of a JSON file, a table of
a TOML file, a marked block of a Markdown file. Formats are those that the agents document; what
they can't do is told in docs/coding-agents.md. Nothing of the project is read or written here.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.coding_agents import jsonc
from foreword.coding_agents.hook_events import (
    BEFORE_AGENT,
    POST_TOOL_USE,
    PRE_COMPACT,
    PRE_COMPRESS,
    SESSION_START,
)
from foreword.coding_agents.templates import RECIPE, text
from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.text.marks import OWN_BEGIN, OWN_BLOCK, OWN_END

COMMAND = "foreword"
# Not the name of a command that Claude Code has itself: a skill called `context` hides `/context`.
SKILL = "project-context"
HOOK = lazy_pattern(r"foreword['\"\\]* hook\b")  # in a hook of ours, however the command is written

AddTo = Callable[[str], str]  # the text of a file with ours in it
OtherSettings = Callable[[str], list[str]]  # which of our settings a file has with another value


def _no_settings(text: str) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class TargetFile:
    """One file: `content` where it is ours, `add_to` where it is the user's."""

    path: str
    content: str = ""
    add_to: AddTo | None = None
    other_settings: OtherSettings = _no_settings


def target_files(agents: Sequence[str], command: str = COMMAND) -> list[TargetFile]:
    """The files for these agents, each once, the recipe first; `command` is how they start
    Foreword."""
    recipe = TargetFile(f"foreword/recipes/{RECIPE}.yaml", text("coding.yaml"))
    by_path = {recipe.path: recipe}
    for agent in agents:
        for file in AGENTS[agent](command):
            by_path[file.path] = file
    return list(by_path.values())


# --- the agents -----------------------------------------------------------------------------------


def _claude_code(command: str) -> list[TargetFile]:
    # Hooks and the skill are files of the project and no plugin: `claude -p` loads no plugin in a
    # folder that was never trusted, and plugins of two projects had the same name.
    settings: dict[tuple[str, ...], Any] = {
        ("statusLine",): {"type": "command", "command": f"{command} statusline", "padding": 0}
    }
    skill = text("claude-code/SKILL.md")
    return [
        TargetFile(f".claude/skills/{SKILL}/SKILL.md", skill),
        _members(".mcp.json", {("mcpServers", "foreword"): _server(command)}),
        _members(
            ".claude/settings.json",
            settings,
            hooks=_hooks(command, after_tools="Bash|Grep|WebFetch|mcp__.*"),
        ),
    ]


def _cursor(command: str) -> list[TargetFile]:
    server = _server(command, "--root", "${workspaceFolder}")
    rule = TargetFile(".cursor/rules/foreword.mdc", text("cursor/foreword.mdc"))
    return [rule, _members(".cursor/mcp.json", {("mcpServers", "foreword"): server})]


def _codex(command: str) -> list[TargetFile]:
    # A literal string of TOML holds any path as it is but for a quote.
    table = f"[mcp_servers.foreword]\ncommand = '{command}'\nargs = [\"mcp\"]\n"
    path = ".codex/config.toml"
    config = TargetFile(path, add_to=lambda before: _with_table(path, table, before))
    hooks = _members(".codex/hooks.json", {}, hooks=_hooks(command))
    return [config, hooks, *_agents_md(command)]


def _gemini(command: str) -> list[TargetFile]:
    # Gemini CLI counts in milliseconds, and has other names for the same events.
    groups = {
        SESSION_START: {"matcher": "startup|resume", "hooks": [_gemini_hook(command, 9)]},
        PRE_COMPRESS: {"hooks": [_gemini_hook(command, 20)]},
        BEFORE_AGENT: {"hooks": [_gemini_hook(command, 9)]},
    }
    settings = _members(
        ".gemini/settings.json",
        {("mcpServers", "foreword"): _server(command)},
        hooks=groups,
        comments=True,
    )
    return [settings, TargetFile("GEMINI.md", add_to=_with_block)]


def _opencode(command: str) -> list[TargetFile]:
    server = {"type": "local", "command": [command, "mcp"], "enabled": True}
    plugin = text("opencode/foreword.js").replace(f'"{COMMAND}"', json.dumps(command))
    return [
        _members("opencode.json", {("mcp", "foreword"): server}, comments=True),
        TargetFile(".opencode/plugins/foreword.js", plugin),
        *_agents_md(command),
    ]


def _vscode(command: str) -> list[TargetFile]:
    server = {"type": "stdio", **_server(command, "--root", "${workspaceFolder}")}
    return [
        _members(".vscode/mcp.json", {("servers", "foreword"): server}, comments=True),
        *_agents_md(command),
    ]


def _agents_md(command: str) -> list[TargetFile]:
    return [TargetFile("AGENTS.md", add_to=_with_block)]


def _server(command: str, *more: str) -> dict[str, Any]:
    return {"command": command, "args": ["mcp", *more]}


def _hooks(command: str, after_tools: str = "") -> dict[str, dict[str, Any]]:
    """The hooks of Claude Code and Codex, by event. The agent's own limit is the longer one of
    each, so that ours ends the hook and can say so."""
    hook = f"{shlex.quote(command)} hook"
    at_start = {"type": "command", "command": f"{hook} --timeout 9", "timeout": 10}
    before = {"type": "command", "command": f"{hook} --timeout 20", "timeout": 30}
    after_tool = {"type": "command", "command": hook, "timeout": 10}
    groups: dict[str, dict[str, Any]] = {
        SESSION_START: {"matcher": "compact|resume", "hooks": [at_start]},
        PRE_COMPACT: {"hooks": [before]},
    }
    if after_tools:
        groups[POST_TOOL_USE] = {"matcher": after_tools, "hooks": [after_tool]}
    return groups


def _gemini_hook(command: str, seconds: int) -> dict[str, Any]:
    line = f"{shlex.quote(command)} hook --timeout {seconds}"
    return {"name": "foreword", "type": "command", "command": line, "timeout": 1_500 * seconds}


AGENTS: Mapping[str, Callable[[str], list[TargetFile]]] = {
    "claude-code": _claude_code,
    "cursor": _cursor,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "vscode": _vscode,
    "agents-md": _agents_md,
}


# --- adding to a file of the user's ---------------------------------------------------------------


def _members(
    path: str,
    members: Mapping[tuple[str, ...], Any],
    *,
    hooks: Mapping[str, Any] | None = None,
    comments: bool = False,
) -> TargetFile:
    """A JSON file of the user's that gets these members, by their paths, and hooks, by their
    events."""

    def add_to(before: str) -> str:
        after = before if before.strip() else "{}\n"
        for place, value in members.items():
            after = jsonc.with_member(after, path, place, value, comments=comments)
        for event, group in (hooks or {}).items():
            after = jsonc.with_item(
                after, path, ("hooks", event), group, mark=HOOK, comments=comments
            )
        return after

    def other_settings(text: str) -> list[str]:
        names = []
        for place, value in members.items():
            if jsonc.differs(text, path, place, value, comments=comments):
                names.append(".".join(place))
        return names

    return TargetFile(path, add_to=add_to, other_settings=other_settings)


def _with_table(path: str, table: str, before: str) -> str:
    """A TOML file with a table behind all that is there, unless it has one of that name."""
    data = _parse_toml(path, before)
    servers = data.get("mcp_servers", {})
    if isinstance(servers, dict) and "foreword" in servers:
        return before
    after = before + _gap_after(before) + table
    _parse_toml(path, after)
    return after


def _parse_toml(path: str, content: str) -> dict[str, Any]:
    try:
        return tomllib.loads(content.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadSource(path, f"not TOML we can add to: {error}", hint=jsonc.HINT) from None


def _with_block(before: str) -> str:
    """A Markdown file with our block, in the place of an older one of ours or at the end."""
    block = f"{OWN_BEGIN}\n{text('agents.md')}{OWN_END}"
    if OWN_BLOCK.search(before):
        return OWN_BLOCK.sub(lambda _: block, before, count=1)
    return f"{before}{_gap_after(before)}{block}\n"


def _gap_after(text: str) -> str:
    """What makes an empty line between a text and what is put behind it."""
    if not text.strip():
        return ""
    return "\n" if text.endswith("\n") else "\n\n"
