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
from typing import Any

from foreword.coding_agents import jsonc
from foreword.coding_agents.templates import RECIPE, text
from foreword.errors import BadSource
from foreword.pattern import lazy_pattern

PLUGIN = "foreword/claude-code"
HOOK = "foreword hook"
BEGIN = "<!-- foreword init: begin -->"
END = "<!-- foreword init: end -->"
_BLOCK = lazy_pattern(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)

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


def target_files(agents: Sequence[str]) -> list[TargetFile]:
    """The files for these agents, each once; the recipe first."""
    recipe = TargetFile(f"foreword/recipes/{RECIPE}.yaml", text("coding.yaml"))
    by_path = {recipe.path: recipe}
    for agent in agents:
        for file in AGENTS[agent]():
            by_path[file.path] = file
    return list(by_path.values())


# --- the agents -----------------------------------------------------------------------------------


def _claude_code() -> list[TargetFile]:
    plugin_files = {
        ".claude-plugin/plugin.json": "plugin.json",
        ".claude-plugin/marketplace.json": "marketplace.json",
        "hooks/hooks.json": "hooks.json",
        "skills/context/SKILL.md": "SKILL.md",
    }
    server = {"command": "foreword", "args": ["mcp"]}
    settings = {
        ("extraKnownMarketplaces", "foreword-project"): {
            "source": {"source": "directory", "path": f"./{PLUGIN}"}
        },
        ("enabledPlugins", "foreword@foreword-project"): True,
        ("statusLine",): {"type": "command", "command": "foreword statusline", "padding": 0},
    }
    files = []
    for path, name in plugin_files.items():
        files.append(TargetFile(f"{PLUGIN}/{path}", text(f"claude-code/{name}")))
    files.append(_members(".mcp.json", {("mcpServers", "foreword"): server}))
    files.append(_members(".claude/settings.json", settings))
    return files


def _cursor() -> list[TargetFile]:
    server = {"command": "foreword", "args": ["mcp", "--root", "${workspaceFolder}"]}
    rule = TargetFile(".cursor/rules/foreword.mdc", text("cursor/foreword.mdc"))
    return [rule, _members(".cursor/mcp.json", {("mcpServers", "foreword"): server})]


def _codex() -> list[TargetFile]:
    table = '[mcp_servers.foreword]\ncommand = "foreword"\nargs = ["mcp"]\n'
    path = ".codex/config.toml"
    config = TargetFile(path, add_to=lambda before: _with_table(path, table, before))
    hooks = TargetFile(".codex/hooks.json", add_to=_with_codex_hooks)
    return [config, hooks, *_agents_md()]


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
    return [TargetFile("AGENTS.md", add_to=_with_block)]


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
    """A JSON file of the user's that gets these members, by their paths."""

    def add_to(before: str) -> str:
        after = before if before.strip() else "{}\n"
        for place, value in members.items():
            after = jsonc.with_member(after, path, place, value, comments=comments)
        return after

    def other_settings(text: str) -> list[str]:
        names = []
        for place, value in members.items():
            if jsonc.differs(text, path, place, value, comments=comments):
                names.append(".".join(place))
        return names

    return TargetFile(path, add_to=add_to, other_settings=other_settings)


def _with_codex_hooks(before: str) -> str:
    after = before if before.strip() else "{}\n"
    # Codex's own limit is the longer one of each, so that ours ends the hook and can log it.
    at_start = {"type": "command", "command": HOOK, "timeout": 10}
    before_compaction = {"type": "command", "command": f"{HOOK} --timeout 20", "timeout": 30}
    groups = {
        "SessionStart": {"matcher": "compact|resume", "hooks": [at_start]},
        "PreCompact": {"hooks": [before_compaction]},
    }
    for event, group in groups.items():
        after = jsonc.with_item(after, ".codex/hooks.json", ("hooks", event), group, mark=HOOK)
    return after


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
    block = f"{BEGIN}\n{text('agents.md')}{END}"
    if _BLOCK.search(before):
        return _BLOCK.sub(lambda _: block, before, count=1)
    return f"{before}{_gap_after(before)}{block}\n"


def _gap_after(text: str) -> str:
    """What makes an empty line between a text and what is put behind it."""
    if not text.strip():
        return ""
    return "\n" if text.endswith("\n") else "\n\n"
