"""What each coding agent needs in a project: which files, and what has to be in them.

A file is ours as a whole, or it is the user's and we add to it: members of a JSON file, a table of
a TOML file, a marked block of a Markdown file. Formats are those that the agents document; what
they can't do is told in docs/coding-agents.md. Nothing of the project is read or written here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from foreword.coding_agents import jsonc
from foreword.coding_agents.templates import RECIPE, text
from foreword.errors import BadSource

PLUGIN = "foreword/claude-code"
HOOK = "foreword hook"
BEGIN, END = "<!-- foreword init: begin -->", "<!-- foreword init: end -->"
_BLOCK = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)

Added = Callable[[str], str]  # the text of a file with ours in it
Kept = Callable[[str], list[str]]  # which of our settings a file has with another value


@dataclass(frozen=True, slots=True)
class TargetFile:
    """One file: `content` where it is ours, `added` where it is the user's."""

    path: str
    content: str = ""
    added: Added | None = None
    kept: Kept = lambda before: []


def target_files(agents: Sequence[str]) -> list[TargetFile]:
    """The files for these agents, each once; the recipe first."""
    recipe = TargetFile(f"foreword/recipes/{RECIPE}.yaml", text("coding.yaml"))
    every = [recipe, *(one for agent in agents for one in AGENTS[agent]())]
    return list({one.path: one for one in every}.values())


# --- the agents -----------------------------------------------------------------------------------


def _claude_code() -> list[TargetFile]:
    ours = {
        ".claude-plugin/plugin.json": "plugin.json",
        ".claude-plugin/marketplace.json": "marketplace.json",
        "hooks/hooks.json": "hooks.json",
        "skills/context/SKILL.md": "SKILL.md",
    }
    settings = {
        ("extraKnownMarketplaces", "foreword-project"): {
            "source": {"source": "directory", "path": f"./{PLUGIN}"}
        },
        ("enabledPlugins", "foreword@foreword-project"): True,
        ("statusLine",): {"type": "command", "command": "foreword statusline", "padding": 0},
    }
    return [
        *(
            TargetFile(f"{PLUGIN}/{path}", text(f"claude-code/{name}"))
            for path, name in ours.items()
        ),
        _members(
            ".mcp.json", {("mcpServers", "foreword"): {"command": "foreword", "args": ["mcp"]}}
        ),
        _members(".claude/settings.json", settings),
    ]


def _cursor() -> list[TargetFile]:
    server = {"command": "foreword", "args": ["mcp", "--root", "${workspaceFolder}"]}
    rule = TargetFile(".cursor/rules/foreword.mdc", text("cursor/foreword.mdc"))
    return [rule, _members(".cursor/mcp.json", {("mcpServers", "foreword"): server})]


def _codex() -> list[TargetFile]:
    table = '[mcp_servers.foreword]\ncommand = "foreword"\nargs = ["mcp"]\n'
    config = TargetFile(
        ".codex/config.toml", added=partial(_with_table, ".codex/config.toml", table)
    )
    return [config, TargetFile(".codex/hooks.json", added=_with_codex_hooks), *_agents_md()]


def _opencode() -> list[TargetFile]:
    server = {"type": "local", "command": ["foreword", "mcp"], "enabled": True}
    return [_members("opencode.json", {("mcp", "foreword"): server}, comments=True), *_agents_md()]


def _vscode() -> list[TargetFile]:
    server = {
        "type": "stdio",
        "command": "foreword",
        "args": ["mcp", "--root", "${workspaceFolder}"],
    }
    return [
        _members(".vscode/mcp.json", {("servers", "foreword"): server}, comments=True),
        *_agents_md(),
    ]


def _agents_md() -> list[TargetFile]:
    return [TargetFile("AGENTS.md", added=_with_block)]


AGENTS: Mapping[str, Callable[[], list[TargetFile]]] = {
    "claude-code": _claude_code,
    "cursor": _cursor,
    "codex": _codex,
    "opencode": _opencode,
    "vscode": _vscode,
    "agents-md": _agents_md,
}


# --- adding to a file of the user's ---------------------------------------------------------------


def _members(
    path: str, members: Mapping[tuple[str, ...], Any], *, comments: bool = False
) -> TargetFile:
    def added(before: str) -> str:
        after = before if before.strip() else "{}\n"
        for place, value in members.items():
            after = jsonc.with_member(after, path, place, value, comments=comments)
        return after

    def kept(text: str) -> list[str]:
        other = partial(jsonc.differs, text, path, comments=comments)
        return [".".join(place) for place, value in members.items() if other(place, value)]

    return TargetFile(path, added=added, kept=kept)


def _with_codex_hooks(before: str) -> str:
    path, after = ".codex/hooks.json", before if before.strip() else "{}\n"
    again = {"type": "command", "command": HOOK, "timeout": 10}
    before_it = {"type": "command", "command": f"{HOOK} --timeout 20", "timeout": 30}
    groups = {
        "SessionStart": {"matcher": "compact|resume", "hooks": [again]},
        "PreCompact": {"hooks": [before_it]},
    }
    for event, group in groups.items():
        after = jsonc.with_item(after, path, ("hooks", event), group, HOOK)
    return after


def _with_table(path: str, table: str, before: str) -> str:
    """A TOML file with a table behind all that is there, unless it has one of that name."""
    data = _parsed(path, before)
    servers = data.get("mcp_servers", {})
    if isinstance(servers, dict) and "foreword" in servers:
        return before
    gap = "" if not before.strip() else "\n" if before.endswith("\n") else "\n\n"
    after = before + gap + table
    _parsed(path, after)
    return after


def _parsed(path: str, content: str) -> dict[str, Any]:
    try:
        return tomllib.loads(content.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadSource(path, f"not TOML we can add to: {error}", hint=jsonc.HINT) from None


def _with_block(before: str) -> str:
    """A Markdown file with our block, in the place of an older one of ours or at the end."""
    block = f"{BEGIN}\n{text('agents.md')}{END}"
    if _BLOCK.search(before):
        return _BLOCK.sub(lambda _: block, before, count=1)
    gap = "" if not before.strip() else "\n" if before.endswith("\n") else "\n\n"
    return f"{before}{gap}{block}\n"
