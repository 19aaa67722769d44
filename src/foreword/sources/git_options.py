"""Whether the words of a git command only read: each verb and each option must be in `git_verbs`.

Pure. An option that is not listed is refused, also in a spelling that git would complete by itself
(`--outp`). `git_command` runs what passes, and sees to it that a repository's configuration starts
no program either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.sources.git_verbs import VERBS, Verb

_GLOBAL = """
    --no-pager -P --no-replace-objects --no-optional-locks --no-lazy-fetch --no-advice
    --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs
""".split()
_SHOWN_CHARS = 30  # of a word in a reason: verb, word and reason fit one line of a terminal
_VERSION = ("--version", "-v", "version")
_SIGNATURE = lazy_pattern(
    r"%[-+ ]?G|%\(\*?signature"
)  # in a format, both start a signature program

_LISTING = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
# the next word, where there is no `=`
_TAKES_NEXT = ("--sort", "--format", "--points-at", "--type", "--default")


@dataclass(frozen=True, slots=True)
class GitCommand:
    """A git command that only reads: the folders of its `-C`, and its words from the verb on."""

    folders: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def verb(self) -> str:
        """The command of git that is run."""
        return self.words[0]


VERB_NAMES = tuple(sorted({name.split()[0] for name in VERBS}))


def parse_git_command(words: Sequence[str]) -> GitCommand | str:
    """The words behind `git` as a command that only reads, or the reason why they are not one."""
    split = _split_global_options(words)
    if isinstance(split, str):
        return split
    folders, rest = split
    if not rest:
        return "git needs a verb, as in git log"
    if len(rest) == 1 and rest[0] in _VERSION:
        return GitCommand(folders, ("version",))
    two_words = " ".join(rest[:2])
    name = two_words if two_words in VERBS else rest[0]
    verb = VERBS.get(name)
    if verb is None:
        return f"git {_short(name)} is not among git's commands that only read"
    arguments = rest[len(name.split()) :]
    reason = _unknown_option(arguments, verb) or _writing_reason(arguments, verb)
    if reason:
        return f"git {name} {reason}"
    return GitCommand(folders, (*verb.start, *_arguments_for_git(arguments, verb.end)))


def names_a_verb(words: Sequence[str]) -> bool:
    """Whether the words behind `git` say what it is to do."""
    split = _split_global_options(words)
    if isinstance(split, str):
        return True
    _, rest = split
    return bool(rest)


def _split_global_options(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]] | str:
    """The folders of every `-C`, and what is behind git's own options; or the one that is
    refused."""
    folders: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in _VERSION:
        option = rest.pop(0)
        if option == "-C" and rest:
            folders.append(rest.pop(0))
        elif option not in _GLOBAL:
            return f"git {_short(option)} is not among the options that only read"
    return tuple(folders), rest


def _unknown_option(arguments: Sequence[str], verb: Verb) -> str:
    """The first word that looks like an option and is not understood, as a reason.

    Every such word counts, whether it is an option or the value of the one before it: git alone
    knows which it is.
    """
    before, _ = _split_paths(arguments)
    for word in before:
        if word.startswith("-") and not _is_known(word, verb):
            return f"{_short(word)} is not among the options that only read"
        if "format=" in verb.options and _SIGNATURE.search(word.replace("%%", "")):
            return f"{_short(word)} would start a program that checks signatures"
    return ""


def _is_known(word: str, verb: Verb) -> bool:
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        known = {*verb.options.split(), "end-of-options"}
        return word[2:] in known or f"{name}=" in known or (not equals and name in known)
    if word[1:].isdigit():
        return verb.numbers
    for letter in word[1:]:
        if letter in verb.valued:
            return True  # the rest is its value
        if letter not in verb.letters:
            return False
    return len(word) > 1


def _writing_reason(arguments: Sequence[str], verb: Verb) -> str:
    """Why these words would not only read, though every option is known."""
    before, paths = _split_paths(arguments)
    names = list(paths)
    for previous, word in zip(["", *before], before, strict=False):
        if not word.startswith("-") and previous not in _TAKES_NEXT:
            names.append(word)
    if verb.most is not None and len(names) > verb.most:
        return f"with {_short(names[verb.most])} does more than read"
    if verb.listing and names and not any(_is_listing(word) for word in before):
        return f"{_short(names[0])} would make one; --list lists"
    return ""


def _is_listing(word: str) -> bool:
    return word.split("=")[0] in _LISTING or re.match(r"-\w*[ln]", word) is not None


def _short(word: str) -> str:
    return word if len(word) <= _SHOWN_CHARS else f"{word[: _SHOWN_CHARS - 3]}..."


def _split_paths(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before `--`, and the paths behind it."""
    words = list(arguments)
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _arguments_for_git(arguments: Sequence[str], end: tuple[str, ...]) -> list[str]:
    """The words as git gets them.

    Behind `--` there are only paths, unless that was the value of an option (`git grep -e --
    -Oprogram`). So a path there that begins with a dash is written as one.
    """
    before, paths = _split_paths(arguments)
    words = [*before, *end]
    if "--" in arguments:
        words.append("--")
        words += [f"./{path}" if path.startswith("-") else path for path in paths]
    return words
