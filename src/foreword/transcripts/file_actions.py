"""What a coding agent did to which file, by its calls: read, edited, written, deleted.

The calls of Claude Code, Codex, opencode and Gemini CLI; a patch names its files itself. What a
command of the shell does to files is not guessed, but for a file that it prints.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from foreword.messages.message import Message
from foreword.messages.parts import ToolCall
from foreword.pattern import lazy_pattern

Action = Literal["read", "edited", "written", "deleted"]
# By the names of the tools, in small letters and without `_`.
_ACTIONS: dict[str, Action] = {
    "read": "read",
    "readfile": "read",
    "viewfile": "read",
    "notebookread": "read",
    "edit": "edited",
    "multiedit": "edited",
    "notebookedit": "edited",
    "replace": "edited",
    "strreplace": "edited",
    "strreplacebasededittool": "edited",
    "write": "written",
    "writefile": "written",
    "createfile": "written",
}
_PATH_KEYS = ("file_path", "filePath", "absolute_path", "notebook_path", "path")
_PATCHED = lazy_pattern(r"\*\*\* (?P<what>Add|Update|Delete) File: (?P<path>[^\n]{1,400})")
_PATCH_ACTIONS: dict[str, Action] = {"Add": "written", "Update": "edited", "Delete": "deleted"}
_PRINTS = lazy_pattern(
    r"(?:^|[;&|]\s*)(?:cat|head|tail|less|sed -n)\s+(?:-\S+\s+|'[^']*'\s+|\"[^\"]*\"\s+)*"
    r"(?P<path>[\w./~-]*[\w-]\.\w{1,8})(?=\s|$|[;&|])"
)
_COMMAND_KEYS = ("command", "cmd", "input", "patch", "patchText")
LONGEST_CALL = 2_000_000  # characters of arguments that are parsed: a bound on work
ORDER: tuple[Action, ...] = ("written", "edited", "deleted", "read")


@dataclass(slots=True)
class FileWork:
    """How often each thing was done to a file, and where last."""

    counts: dict[Action, int]
    last: int

    @property
    def is_changed(self) -> bool:
        """Whether it was more than read."""
        return any(action != "read" for action in self.counts)

    def __str__(self) -> str:
        words = []
        for action in ORDER:
            times = self.counts.get(action, 0)
            if times:
                words.append(action if times == 1 else f"{action} {times} times")
        return ", ".join(words)


def file_work(messages: Iterable[Message]) -> dict[str, FileWork]:
    """Every file that calls name, the one touched last at the end."""
    found: dict[str, FileWork] = {}
    for at, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, ToolCall):
                for path, action in actions_of(part):
                    work = found.pop(path, None) or FileWork({}, at)
                    work.counts[action] = work.counts.get(action, 0) + 1
                    work.last = at
                    found[path] = work
    return found


def actions_of(call: ToolCall) -> Iterator[tuple[str, Action]]:
    """The files of one call, each with what is done to it."""
    arguments = arguments_of(call)
    action = _ACTIONS.get(call.name.replace("_", "").replace("-", "").lower())
    if action is not None:
        for key in _PATH_KEYS:
            path = arguments.get(key)
            if isinstance(path, str) and path.strip():
                yield path.strip(), action
                return
    for text in command_texts(arguments):
        for patched in _PATCHED.finditer(text):
            yield patched["path"].strip(), _PATCH_ACTIONS[patched["what"]]
        for printed in _PRINTS.finditer(text[:LONGEST_CALL]):
            yield printed["path"], "read"


def arguments_of(call: ToolCall) -> dict[str, object]:
    """The arguments of a call; what is no JSON object is one text."""
    if len(call.arguments) > LONGEST_CALL:
        return {}
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = call.arguments
    return value if isinstance(value, dict) else {"input": value}


def command_texts(arguments: dict[str, object]) -> Iterator[str]:
    """The commands and patches in arguments: a text, or a list of words."""
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list) and all(isinstance(word, str) for word in value):
            yield " ".join(str(word) for word in value)
