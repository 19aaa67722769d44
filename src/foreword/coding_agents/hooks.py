"""What a coding agent's hook is answered: one event in, the documented output out, or nothing.

`answer` does the work and may fail; `respond` never does: whatever goes wrong is a line in the log,
and the agent goes on as if there were no hook. Events that we have nothing to say to end here,
before anything is imported for them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event as Flag
from threading import Timer
from typing import TYPE_CHECKING, Any, Protocol

from foreword.coding_agents import hook_log, long_results
from foreword.coding_agents.hook_events import (
    BEFORE_AGENT,
    LARGEST_BYTES,
    POST_TOOL_USE,
    PRE_COMPACT,
    SESSION_START,
    HookEvent,
    read_event,
)
from foreword.errors import ForewordError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

# An agent waits for its hooks: past this the process ends without an answer. `--timeout` sets
# another, as the files of `init` do: Claude Code and Codex themselves stop a hook after 10 seconds.
TIMEOUT_SECONDS = 9.0
# The events whose missing answer the user should know of: the model goes on without what it knew.
TOLD = (SESSION_START, PRE_COMPACT)
LONGEST_NAME = 40  # characters of an event's name in the log
SOURCES = ("compact", "resume")
STARTUP = "startup"


class Source(Protocol):
    """Where an event is read from."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes."""


class Sink(Protocol):
    """Where an answer goes."""

    def write(self, data: bytes, /) -> int:
        """Write what can be written; returns how much that was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the user may set on the command line of the hook."""

    root: str = ""
    recipe: str = ""
    budget_tokens: int = long_results.BUDGET_TOKENS
    startup: bool = False
    timeout_seconds: float = TIMEOUT_SECONDS


def concerns_us(event: HookEvent, options: Options) -> bool:
    """Whether there is something to do; all else passes through."""
    if event.name == BEFORE_AGENT:
        return True
    if event.name == SESSION_START:
        return event.source in SOURCES or (options.startup and event.source == STARTUP)
    if event.name == POST_TOOL_USE:
        return long_results.may_be_large(event, options.budget_tokens)
    return event.name == PRE_COMPACT


def answer(event: HookEvent, root: Path, options: Options) -> dict[str, Any] | None:
    """What to answer with, in the documented shape; nothing where there is nothing to say."""
    fields: dict[str, Any] | None = None
    if event.name in (SESSION_START, BEFORE_AGENT):
        from foreword.coding_agents import resume

        text = resume.context(root, event, options.recipe)
        fields = {"additionalContext": text} if text else None
    elif event.name == PRE_COMPACT:
        from foreword.coding_agents import compaction_checkpoint, resume

        compaction_checkpoint.write(event, root)
        resume.prepare(root, event, options.recipe)
    elif event.name == POST_TOOL_USE:
        fields = long_results.shorten_result(event, root, options.budget_tokens)
    return _output(event, fields) if fields else None


def _output(event: HookEvent, fields: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event.name, **fields}}


def respond(options: Options, source: Source, sink: Sink) -> None:
    """Answer the event that is read; never an error, never later than the timeout."""
    finished = Flag()
    names = ["hook"]  # of the event, once it has been read
    watch = Timer(
        options.timeout_seconds, _give_up, [finished, options.timeout_seconds, names, sink]
    )
    watch.daemon = True
    watch.start()
    try:
        event = read_event(source.read(LARGEST_BYTES + 1))
        names.append(event.name or names[0])
        output = None
        if concerns_us(event, options):
            output = answer(event, _project_root(event, options), options)
        finished.set()
        _write(output, sink)
    except BaseException as error:  # noqa: BLE001 - an agent is at the other end: nothing may reach it
        finished.set()
        problem = f"{type(error).__name__}: {error}"
        if isinstance(error, ForewordError):
            problem = error.message
        hook_log.note(names[-1][:LONGEST_NAME], problem)
    finally:
        watch.cancel()


def _project_root(event: HookEvent, options: Options) -> Path:
    from foreword.coding_agents import trusted_files

    root = trusted_files.project_of(event, options.root)
    if root is None:
        raise UsageError(
            "no project here: none of foreword/recipes, .foreword and .checkpoints is in or"
            " above it, and nothing was kept for it"
        )
    return root


def _write(output: dict[str, Any] | None, sink: Sink) -> None:
    # ASCII: half characters stay escaped
    data = b"" if output is None else json.dumps(output).encode() + b"\n"
    while data:
        data = data[sink.write(data) :]


def _give_up(finished: Flag, seconds: float, names: Sequence[str], sink: Sink) -> None:
    """End the process where it stands: what it was writing is there whole or not at all."""
    if finished.is_set():
        return
    problem = f"stopped after {seconds:g} seconds"
    hook_log.note("hook", problem)
    if names[-1] in TOLD:
        with suppress(Exception):
            message = f"Foreword {problem}: the agent goes on without what it would have brought"
            _write({"systemMessage": message}, sink)
    os._exit(0)
