"""Sections out of what the user brings: items of many kinds, or the state of a piece of work as
JSON.

Which kinds and keys make which section is the recipe's; reading the source is done
(`sources.items`, `sources.json_state`). What can't be made is a reason, in words for the report.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from foreword.errors import did_you_mean
from foreword.plan.fresh_parts import part_text
from foreword.recipe.schema import EndRule, SectionSpec
from foreword.recipe.selection import Selection
from foreword.section import Entry, Section
from foreword.sources import json_state
from foreword.sources.items import Item
from foreword.text import markdown

REST = "*"
CONVERSATION = "messages"


def add_carried_items(items: list[Item], carried: Sequence[Item]) -> list[Item]:
    """The items of this session, then those carried over that it does not bring itself."""
    here = {(item.kind, item.title) for item in items} | {(item.kind, item.text) for item in items}
    return items + [
        item for item in carried if not {(item.kind, item.title), (item.kind, item.text)} & here
    ]


def reason_it_ended(item: Item, rules: EndRule) -> str:
    """Why an item no longer counts, or nothing."""
    if item.kind in rules.kinds and item.status.lower() in rules.statuses:
        return f"it is {item.status.lower()}"
    return ""


def unknown_kinds(items: Sequence[Item], selection: Selection) -> list[str]:
    """A warning for each kind the purpose does not know."""
    known = {*selection.kind_tiers, *selection.leave_out}
    unknown = Counter(item.kind for item in items if item.kind not in known)
    guesses = {kind: did_you_mean(kind, known) for kind in unknown}
    return [
        f"unknown kind {kind!r} ({times} {'item' if times == 1 else 'items'}), taken as tier 3"
        + (f"; did you mean {guesses[kind]!r}?" if guesses[kind] else "")
        for kind, times in unknown.items()
    ]


def item_sections(tag: str, selection: Selection, items: Sequence[Item]) -> list[Section]:
    """One section for each item of the tag's kinds, the newest first."""
    kinds = selection.sections[tag].items or ()
    named = {kind for spec in selection.sections.values() for kind in spec.items or ()}
    mine = [
        item for item in items if item.kind in kinds or (REST in kinds and item.kind not in named)
    ]
    mine.sort(key=lambda item: item.created, reverse=True)
    mine.sort(key=lambda item: kinds.index(item.kind) if item.kind in kinds else len(kinds))
    return [_item(tag, selection, item, place) for place, item in enumerate(mine)]


def _item(tag: str, selection: Selection, item: Item, place: int) -> Section:
    """Tier by kind; within a tier the kinds in the purpose's order, of each kind the newest
    first."""
    tier = selection.kind_tiers.get(item.kind, 3)
    order = list(selection.kind_tiers).index(item.kind) if item.kind in selection.kind_tiers else 99
    over = reason_it_ended(item, selection.recipe.ended)
    excluded, tier = selection.leave_out.get(item.kind, "") or over, 3 if over else tier
    rule = replace(
        selection.rule(tag), tier=tier, essential=tier == 1 and not excluded, excluded=excluded
    )
    rank = selection.rank(tag) + 0.99 - order / 100 - min(place, 9_999) / 1e6
    # the text says it itself
    title = "" if markdown.first_title(item.text) == item.title else item.title
    before = json_state.fill_template(
        selection.sections[tag].before, {"title": title, "kind": item.kind}
    )
    return Section(
        tag=tag,
        text=item.text,
        rule=rule,
        rank=rank,
        title=item.title or item.kind,
        source=item.source,
        kind=item.kind,
        before=before,
    )


def state_sections(
    tag: str, selection: Selection, data: Mapping[str, Any], where: str
) -> tuple[list[Section] | str, list[str]]:
    """The sections a key of the state makes, or why there are none; and notes."""
    spec = selection.sections[tag]
    value = json_state.value_at(data, spec.state or "")
    if spec.state == CONVERSATION and (value or not spec.show):
        return _conversation(tag, selection, value, where) if value else ("not in the source", [])
    if spec.show:
        return [part_section(tag, selection, part_text(spec.show, value))], []
    if isinstance(value, dict) and not spec.each:
        value = value.get(selection.names.get("phase", ""))  # a text for each phase
    if value in (None, [], {}) or (isinstance(value, str) and not value.strip()):
        return "not in the source", []
    if isinstance(value, str) and not spec.each:
        rule, rank = selection.rule(tag), selection.rank(tag)
        return [
            Section(
                tag=tag,
                text=value,
                rule=rule,
                rank=rank,
                title="",
                source=spec.state or "",
                kind="",
                before=spec.before,
                after=spec.after,
            )
        ], []
    texts = _members(spec, value, data, where)
    return (
        [_listed(tag, selection, tuple(map(Entry, texts)), "\n\n")] if texts else _none_of(spec)
    ), []


def part_section(tag: str, selection: Selection, text: str) -> Section:
    """A fresh part of a call; it is always there, if only to say that there is nothing."""
    spec = selection.sections[tag]
    return Section(
        tag=tag,
        text=text,
        rule=selection.rule(tag),
        rank=selection.rank(tag),
        title="",
        source=spec.state or "",
        kind="",
        before=spec.before,
        after=spec.after,
    )


def _conversation(
    tag: str, selection: Selection, value: object, where: str
) -> tuple[list[Section] | str, list[str]]:
    entries, prompts, notes = json_state.conversation(value, where)
    if not entries:
        return "no message in it", notes
    raw = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    sections = [_listed(tag, selection, entries, "\n", raw)]
    if prompts:
        rule = replace(
            selection.rule(tag), excluded="old system prompts are not part of the conversation"
        )
        sections.append(
            Section(
                tag=tag,
                text=prompts,
                rule=rule,
                rank=0.0,
                title="old system prompts",
                source=CONVERSATION,
            )
        )
    return sections, notes


def _none_of(spec: SectionSpec) -> str:
    """Why no member of a list was taken."""
    fields = [f"{field} {' or '.join(values)}" for field, values in spec.where.items()]
    fields += [f"a {field}" for field in spec.having]
    named = f", named in {spec.named_in}" if spec.named_in else ""
    return f"no member with {' and '.join(fields)}{named}" if fields else f"no member{named}"


def _members(spec: SectionSpec, value: object, data: Mapping[str, Any], where: str) -> list[str]:
    path = spec.state or ""
    found = json_state.matching_members(
        json_state.members([value] if isinstance(value, dict) else value, where, path), spec.where
    )
    found = [
        member
        for member in found
        if all(str(member.get(field) or "").strip() for field in spec.having)
    ]
    if spec.named_in:
        others = json_state.value_at(data, spec.named_in) or []
        found = json_state.named_in(
            found, json_state.members(others, where, spec.named_in), where, spec.named_in
        )
    found = found[-spec.last :] if spec.last else found
    return [
        json_state.fill_template(spec.each, member) if spec.each else json.dumps(member, indent=2)
        for member in found
    ]


def _listed(
    tag: str,
    selection: Selection,
    entries: tuple[Entry, ...],
    joiner: str,
    raw: bytes | None = None,
) -> Section:
    spec, rule = selection.sections[tag], replace(selection.rule(tag), joiner=joiner)
    text = joiner.join(entry.text for entry in entries)
    return Section(
        tag=tag,
        text=text,
        rule=rule,
        rank=selection.rank(tag),
        title="",
        source=spec.state or "",
        kind="",
        before=spec.before,
        after=spec.after,
        entries=entries,
        raw=raw,
    )
