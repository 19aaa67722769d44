"""Sections out of what the user brings: items of many kinds, or the state of a piece of work as
JSON.

Which kinds and keys make which section is the recipe's; reading the source is done
(`sources.items`, `sources.json_state`). What can't be made is a reason, in words for the report.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any

from foreword.errors import did_you_mean
from foreword.pattern import lazy_pattern
from foreword.recipe.schema import EndRule, SectionSpec
from foreword.recipe.selection import UNKNOWN_KIND_TIER, Selection
from foreword.section import FIRST_IN_GROUP, STATE, Entry, Rank, Section
from foreword.sources import json_state
from foreword.sources.items import Item
from foreword.sources.test_reports import failed_tests
from foreword.text import markdown
from foreword.text.content_type import GRAMMARS

REST = "*"
DOCUMENT = "doc"
CHANGE = "diff"
LONGEST_QUERY = 4_000  # characters of a change that say what it is about
LONGEST_PASSAGE = 20_000  # characters of an item that say what it is about
MOST_FOLDERS = 20  # of a path that is looked for in a diff
# How like a kind the name of a folder is that was meant as one: `blokers` has 0.86. Of subjects,
# `positioning` has 0.84 and `reasoning` 0.71; `contacts` has 0.87 and gets a note for nothing.
MISSPELT = 0.85
TEXT_KINDS = {"diff": "diff", "log": "output"}  # by content type; prose and data are documents
PROGRAM_KINDS = ("artifact", "interface", "test")  # what a program can be, by its folder's name
_PROGRAMS = frozenset((*GRAMMARS, "python", "code", "sql", "markup"))
_WORD = lazy_pattern(r"[^\W\d_]+")
CONVERSATION = "messages"
# Items of one rank are kept by the order of their kinds, within a kind by their places. Kinds that
# the purpose does not know come behind 98 that it knows, items past the 10,000th share a place.
UNKNOWN_KIND_ORDER = 99
PLACES_OF_A_KIND = 10_000
# Characters of the text that name an item without a title: six to eight words, and the report's
# columns still fit a terminal.
LONGEST_NAME = 48


def add_carried_items(items: list[Item], carried: Sequence[Item]) -> list[Item]:
    """The items of this session, then those carried over that it does not bring itself."""
    titles = {(item.kind, same_title(item.title)) for item in items}
    texts = {(item.kind, item.text) for item in items}
    missing = list[Item]()
    for item in carried:
        is_here = (item.kind, item.text) in texts
        if not is_here and (item.kind, same_title(item.title)) not in titles:
            missing.append(item)
    return items + missing


def same_title(title: str) -> str:
    """A title without what nobody means by it: two that are equal so are the same."""
    return " ".join(title.casefold().split())


def end_reason(item: Item, rules: EndRule) -> str:
    """Why an item no longer counts, or nothing."""
    first_word = _WORD.match(item.status.lower())  # `Superseded by 0009`
    if item.kind in rules.kinds and first_word and first_word[0] in rules.statuses:
        return f"it is {first_word[0]}"
    return ""


def with_kinds(items: Sequence[Item], selection: Selection) -> tuple[list[Item], list[str]]:
    """The items, each with a kind: the one that was stated, else by the name of its folder or its
    own, else by its type; and a note for each folder that may be a misspelt kind."""
    kinds = {*selection.kind_tiers, *selection.leave_out}
    for spec in selection.sections.values():
        kinds.update(spec.items or ())
    names = {kind: kind for kind in kinds - {DOCUMENT, REST}} | selection.recipe.kind_names
    resolved = list[Item]()
    notes = dict[str, str]()  # by the folder's name
    for item in items:
        if not item.kind:
            kind = _kind_by_name(item, names)
            folder = PurePosixPath(item.source).parent.name.lower()
            for guess in get_close_matches(folder, names, 1, MISSPELT) if not kind else ():
                notes.setdefault(
                    folder, f"{item.source}: {folder!r} is no kind; did you mean {guess!r}?"
                )
            item = replace(item, kind=kind or _kind_by_type(item))
        resolved.append(item)
    return resolved, list(notes.values())


def _kind_by_name(item: Item, names: Mapping[str, str]) -> str:
    """The kind that the folder of a file names, or the file itself, or nothing. A name is one word,
    with or without numbers: `contracts`, `02-DECISIONS.md`."""
    path = PurePosixPath(item.source if item.path else "")
    if item.content_type == "diff" or path.suffix == ".txt":  # `requirements.txt` is for a program
        return ""
    is_program = item.content_type in _PROGRAMS
    for name in (path.parent.name, "" if is_program else path.stem):
        words = _WORD.findall(name.lower())
        word = words[0] if len(words) == 1 else ""
        for singular in (word, word[:-1], word[:-2], f"{word[:-3]}y"):
            kind = names.get(singular, "")
            if kind and (not is_program or kind in PROGRAM_KINDS):
                return kind
    return ""


def _kind_by_type(item: Item) -> str:
    if item.content_type in _PROGRAMS:
        return "artifact"
    return TEXT_KINDS.get(item.content_type, DOCUMENT)


def unknown_kinds(items: Sequence[Item], selection: Selection) -> list[str]:
    """A warning for each kind the purpose does not know."""
    known = {*selection.kind_tiers, *selection.leave_out}
    unknown = Counter(item.kind for item in items if item.kind not in known)
    warnings = list[str]()
    for kind, times in unknown.items():
        noun = "item" if times == 1 else "items"
        warning = f"unknown kind {kind!r} ({times} {noun}), taken as tier {UNKNOWN_KIND_TIER}"
        guess = did_you_mean(kind, known)
        if guess:
            warning += f"; did you mean {guess!r}?"
        warnings.append(warning)
    return warnings


def item_sections(
    tag: str, selection: Selection, items: Sequence[Item], query: str
) -> list[Section]:
    """One section for each item of the tag's kinds, the newest first; or those that the query is
    about, where the recipe orders them so. Of equals those are kept that the query is about."""
    kinds = selection.sections[tag].items or ()
    elsewhere = set[str]()  # kinds that a section names; the rest is for the one with `*`
    for spec in selection.sections.values():
        elsewhere.update(spec.items or ())
    selected = list[Item]()
    for item in items:
        is_rest = REST in kinds and item.kind not in elsewhere
        if item.kind in kinds or is_rest:
            selected.append(item)
    nearest = selected
    if len(selected) > 1:
        change = "\n".join(item.text for item in items if item.kind == CHANGE)
        nearest = _nearest_first(selected, query, change)
    if selection.sections[tag].order == "relevance":
        selected = nearest
    else:
        selected.sort(key=lambda item: item.created, reverse=True)
        nearest = sorted(nearest, key=lambda item: item.created, reverse=True)
    selected.sort(key=lambda item: kinds.index(item.kind) if item.kind in kinds else len(kinds))
    places = {id(item): place for place, item in enumerate(nearest)}
    sections = list[Section]()
    for item in selected:
        excluded = _exclusion_reason(item, selection, query)
        sections.append(_item_section(tag, selection, item, places[id(item)], excluded))
    return sections


def _exclusion_reason(item: Item, selection: Selection, query: str) -> str:
    """Why the recipe leaves an item out, or nothing."""
    reason = selection.leave_out.get(item.kind) or end_reason(item, selection.recipe.ended)
    if not reason and item.kind in selection.only_named:
        names = (same_title(item.title), PurePosixPath(item.path).stem.casefold())
        task = same_title(query)
        if not any(name and re.search(rf"\b{re.escape(name)}\b", task) for name in names):
            reason = "the task does not name it"
    return reason


def _nearest_first(items: Sequence[Item], query: str, change: str) -> list[Item]:
    """The items that a change touches, then all by what they have to do with the query and the
    change; of equals the order stays."""
    from foreword.relevance import Passage, rank  # like `diffs`, not for the start of a context
    from foreword.text.diffs import changed_files

    passages = [Passage(text=item.text[:LONGEST_PASSAGE], title=item.title) for item in items]
    scores = rank(passages, f"{query}\n{change[:LONGEST_QUERY]}")
    # A path in a diff begins at the repository, that of an item at the source, above or below it.
    changed = frozenset(changed_files(change))
    changed_ends = frozenset[str]().union(*map(_path_ends, changed))
    keys = list[tuple[bool, int]]()
    for item, score in zip(items, scores, strict=True):
        is_touched = item.path in changed_ends or not changed.isdisjoint(_path_ends(item.path))
        keys.append((not is_touched, -score))
    return [items[place] for place in sorted(range(len(items)), key=keys.__getitem__)]


def _path_ends(path: str) -> frozenset[str]:
    """A path, and what is left of it without its first folders."""
    names = path.split("/")[-MOST_FOLDERS:]
    return frozenset("/".join(names[first:]) for first in range(len(names)))


def _item_section(tag: str, selection: Selection, item: Item, place: int, excluded: str) -> Section:
    """Tier by kind; within a tier the kinds in the purpose's order, of each kind the newest
    first."""
    tier = selection.kind_tiers.get(item.kind, UNKNOWN_KIND_TIER)
    if end_reason(item, selection.recipe.ended):
        tier = UNKNOWN_KIND_TIER
    # A code base does not fit any budget: no program is essential unless its author says so.
    is_first = tier == 1 and not excluded
    rule = replace(
        selection.rule(tag),
        tier=tier,
        essential=is_first and (item.is_kind_stated or item.content_type not in _PROGRAMS),
        may_yield=not item.is_kind_stated,
        excluded=excluded,
    )
    title = item.title
    if markdown.first_title(item.text) == title:
        title = ""  # the text says it itself
    label = _label(item)
    heading = f"{label}: {title}" if title else label
    before = json_state.fill_template(
        selection.sections[tag].before, {"title": title, "kind": item.kind, "heading": heading}
    )
    return Section(
        tag=tag,
        text=item.text,
        rule=rule,
        rank=_item_rank(tag, selection, item, place),
        title=item.path or item.title or _first_words(item.text) or item.kind,
        source=item.source,
        kind=item.kind,
        before=before,
        after=selection.sections[tag].after,
        recency=_seconds(item.created),
    )


def _first_words(text: str) -> str:
    """What an item without a title is called in the report, where there may be many of its kind."""
    line = text.strip().split("\n", 1)[0].strip()
    if len(line) > LONGEST_NAME:
        line = f"{line[: LONGEST_NAME + 1].rsplit(None, 1)[0][:LONGEST_NAME]} ..."
    return f'"{line}"' if line else ""  # in quotes it is taken for no file's name


def _label(item: Item) -> str:
    """What kind of item it is, for a reader; of an assumption whether it was validated."""
    label = item.kind.replace("_", " ").capitalize()
    if item.kind != "assumption":
        return label
    return f"{label} ({'validated' if item.validated else 'not validated'})"


def _item_rank(tag: str, selection: Selection, item: Item, place: int) -> Rank:
    kind_order = UNKNOWN_KIND_ORDER
    if item.kind in selection.kind_tiers:
        kind_order = list(selection.kind_tiers).index(item.kind)
    behind = kind_order * PLACES_OF_A_KIND + min(place, PLACES_OF_A_KIND - 1)
    return selection.rank(tag, order=FIRST_IN_GROUP - behind)


def _seconds(created: str) -> int:
    """When an item was made, for comparing; one without a date is older than any other."""
    if not created:
        return 0
    return int(datetime.fromisoformat(created).replace(tzinfo=UTC).timestamp())


def state_sections(
    tag: str, selection: Selection, data: Mapping[str, Any], where: str
) -> tuple[list[Section] | str, list[str]]:
    """The sections a key of the state makes, or why there are none; and notes."""
    spec = selection.sections[tag]
    value = _state_at(data, spec.state or "")
    if spec.state == CONVERSATION and value:
        return _conversation_sections(tag, selection, value, where)
    if spec.show:
        from foreword.plan.fresh_parts import part_text

        return [part_section(tag, selection, part_text(spec.show, value))], []
    if spec.state == CONVERSATION:
        return "not in the source", []
    if isinstance(value, dict) and not spec.each:
        value = value.get(selection.names.get("phase", ""))  # a text for each phase
    if value is None:
        return "not in the source", []
    if value in ([], {}) or (isinstance(value, str) and not value.strip()):
        return "nothing is in it", []
    if isinstance(value, str) and not spec.each:
        return [part_section(tag, selection, value)], []
    texts, notes = _member_texts(spec, value, data, where)
    if not texts:
        return _reason_for_none(spec), notes
    return [_list_section(tag, selection, tuple(map(Entry, texts)), joiner="\n\n")], notes


def part_section(tag: str, selection: Selection, text: str) -> Section:
    """A text of the state, or a fresh part of a call; such a part is always there, if only to say
    that there is nothing."""
    spec = selection.sections[tag]
    section = selection.section(tag, text, source=spec.state or "")
    return replace(section, kind=STATE) if spec.show else section


def _conversation_sections(
    tag: str, selection: Selection, value: object, where: str
) -> tuple[list[Section] | str, list[str]]:
    entries, prompts, notes = json_state.conversation_entries(value, where)
    if not entries:
        return "no message in it", notes
    raw = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    sections = [_list_section(tag, selection, entries, joiner="\n", raw=raw)]
    if prompts:
        excluded = "old system prompts are not part of the conversation"
        old_prompts = Section(
            tag=tag,
            text=prompts,
            rule=replace(selection.rule(tag), excluded=excluded),
            title="old system prompts",
            source=CONVERSATION,
        )
        sections.append(old_prompts)
    return sections, notes


def _reason_for_none(spec: SectionSpec) -> str:
    """Why no member of a list was taken."""
    conditions = [f"{field} {' or '.join(values)}" for field, values in spec.where.items()]
    conditions += [f"a {field}" for field in spec.having]
    reason = "no member"
    if conditions:
        reason += f" with {' and '.join(conditions)}"
    if spec.named_in:
        reason += f", named in {spec.named_in}"
    return reason


def _member_texts(
    spec: SectionSpec, value: object, data: Mapping[str, Any], where: str
) -> tuple[list[str], list[str]]:
    """The members of a list that the section wants, each as a text; and notes on those that lack
    what they should have."""
    members = json_state.members(
        [value] if isinstance(value, dict) else value, where, spec.state or ""
    )
    members = json_state.matching_members(members, spec.where)
    members = [member for member in members if _has_fields(member, spec.having)]
    if spec.named_in:
        others = _state_at(data, spec.named_in) or []
        members = json_state.members_named_by(
            members, json_state.members(others, where, spec.named_in), where, spec.named_in
        )
    if spec.last:
        members = members[-spec.last :]
    if not spec.each:
        return [json.dumps(member, indent=2) for member in members], []
    texts = list[str]()
    notes = list[str]()
    for index, member in enumerate(members):
        text = json_state.fill_template(spec.each, member)
        lacking = [field for field in spec.wanted if not _has_fields(member, [field])]
        if lacking:
            # what it does have may say it under a name nobody thought of
            text = f"{text}\n{json.dumps(member, ensure_ascii=False)}".strip("\n")
            notes.append(f"{spec.state}[{index}]: no {' and no '.join(lacking)} was found in it")
        texts.append(text)
    return texts, notes


def _state_at(data: Mapping[str, Any], path: str) -> Any:
    """The value at a path; of failures, those that a test runner reports."""
    value = json_state.state_at(data, path)
    return failed_tests(value) if path == "failures" else value


def _has_fields(member: Mapping[str, Any], fields: Sequence[str]) -> bool:
    return all(str(member.get(field) or "").strip() for field in fields)


def _list_section(
    tag: str,
    selection: Selection,
    entries: tuple[Entry, ...],
    *,
    joiner: str,
    raw: bytes | None = None,
) -> Section:
    section = part_section(tag, selection, joiner.join(entry.text for entry in entries))
    keeps_first = selection.sections[tag].keep == "first"
    rule = replace(section.rule, joiner=joiner, newest_first=keeps_first)
    return replace(section, rule=rule, entries=entries, raw=raw)
