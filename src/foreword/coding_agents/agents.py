"""The coding agents that Foreword works with: one table (agents.json) of what is known of each.

How it is started, where it keeps its sessions, which instruction files it loads itself, and the
files that `init` writes into a project for it. Formats are those that the agents document; what
they can't do is in docs/coding-agents.md. How their sessions are read is in `transcripts.reader`.

Reasons behind the rows: Claude Code gets files of the project and no plugin, because `claude -p`
loads no plugin in a folder that was never trusted. Its skill has another name than any command of
its own. Each hook ends before the agent's own limit, so that it can say so. Gemini CLI counts in
milliseconds. Codex's command is a literal string of TOML, which holds any path but for a quote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foreword.coding_agents.hook_events import HookEvent

if TYPE_CHECKING:
    from foreword.transcripts.places import SessionPlace


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
    start: Sequence[str] = ()  # how it is started with a first message
    home_variable: str = ""  # of the environment, for another directory than `home`
    home: str = ""  # below the user's home
    sessions: str = ""  # below its home; nothing where its sessions are not read
    transcript_marks: Sequence[str] = ()  # in the paths of its transcripts
    loaded_files: Sequence[str] = ()  # that it sends with every request
    files: Sequence[ProjectFile] = ()


def _read_table() -> dict[str, CodingAgent]:
    """Return the agents by their names, from the table beside this module."""
    agents = dict[str, CodingAgent]()
    for row in json.loads(Path(__file__).with_name("agents.json").read_bytes()):
        row["files"] = [ProjectFile(**file) for file in row["files"]]
        agents[row["name"]] = CodingAgent(**row)
    return agents


AGENTS: Mapping[str, CodingAgent] = _read_table()
DEFAULT = "claude-code"


def agent_of(event: HookEvent) -> CodingAgent:
    """Return the agent of an event: as it says, or by the path of its transcript."""
    path = "/" + event.transcript.replace("\\", "/")
    for agent in AGENTS.values():
        if not event.agent and any(mark in path for mark in agent.transcript_marks):
            return agent
    return AGENTS.get(event.agent, AGENTS[DEFAULT])


def places_on_machine(name: str = "") -> list[SessionPlace]:
    """Return the sessions that agents have left in their default folders, the newest last; of one
    agent where it is named."""
    from foreword.transcripts.places import places_below

    places: list[SessionPlace] = []
    for agent in AGENTS.values():
        if agent.sessions and name in ("", agent.name):
            home = os.environ.get(agent.home_variable) if agent.home_variable else ""
            folder = Path(home or Path.home() / agent.home) / agent.sessions
            places += places_below(folder) if folder.is_dir() else []
    return sorted(places, key=lambda place: place.changed)
