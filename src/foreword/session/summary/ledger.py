"""The ledger of a summary: files with the names in them, names in play, names from before.

Dense on purpose: a name costs little more than its letters. Each is written once, beside the file
whose call named it last where there is one, and not at all where a line of the summary says it
already. What names are worth is in `name_weights`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from foreword.pattern import lazy_pattern
from foreword.section import Measure
from foreword.session.summary.claims import PATH
from foreword.session.summary.name_weights import Mention, literals
from foreword.session.summary.summary_check import UNPROVEN
from foreword.session.summary.summary_text import EarlierSummary, Part

# Of the ledger's room, for what an earlier summary named: half, so that a conversation that is
# compressed again and again forgets neither its beginning nor its newest names.
FROM_BEFORE = 0.5
OLDEST = 0.6  # of that goes to the names that have lasted longest
# A name worth less was printed once, long ago, and never used: lines go first. Chosen as
# `draft.LINE_SHARES`: at 0.06 lines win ten of 100 and names lose ten.
FAINT = 0.012
# Characters that every name is taken to have more than it has. Names are ordered by worth for their
# length; with 0 short names would always win, with many more length would not matter. By `make fit`
# 30 is better than 60 by 0.3 and 100 by 0.2, in two of four folds.
THRIFT = 30

_FILE = lazy_pattern(r"[/~.]|.*\.\w{1,8}$")
_ID = lazy_pattern(r"(?=.*\d)(?=.*[A-Za-z])[\w-]+")
_FILE_ROW = lazy_pattern(r"((?:[\w~@.-]*/)+[\w.@-]*\w)(?:: (.*))?")
_STEP = lazy_pattern(r"[/.]|\(\)")
_SEPARATOR = ", "


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A name in the ledger, and the file it stands beside."""

    name: str
    part: Part
    file: str = ""

    @property
    def text(self) -> str:
        """About what it adds to the text."""
        return f"- {self.name}\n" if self.part == "files" else f"{_SEPARATOR}{self.name}"


def named_before(earlier: EarlierSummary) -> list[str]:
    """Every name of an earlier summary: what has lasted already, then ids, then the rest."""
    lasting = list[str]()
    for row in earlier.lasting:
        lasting += row.split(_SEPARATOR)
    others = list[str]()
    for row in reversed(earlier.files):
        others += _names_in_row(row)
    for row in earlier.names:
        others += row.split(_SEPARATOR)
    for _, line in earlier.lines:
        others += _proven_literals(line)
    ids_first = sorted(others, key=lambda name: _ID.fullmatch(name) is None)
    return [name for name in dict.fromkeys([*lasting, *ids_first]) if name.strip()]


def _proven_literals(line: str) -> list[str]:
    """The names of a line but those that are marked as unproven: alone they would lose the mark."""
    *marked, rest = line.split(UNPROVEN)
    names = list[str]()
    for piece in marked:
        names += literals(piece)[:-1]
    return [*names, *literals(rest)]


def entries(found: Mapping[str, Mention], worth: Mapping[str, float]) -> list[LedgerEntry]:
    """The names in play, the most telling for its length first, and all the faint ones behind
    them."""

    def order(name: str) -> tuple[bool, float, str]:
        return (worth[name] < FAINT, -worth[name] / (len(name) + THRIFT), name)

    names = [name for name in found if _SEPARATOR not in name]
    return [entry(name, found[name].subject) for name in sorted(names, key=order)]


def entry(name: str, subject: str = "") -> LedgerEntry:
    """A name as it stands in the ledger."""
    if is_file(name):
        return LedgerEntry(name, "files")
    return LedgerEntry(name, "names", subject if is_file(subject) else "")


def is_file(name: str) -> bool:
    """Whether a name is the path of a file or folder, and no mere pair of words with a slash."""
    return PATH.fullmatch(name) is not None and _FILE.match(name) is not None


def take(order: Iterable[LedgerEntry], room: int, measure: Measure, said: str) -> list[LedgerEntry]:
    """The first entries that fit, those left out that the text or another entry says already."""
    taken: dict[str, LedgerEntry] = {}
    used = 0
    for each in order:
        cost = measure(each.text)
        if used + cost <= room and each.name not in said:
            for name in _inside(each.name):
                if name in taken:
                    used -= measure(taken.pop(name).text)
            used += cost
            taken[each.name] = each
            said += f"\n{each.name}"
    return list(taken.values())


def _inside(name: str) -> list[str]:
    """The shorter names that a name says too: the ends of a path, what follows a dot."""
    steps = list(_STEP.finditer(name))
    ends = [name[step.end() :] for step in steps]
    beginnings = [name[: step.start()] for step in steps]
    return ends + beginnings


def take_before(
    names: Sequence[str], worth: Mapping[str, float], *, room: int, measure: Measure, said: str
) -> list[LedgerEntry]:
    """Names from an earlier summary: those that lasted longest, then those most in play again."""
    order = [LedgerEntry(name, "before") for name in names]
    first = take(order, int(OLDEST * room), measure, said)
    left = room - sum(measure(each.text) for each in first)
    by_worth = sorted(order, key=lambda each: -worth.get(each.name, 0.0))
    return first + take(by_worth, left, measure, with_names(said, first))


def with_names(said: str, entries: Iterable[LedgerEntry]) -> str:
    """What a summary says with these entries, too, for finding names in it."""
    return "\n".join([said, *(each.name for each in entries)])


def parts(taken: Sequence[LedgerEntry], found: Mapping[str, Mention]) -> dict[Part, list[str]]:
    """The lines of the ledger: files as they were touched, beside each its names, then the other
    names."""
    files: dict[str, list[str]] = {each.name: [] for each in taken if each.part == "files"}
    lists: dict[Part, list[str]] = {"names": [], "before": []}
    for each in taken:
        if each.part != "files":
            files.get(each.file, lists[each.part]).append(each.name)
    rows: dict[Part, list[str]] = {"files": []}
    for file in sorted(files, key=lambda file: found[file].last if file in found else -1):
        names = _SEPARATOR.join(files[file])
        rows["files"].append(f"{file}: {names}" if names else file)
    for part, others in lists.items():
        if others:
            rows[part] = [_SEPARATOR.join(others)]
    return rows


def _names_in_row(row: str) -> list[str]:
    """A file and the names beside it, read back."""
    listed = _FILE_ROW.fullmatch(row)
    if not listed:
        return row.split(_SEPARATOR)
    file, names = listed.groups()
    return [file, *names.split(_SEPARATOR)] if names else [file]
