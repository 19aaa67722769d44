"""The coding agents that Foreword works with: one table of what is known of each.

How it is started, where it keeps its sessions, which instruction files it loads itself, and the
files that `init` writes into a project for it. Formats are those that the agents document; what
they can't do is in docs/coding-agents.md. How their sessions are read is in `transcripts.reader`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.coding_agents.hook_events import (
    BEFORE_AGENT,
    POST_TOOL_USE,
    PRE_COMPACT,
    PRE_COMPRESS,
    SESSION_START,
    HookEvent,
)

if TYPE_CHECKING:
    from foreword.transcripts.places import SessionPlace

# Not the name of a command that Claude Code has itself: a skill called `context` hides `/context`.
SKILL = "project-context"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """A file that `init` writes. With a template it is ours as a whole; else it is the user's, and
    members and hooks are added to its JSON, a table to its TOML, our block to its Markdown.

    `{command}` stands for the command that starts Foreword, `{hook}` for its hook in a shell.
    """

    path: str
    template: str = ""
    members: Mapping[str, Any] = field(default_factory=dict)  # by their paths, with dots
    hooks: Mapping[str, Any] = field(default_factory=dict)  # by their events
    comments: bool = False  # whether the format has comments
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingAgent:
    """One coding agent, or an editor that has one."""

    name: str
    start: tuple[str, ...] = ()  # how it is started with a first message
    home_variable: str = ""  # of the environment, for another directory than `home`
    home: str = ""  # below the user's home
    sessions: str = ""  # below its home; nothing where its sessions are not read
    transcript_marks: tuple[str, ...] = ()  # in the paths of its transcripts
    loaded_files: tuple[str, ...] = ()  # that it sends with every request
    files: tuple[ProjectFile, ...] = ()


# --- what the files hold --------------------------------------------------------------------------


def _hook(options: str, timeout: int, **more: str) -> dict[str, Any]:
    command = f"{{hook}} {options}".rstrip()
    return {"hooks": [{**more, "type": "command", "command": command, "timeout": timeout}]}


_SERVER = {"command": "{command}", "args": ["mcp"]}
_SERVER_IN_FOLDER = {"command": "{command}", "args": ["mcp", "--root", "${workspaceFolder}"]}
_STATUS_LINE = {"type": "command", "command": "{command} statusline", "padding": 0}
# The agent's own limit is the longer one of each, so that ours ends the hook and can say so.
_HOOKS = {
    SESSION_START: {"matcher": "compact|resume", **_hook("--timeout 9", 10)},
    PRE_COMPACT: _hook("--timeout 20", 30),
}
_AFTER_TOOL = {"matcher": "Bash|Grep|WebFetch|mcp__.*", **_hook("", 10)}
# Gemini CLI counts in milliseconds, and has other names for the same events.
_GEMINI_HOOKS = {
    SESSION_START: {"matcher": "startup|resume", **_hook("--timeout 9", 13_500, name="foreword")},
    PRE_COMPRESS: _hook("--timeout 20", 30_000, name="foreword"),
    BEFORE_AGENT: _hook("--timeout 9", 13_500, name="foreword"),
}
# A literal string of TOML holds any path as it is but for a quote.
_CODEX_TABLE = "[mcp_servers.foreword]\ncommand = '{command}'\nargs = [\"mcp\"]\n"
_AGENTS_MD = ProjectFile(path="AGENTS.md")

# --- the agents -----------------------------------------------------------------------------------

_TABLE = (
    # Hooks and the skill are files of the project and no plugin: `claude -p` loads no plugin in a
    # folder that was never trusted, and plugins of two projects had the same name.
    CodingAgent(
        name="claude-code",
        start=("claude",),
        home_variable="CLAUDE_CONFIG_DIR",
        home=".claude",
        sessions="projects",
        loaded_files=("CLAUDE.md", ".claude/CLAUDE.md"),
        files=(
            ProjectFile(path=f".claude/skills/{SKILL}/SKILL.md", template="claude-code/SKILL.md"),
            ProjectFile(path=".mcp.json", members={"mcpServers.foreword": _SERVER}),
            ProjectFile(
                path=".claude/settings.json",
                members={"statusLine": _STATUS_LINE},
                hooks={**_HOOKS, POST_TOOL_USE: _AFTER_TOOL},
            ),
        ),
    ),
    CodingAgent(
        name="cursor",
        files=(
            ProjectFile(path=".cursor/rules/foreword.mdc", template="cursor/foreword.mdc"),
            ProjectFile(
                path=".cursor/mcp.json", members={"mcpServers.foreword": _SERVER_IN_FOLDER}
            ),
        ),
    ),
    CodingAgent(
        name="codex",
        start=("codex",),
        home_variable="CODEX_HOME",
        home=".codex",
        sessions="sessions",
        transcript_marks=("/.codex/", "/rollout-"),
        loaded_files=("AGENTS.md",),
        files=(
            ProjectFile(path=".codex/config.toml", table=_CODEX_TABLE),
            ProjectFile(path=".codex/hooks.json", hooks=_HOOKS),
            _AGENTS_MD,
        ),
    ),
    CodingAgent(
        name="gemini",
        start=("gemini", "--prompt-interactive"),
        home=".gemini",
        sessions="tmp",
        transcript_marks=("/.gemini/",),
        loaded_files=("GEMINI.md",),
        files=(
            ProjectFile(
                path=".gemini/settings.json",
                members={"mcpServers.foreword": _SERVER},
                hooks=_GEMINI_HOOKS,
                comments=True,
            ),
            ProjectFile(path="GEMINI.md"),
        ),
    ),
    CodingAgent(
        name="opencode",
        start=("opencode", "--prompt"),
        home_variable="XDG_DATA_HOME",
        home=".local/share",
        sessions="opencode",
        loaded_files=("AGENTS.md",),
        files=(
            ProjectFile(
                path="opencode.json",
                members={
                    "mcp.foreword": {
                        "type": "local",
                        "command": ["{command}", "mcp"],
                        "enabled": True,
                    }
                },
                comments=True,
            ),
            ProjectFile(path=".opencode/plugins/foreword.js", template="opencode/foreword.js"),
            _AGENTS_MD,
        ),
    ),
    CodingAgent(
        name="vscode",
        files=(
            ProjectFile(
                path=".vscode/mcp.json",
                members={"servers.foreword": {"type": "stdio", **_SERVER_IN_FOLDER}},
                comments=True,
            ),
            _AGENTS_MD,
        ),
    ),
    CodingAgent(name="agents-md", files=(_AGENTS_MD,)),
)
AGENTS: Mapping[str, CodingAgent] = {agent.name: agent for agent in _TABLE}
DEFAULT = "claude-code"


def agent_of(event: HookEvent) -> CodingAgent:
    """Return the agent of an event: as it says, or by the path of its transcript."""
    path = "/" + event.transcript.replace("\\", "/")
    for agent in _TABLE:
        if not event.agent and any(mark in path for mark in agent.transcript_marks):
            return agent
    return AGENTS.get(event.agent, AGENTS[DEFAULT])


def places_on_machine(name: str = "") -> list[SessionPlace]:
    """Return the sessions that agents have left in their default folders, the newest last; of one
    agent where it is named."""
    from foreword.transcripts.places import places_below

    places: list[SessionPlace] = []
    for agent in _TABLE:
        if agent.sessions and name in ("", agent.name):
            home = os.environ.get(agent.home_variable) if agent.home_variable else ""
            folder = Path(home or Path.home() / agent.home) / agent.sessions
            places += places_below(folder) if folder.is_dir() else []
    return sorted(places, key=lambda place: place.changed)
