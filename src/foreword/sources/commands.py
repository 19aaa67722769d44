"""Run the commands a skill asks for (`` !`git log -5` ``) and put their output in their place,
under a policy.

Off unless allowed. Without a shell it understands plain words, `2>/dev/null` and `||`, which is
what real skills use. It limits time and output, not access: an allowed `cat` reads any file that
the user may read, and an allowed `bash` or `env` starts any program. Only `git` is kept to reading,
however it was allowed: `git_command` runs it. Where commands stand in a text is found by
`command_marks`; processes are `process`'s business.
"""

from __future__ import annotations

import codecs
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Literal

from foreword.errors import UsageError
from foreword.pattern import lazy_pattern
from foreword.sources import git_command, process
from foreword.sources.command_marks import marks
from foreword.sources.git_options import VERB_NAMES, names_a_verb
from foreword.text.clean import clean, without_escapes

Outcome = Literal["ran", "not allowed", "needs a shell", "failed", "timed out", "cut"]

_TOKEN = lazy_pattern(
    r"""\s*(?:
      (?P<quiet>2>\s*/dev/null(?=\s|\||$))
    | (?P<otherwise>\|\|)
    | (?P<word>
        (?![~\#])
        (?:
          [^\s'"\\$`|&;<>()*?\[\]]        # a plain character
        | '[^']*'
        | "(?:[^"\\$`]|\\["\\])*"
        | \\.
        )+
        (?=\s|\||$)
      )
    )""",
    re.VERBOSE,
)
# How many commands of a text may take all the time they may; what is behind them is not run, so
# that a skill with a hundred slow commands does not hold up a context for minutes.
_COMMANDS_AT_MOST = 4
_SHOWN_CHARS = 80  # of a command, in a note that is one line
_NOT_STARTED = 127  # what a shell says, too


@dataclass(frozen=True, slots=True)
class Policy:
    """Which commands may run, and what each may cost.

    An entry of `allow` is the beginning of a command, word by word: `git log` allows `git log -5`
    and not `git push`; `*` allows everything. What needs a shell runs only with `shell`, and only
    if allowed letter for letter or by `*`.

    A plain `git` only reads, and runs no program that the repository names, whichever entry allowed
    it: `*` and `git log -p` letter for letter are the user's word for the command, not for what a
    stranger's `.git` makes of it. What a shell, an interpreter or a script starts is theirs: a git
    in there is not guarded.
    """

    allow: tuple[str, ...] = ()
    shell: bool = False
    timeout_seconds: float = 5.0  # as long as somebody waits for a context without wondering
    output_bytes: int = 65_536  # some 16,000 tokens, more than a section should have of one command

    def __post_init__(self) -> None:
        """Refuse a `git` without a verb."""
        for entry in _entries(self):
            if _is_git(entry[0]) and not names_a_verb(entry[1:]):
                verbs = ", ".join(VERB_NAMES)
                raise UsageError(
                    f"allowing {shlex.join(entry)!r} says nothing of what git may do",
                    hint=f"name a verb, as in 'git log'; those that only read: {verbs}",
                )


@dataclass(frozen=True, slots=True)
class CommandRun:
    """What became of one command: where it stood and how it went."""

    command: str
    line: int
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CommandText:
    """A text with its commands carried out, and an account of each."""

    text: str
    ran: tuple[CommandRun, ...] = ()


@dataclass(frozen=True, slots=True)
class _Result:
    """An outcome with the text to put in place; none leaves the author's."""

    outcome: Outcome
    detail: str = ""
    text: str | None = None


def inject(text: str, root: Path, policy: Policy) -> CommandText:
    """Carry out the commands in a text; what is not allowed stays byte for byte, and no failure
    is fatal."""
    pieces: list[str] = []
    ran: list[CommandRun] = []
    copied_to = 0
    until = time.monotonic() + _COMMANDS_AT_MOST * policy.timeout_seconds
    for mark in marks(text):
        if mark.loose and not _is_program(mark.command, root, policy):
            continue
        result = _carry_out(mark.command, root, policy, until)
        ran.append(
            CommandRun(mark.command, mark.line, outcome=result.outcome, detail=result.detail)
        )
        if result.text is not None:
            pieces += (text[copied_to : mark.start], result.text)
            copied_to = mark.end
    return CommandText("".join([*pieces, text[copied_to:]]), tuple(ran))


def alternatives(command: str) -> list[list[str]] | None:
    """A command as the argument lists joined by `||`, or nothing where only a shell could read
    it."""
    found: list[list[str]] = [[]]
    place = 0
    command = command.rstrip()
    while place < len(command):
        token = _TOKEN.match(command, place)
        if not token:
            return None
        if token["otherwise"]:
            found.append([])
        elif token["word"]:
            found[-1].extend(shlex.split(token["word"]))
        place = token.end()
    # `NAME=value program` sets a variable
    plain = all(argv and "=" not in argv[0] for argv in found)
    return found if plain else None


