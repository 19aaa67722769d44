"""What a task names: words, identifiers, files, modules, and the frames of stack traces.

Pure. Which files those are is `file_ranking`'s business.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.repository.code_terms import terms_of_name
from foreword.text.words import STOP_WORDS

# Characters of a task that are read. Issues with whole logs are longer; what is asked stands at
# the beginning, and a trace in the first pages.
LONGEST_TASK = 30_000
# Of each kind, those that count most: a bound on what is looked up for a task that is a whole log.
MOST_WORDS = 80
MOST_NAMES = 80
_LONGEST = 80  # characters of a name; what is longer is data
# Only from the beginning of a line: in a line of nothing but marks every one would be tried.
_FENCE = lazy_pattern(r"^[ \t>]*```[^\n]*\n(.*?)(?:^[ \t>]*```|\Z)", re.DOTALL | re.MULTILINE)
_TICKS = lazy_pattern(r"`([^`\n]{1,200})`")
_PYTHON_FRAME = lazy_pattern(r'File "([^"\n]{1,300})", line (\d{1,7})(?:, in ([\w<>.]{1,100}))?')
_PLACE = lazy_pattern(
    r"(?<![\w./-])((?:[\w.@+-]{1,80}/){0,20}[\w.+-]{1,80}\.[A-Za-z]{1,5}):(\d{1,7})\b"
)
_PATH = lazy_pattern(r"(?<![\w./:-])(?:/|\./|~/)?((?:[\w.@+-]{1,80}/){1,20}[\w.+-]{1,80})")
_FILE_NAME = lazy_pattern(
    r"(?<![\w./-])([\w-]{1,80}\.(?:py|pyx|js|jsx|ts|tsx|go|rs|java|rb|c|h|cc|cpp|hpp|cs|php|html|css|md|rst|txt|toml|cfg|ini|yaml|yml|json|sh|sql))\b"
)
_DOTTED = lazy_pattern(r"(?<![\w./])([A-Za-z_]\w{0,79}(?:\.[A-Za-z_]\w{0,79}){1,8})")
_IMPORT = lazy_pattern(
    r"^[ \t>]*(?:from\s+([\w.]{1,200})\s+import\s+([^\n#]{1,300})|import\s+([\w.]{1,200}))", re.M
)
_IDENTIFIER = lazy_pattern(r"(?<![\w])([A-Za-z_]\w{0,79})")
_WORD = lazy_pattern(r"[^\W\d]\w+")
_CODE_LIKE = lazy_pattern(r"_|[a-z0-9][A-Z]|^[A-Z][a-z]+[A-Z]|^[A-Z]{3,}$")
_CALLED = lazy_pattern(r"(?<![\w])([A-Za-z_]\w{1,79})\(")
# What is done about tests. An issue that only mentions some ("tests pass", "I tested it with")
# asks for none.
_ABOUT_TESTS = lazy_pattern(
    r"\b(?:add|write|extend|update|fix|repair|improve|need|needs|missing|more|flaky|failing|broken"
    r"|with|cover)\b(?:[ \t]+[\w'-]+){0,3}[ \t]+(?:tests?|specs?|coverage)\b"
    r"|\band test\b|\btests? (?:is|are) (?:flaky|missing|broken|failing)\b",
    re.IGNORECASE,
)
_URL = lazy_pattern(r"https?://[^\s)>\]]{1,500}")


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of a stack trace, or a place in a file."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWords:
    """What a task names, with how much each counts."""

    words: dict[str, float]
    names: dict[str, float]  # identifiers
    phrases: dict[str, float]  # identifiers of several words, as they are searched for
    paths: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()  # dotted names, as in imports
    frames: tuple[Frame, ...] = ()  # in the order of the text
    asks_for_tests: bool = False


def words_of(task: str) -> TaskWords:
    """What a task names."""
    text = task[:LONGEST_TASK]
    bare = _URL.sub(" ", text)
    title = next((line for line in bare.splitlines() if line.strip()), "")
    code = "\n".join(_FENCE.findall(bare))
    prose = _FENCE.sub(" ", bare)
    frames = _frames(bare)
    names = _names(bare, title, prose)
    counted = _counted_words(title, prose, code)
    phrases: dict[str, float] = {}
    for name, weight in names.items():
        terms = terms_of_name(name)
        if len(terms) > 1:
            phrases[terms[0]] = max(weight, phrases.get(terms[0], 0.0))
    paths = [*_PATH.findall(bare), *_FILE_NAME.findall(bare)]
    return TaskWords(
        words=counted,
        names=names,
        phrases=phrases,
        paths=tuple(dict.fromkeys(paths))[:MOST_NAMES],
        modules=tuple(dict.fromkeys(_modules(bare)))[:MOST_NAMES],
        frames=tuple(frames)[:MOST_NAMES],
        asks_for_tests=_ABOUT_TESTS.search(prose) is not None,
    )


def _frames(text: str) -> list[Frame]:
    found = list[tuple[int, Frame]]()
    for match in _PYTHON_FRAME.finditer(text):
        found.append((match.start(), Frame(match[1], int(match[2]), match[3] or "")))
    for match in _PLACE.finditer(text):
        found.append((match.start(), Frame(match[1], int(match[2]))))
    found.sort(key=lambda each: each[0])
    return [frame for _, frame in found]


def _names(text: str, title: str, prose: str) -> dict[str, float]:
    """Identifiers, by how surely they are meant as such and how often they are named."""
    found: Counter[str] = Counter()
    ticked = set(_IDENTIFIER.findall("\n".join(_TICKS.findall(prose))))
    called = set(_CALLED.findall(text))
    in_title = set(_IDENTIFIER.findall(title))
    in_prose = set(_IDENTIFIER.findall(prose))
    dotted = set()
    for name in _DOTTED.findall(text):
        dotted.update(name.split("."))
    counts = Counter(_IDENTIFIER.findall(text))
    weights: dict[str, float] = {}
    for name, count in counts.items():
        if len(name) < 3 or name.lower() in STOP_WORDS:
            continue
        is_code = (
            bool(_CODE_LIKE.search(name)) or name in ticked or name in called or name in dotted
        )
        weight = 1.0 if is_code else 0.3
        if name in in_title:
            weight *= 2.0
        elif name in in_prose:
            weight *= 1.3
        found[name] = count
        weights[name] = weight
    best = sorted(weights, key=lambda name: (-weights[name], -found[name], name))
    return {name: weights[name] for name in best[:MOST_NAMES]}


def _counted_words(title: str, prose: str, code: str) -> dict[str, float]:
    """Words, by where they stand and how often; the first of a task says most."""
    found: Counter[str] = Counter()
    for text, weight in ((title, 2.0), (prose, 1.0), (code, 0.5)):
        counts = Counter(_content_words(text))
        for word, count in counts.items():
            found[word] += weight * (1 + min(count, 4) * 0.25)  # type: ignore[assignment]
    best = sorted(found, key=lambda word: (-found[word], word))
    return {word: float(found[word]) for word in best[:MOST_WORDS]}


def _content_words(text: str) -> list[str]:
    """The terms of a text, without the words that say nothing."""
    found: list[str] = []
    for name, count in Counter(_WORD.findall(text)).items():
        if name.lower() in STOP_WORDS or len(name) > _LONGEST:
            continue
        terms = terms_of_name(name)
        # the whole of a name of several words is looked for as a phrase
        for term in terms if len(terms) == 1 else terms[1:]:
            if len(term) > 2:
                found += [term] * count
    return found


def _modules(text: str) -> list[str]:
    found: list[str] = []
    for match in _IMPORT.finditer(text):
        if match[3]:
            found.append(match[3])
            continue
        found.append(match[1])
        found += [f"{match[1]}.{name}" for name in re.findall(r"\w+", match[2])]
    found += _DOTTED.findall(text)
    return found
