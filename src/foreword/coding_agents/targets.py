"""The files that `init` writes for coding agents, as the table in `agents` describes them.

A file is ours as a whole, or it is the user's and we add to it: members of a JSON file, a table of
a TOML file, a marked block of a Markdown file. Nothing of the project is read or written here.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.coding_agents import jsonc
from foreword.coding_agents.agents import AGENTS, ProjectFile
from foreword.coding_agents.templates import RECIPE, text
from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.text.marks import OWN_BEGIN, OWN_BLOCK, OWN_END

COMMAND = "foreword"
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
        for file in AGENTS[agent].files:
            by_path[file.path] = _target_file(file, command)
    return list(by_path.values())


def _target_file(file: ProjectFile, command: str) -> TargetFile:
    if file.template:
        content = text(file.template).replace(f'"{COMMAND}"', json.dumps(command))
        return TargetFile(file.path, content)
    if file.table:
        table = _filled(file.table, command)
        return TargetFile(file.path, add_to=lambda before: _with_table(file.path, table, before))
    if file.members or file.hooks:
        return _json_file(file, command)
    return TargetFile(file.path, add_to=_with_block)


def _filled(value: Any, command: str) -> Any:
    """Return a value of the table with the command in the place of its names."""
    if isinstance(value, str):
        hook = f"{shlex.quote(command)} hook"
        return value.replace("{command}", command).replace("{hook}", hook)
    if isinstance(value, dict):
        return {name: _filled(member, command) for name, member in value.items()}
    return [_filled(item, command) for item in value] if isinstance(value, list) else value


# --- adding to a file of the user's ---------------------------------------------------------------


def _json_file(file: ProjectFile, command: str) -> TargetFile:
    """Return a JSON file of the user's that gets the members and hooks of the table."""
    members = {tuple(path.split(".")): value for path, value in file.members.items()}
    path, comments = file.path, file.comments

    def add_to(before: str) -> str:
        after = before if before.strip() else "{}\n"
        for place, value in members.items():
            after = jsonc.with_member(
                after, path, place, _filled(value, command), comments=comments
            )
        for event, group in file.hooks.items():
            after = jsonc.with_item(
                after,
                path,
                ("hooks", event),
                _filled(group, command),
                mark=HOOK,
                comments=comments,
            )
        return after

    def other_settings(text: str) -> list[str]:
        names = []
        for place, value in members.items():
            if jsonc.differs(text, path, place, _filled(value, command), comments=comments):
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