def _carry_out(command: str, root: Path, policy: Policy, until: float) -> _Result:
    if not policy.allow:
        return _Result("not allowed", detail="no command is allowed")
    found = alternatives(command)
    if found is None and not policy.shell:
        return _Result(
            "needs a shell", detail="only plain words, 2>/dev/null and || run without one"
        )
    reason = _refusal(command, found, root, policy)
    if reason:
        return _Result("not allowed", detail=reason)
    if time.monotonic() >= until:
        note = (
            f"took longer than {_COMMANDS_AT_MOST * policy.timeout_seconds:g} seconds, all together"
        )
        return _Result(
            "timed out", detail=note, text=f"[commands {note}; not run: {_short(command)}]"
        )
    deadline = min(until, time.monotonic() + policy.timeout_seconds)
    return _run(command, found or [["/bin/sh", "-c", command]], root, policy, deadline=deadline)


def _refusal(command: str, found: list[list[str]] | None, root: Path, policy: Policy) -> str:
    """Why a command is not run, or nothing; `found` are its alternatives, None for a shell's."""
    is_exact = command in policy.allow or "*" in policy.allow
    if found is None:
        return "" if is_exact else "what needs a shell must be allowed letter for letter"
    reason = "" if is_exact else _allow_list_refusal(found, policy)
    return reason or _git_refusal(found, root)


def _allow_list_refusal(found: list[list[str]], policy: Policy) -> str:
    """The alternative that no entry allows, as a reason; `echo` needs no permission."""
    for argv in found:
        if argv[0] != "echo" and not any(argv[: len(entry)] == entry for entry in _entries(policy)):
            return f"{_short(shlex.join(argv))} is not on the allow list"
    return ""


def _git_refusal(found: list[list[str]], root: Path) -> str:
    """Why a `git` among the alternatives is not run: it does more than read, or is not
    understood."""
    for argv in found:
        if _is_git(argv[0], root):
            reason = git_command.refusal(argv[1:], root)
            if reason:
                return reason
    return ""


def _is_git(program: str, root: Path | None = None) -> bool:
    """Whether a command runs git: by name, or by a path that leads out of the project.

    A relative path, or one into the root, is a program of the project's own, whatever its name.
    """
    if program == "git":
        return True
    path = PurePath(program)
    if path.name != "git" or not path.is_absolute():
        return False
    return root is None or not Path(program).resolve().is_relative_to(root.resolve())


def _entries(policy: Policy) -> Iterator[list[str]]:
    for entry in policy.allow:
        found = alternatives(entry)
        if found and len(found) == 1:
            yield found[0]


def _is_program(command: str, root: Path, policy: Policy) -> bool:
    """Whether a loosely marked command names a program: one that is allowed, or one that is
    there to be run."""
    first = command.split()[0]
    if any(entry[0] == first for entry in _entries(policy)):
        return True
    if "/" in first:
        return shutil.which(root / first) is not None
    return shutil.which(first, path=process.environment()["PATH"]) is not None


def _run(
    command: str, found: list[list[str]], root: Path, policy: Policy, *, deadline: float
) -> _Result:
    """Try each alternative until one succeeds, all within one time limit and one output limit."""
    written = b""
    complaints: list[str] = []
    for argv in found:
        seconds = deadline - time.monotonic()
        output = _run_one(argv, root, seconds, output_bytes=policy.output_bytes - len(written))
        written += output.stdout
        if output.timed_out:
            note = f"took longer than {policy.timeout_seconds:g} seconds"
            return _Result("timed out", detail=note, text=f"[command {note}: {_short(command)}]")
        if output.cut:
            note = f"output cut at {policy.output_bytes:,} bytes"
            text = f"{_text(written, final=False)}\n[{note}: {_short(command)}]"
            return _Result("cut", detail=note, text=text)
        if output.exit_code == 0:
            return _Result("ran", detail="; ".join(complaints), text=_text(written))
        complaints.append(_complaint(argv, output))
    ending = _ending(output.exit_code)
    return _Result(
        "failed",
        detail="; ".join(complaints),
        text=f"[command failed with {ending}: {_short(command)}]",
    )


def _run_one(argv: list[str], root: Path, seconds: float, *, output_bytes: int) -> process.Output:
    if argv[0] == "echo":
        words = argv[2:] if argv[1:2] == ["-n"] else argv[1:]
        return process.Output(
            stdout=f"{' '.join(words)}\n".encode(errors="replace"), stderr=b"", exit_code=0
        )
    if _is_git(argv[0], root):
        run = partial(git_command.run, argv[1:], program=argv[0])
    else:
        run = partial(process.run, argv)
    try:
        return run(root, timeout_seconds=seconds, output_bytes=max(0, output_bytes))
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", "") or str(problem)
        return process.Output(
            stdout=b"", stderr=reason.encode(errors="replace"), exit_code=_NOT_STARTED
        )


def _complaint(argv: list[str], output: process.Output) -> str:
    complaint = f"{_short(argv[0])}: {_ending(output.exit_code)}"
    lines = output.stderr.decode("utf-8", "replace").strip().splitlines()
    if lines:
        complaint += f" ({_short(clean(lines[0])[0])})"
    return complaint


def _ending(exit_code: int) -> str:
    return f"exit {exit_code}" if exit_code >= 0 else f"signal {-exit_code}"


def _text(written: bytes, *, final: bool = True) -> str:
    """Output as text, without its last line end and what steers a terminal; half a character at
    the cut is dropped."""
    decoded = codecs.getincrementaldecoder("utf-8")("replace").decode(written, final)
    return without_escapes(clean(decoded)[0]).rstrip("\r\n")


def _short(command: str) -> str:
    line = " ".join(command.split())
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 3]}..."
