"""Tell a template that nobody filled in from a file with something to say.

Such a file is prompts for its author (`_What are you calling this?_`, `[Goal Name]`), empty bullets
and rows, and headings with nothing under them. It judges whole files only, and when in doubt it
calls them filled: a lost answer is worse than a template in the context. Whether to leave the file
out is the caller's decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from foreword.pattern import lazy_pattern
from foreword.text import markdown

# Of the sections: with fewer answered, a file is still a template. An author who has begun, with
# every fourth prompt answered, has something to say.
MOSTLY_EMPTY = 0.25
LARGEST_TEMPLATE = 60_000  # characters: a larger file was filled by somebody

_JUDGED_CHARS = 500  # of a line: what it is shows long before
_PROMPT_WORDS = 12  # beside a `[Placeholder]`: with more, the line is an answer that mentions one
_ASIDE_WORDS = 4  # beside words in italics alone: with more, they are an aside in an answer
_LABEL_WORDS = 3  # behind a `**Label:**`: templates have as many themselves

_TEMPLATE_WORDS = 40  # beside its headings and notes: with more, somebody has begun to write
_TO_BE_POPULATED = lazy_pattern(
    r"^[>\s*_-]*this file will be (?:populated|filled in|generated|created)\b"
    r"[^\n]{0,20}\b(?:when|once|after|by)\b",
    re.IGNORECASE | re.MULTILINE,
)
_ITALIC = lazy_pattern(
    r"(?<!\w)_(?!_)[^_`\r\n]++(?:_[^_`\r\n]++)*?_(?!\w)|(?<![\w*])\*(?![*\s])[^*`\r\n]++\*(?![\w*])"
)
_PLACEHOLDER = lazy_pattern(r"(?<![\w\])])\[(?![ xX]\]|\^)[A-Za-z][^\[\]\r\n]*+\](?![\[(:\w])")
_TAG = lazy_pattern(r"\[[\w-]+\]\s+(\S+\s+\S.*)")
# Of the file itself, or by a command: "PDFs will be generated on the server" is an answer.
_TO_COME = lazy_pattern(
    r"\b(?:this|these)\b(?: \w+){0,2} will be (?:populated|filled|generated|created|written)\b"
    r"|\bwill be (?:populated|filled|generated|created|written)\b[^\n]{0,60}\byou run\b",
    re.IGNORECASE,
)
_MARKUP = lazy_pattern(
    r"^[ \t]*(?:[-*+]|\d+[.)]|>)[ \t]*(?:\[[ xX]\])?|^[ \t]*(?:```|~~~).*$|<!--.*?-->|[*_`|:>#=-]+"
)
_IN_LIST = lazy_pattern(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_LABEL = lazy_pattern(r"\s*(?:[-*+]\s+)?\*\*[^*]+\*\*:?\s*(.*)")
_RULE = lazy_pattern(r"\s*+\|[\s:|]*+-[\s:|-]*+")
_HEADING = lazy_pattern(r"^ {0,3}(?:#|(?:=++|-++)[ \t]*+\r?$)", re.MULTILINE)
_PROSE = lazy_pattern(
    r"^[ \t]*+(?>(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?)(?![^\r\n]{0,500}\bwill"
    r" be\b)[^\W_][^\r\n_*\[\]`|<>]{40,500}+\r?+"
    r"(?!\n[ \t]*+[=|-])$",
    re.MULTILINE,
)
_TITLE_CHARS = 4_000  # of a one-line task: a title is far shorter
_TITLE_PROMPT = lazy_pattern(r"\[[^\]\n]{1,80}+\](?!\()|_[^_\n]{1,80}+_")
_CHECKLIST = lazy_pattern(r"\s*(?:quality gate|checklist|before considering)\b", re.IGNORECASE)


def is_blank_template(text: str) -> bool:
    """Whether the text is blank, or a template whose sections are nearly all still prompts."""
    if not text.strip():
        return True
    if len(text) > LARGEST_TEMPLATE:
        return False
    if _says_it_is_unfilled(text):
        return True
    if _is_plainly_filled(text):
        return False
    kinds = [_kind(section) for section in _sections(text)]
    answered = kinds.count("answered")
    if "prompted" not in kinds:
        answered += kinds.count("labelled")
    return not answered or answered < MOSTLY_EMPTY * (len(kinds) - kinds.count(""))


def is_unanswered(text: str) -> bool:
    """Whether no line of a part of a file says more than a prompt: one answer is enough, for what
    the user has decided is lost otherwise."""
    for section in _sections(text):
        for line in _said_lines(section):
            if _is_answer(line):
                return False
    return True


def _is_answer(line: str) -> bool:
    """Whether a line has a word of its own; an item in italics is somebody's, a line of them may
    be a prompt."""
    if _TO_COME.search(line):
        return False
    if _IN_LIST.match(line):
        return re.search(r"\w", _MARKUP.sub(" ", _PLACEHOLDER.sub(" ", line))) is not None
    label = _LABEL.fullmatch(line)
    return bool(_words_beside_prompts(label[1] if label else line))


def is_unfilled_task(text: str) -> bool:
    """Whether a task was never filled in; its title alone is enough."""
    if not is_blank_template(text):
        return False
    return not text.strip() or _TITLE_PROMPT.search(text[:_TITLE_CHARS]) is not None


def _says_it_is_unfilled(text: str) -> bool:
    """Whether a file says that it will be populated by a command, and hardly more: a tool's own
    template, which the tool replaces as a whole."""
    if not _TO_BE_POPULATED.search(text):
        return False
    words = 0
    for line in text.splitlines():
        said = line.strip()
        is_frame = said.startswith(("#", ">", "<!--")) or (said[:1] == said[-1:] == "_")
        if not is_frame and not _TO_COME.search(said):
            words += len(said.split())
    return words <= _TEMPLATE_WORDS


def _is_plainly_filled(text: str) -> bool:
    """Whether there is plain prose under half the headings at a glance, so that nothing needs to
    be parsed."""
    first, *others = _HEADING.split(text)
    bodies = [first]
    for section in others:
        title, _, body = section.partition("\n")
        if not _CHECKLIST.match(title.lstrip("#")):
            bodies.append(body)
    not_empty = [body for body in bodies if body.strip()]
    with_prose = [body for body in not_empty if _PROSE.search(body)]
    return bool(not_empty) and 2 * len(with_prose) >= len(not_empty)


def _sections(text: str) -> list[str]:
    """What stands directly under each heading; a checklist about the file itself is no part of
    what it says."""
    headings = markdown.headings(text) if _HEADING.search(text) else []
    ends = [heading.start for heading in headings] + [len(text)]
    bodies = [text[: ends[0]]]
    for heading, end in zip(headings, ends[1:], strict=True):
        if not _CHECKLIST.match(heading.title):
            bodies.append(text[heading.body : end])
    return bodies


def _kind(section: str) -> str:
    """`answered`, `prompted`, `labelled` (a label with a word or two, as templates have them
    too), or nothing."""
    kinds: set[str] = set()
    for line in _said_lines(section):
        kind = _line_kind(line)
        if kind == "answered":
            return kind
        kinds.add(kind)
    if "prompted" in kinds:
        return "prompted"
    return "labelled" if "labelled" in kinds else ""


def _said_lines(section: str) -> Iterator[str]:
    """The lines of a section, as much of each as is judged, without the heads of tables."""
    lines = [line[:_JUDGED_CHARS] for line in section.splitlines() if line.strip()]
    for line, below in pairwise([*lines, ""]):
        if not _RULE.fullmatch(below):
            yield line


def _line_kind(line: str) -> str:
    if _TO_COME.search(line):
        return "prompted"
    has_italics = _ITALIC.search(line) is not None
    tag = _TAG.match(_MARKUP.sub(" ", line, count=1).strip())
    if tag and not has_italics and not _PLACEHOLDER.search(tag[1]):
        return "answered"
    if has_italics or _PLACEHOLDER.search(line):
        return "prompted" if _is_prompt(line) else "answered"
    label = _LABEL.fullmatch(line)
    if label and len(label[1].split()) <= _LABEL_WORDS:
        return "labelled" if label[1].strip() else ""
    return "answered" if re.search(r"\w", _MARKUP.sub(" ", line)) else ""


def _is_prompt(line: str) -> bool:
    """Whether little is left of a line once its prompts are gone; an aside in italics in real
    text is no prompt."""
    most = _PROMPT_WORDS if _PLACEHOLDER.search(line) else _ASIDE_WORDS
    return len(_words_beside_prompts(line)) <= most


def _words_beside_prompts(line: str) -> list[str]:
    left = _PLACEHOLDER.sub(" ", _ITALIC.sub(" ", line))
    return re.findall(r"\w+", _MARKUP.sub(" ", left))
