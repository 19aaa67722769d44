"""What is appended to a call when the state is not what the call log records: changed lines, the
whole state, a new system prompt.

Pure. State stands in user text, whatever the recipe: what a page or a tool may have written never
becomes system text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from foreword.engine.render import Scale, close_tag, open_tag
from foreword.session.session_options import STATE_CHANGES
from foreword.session.state_parts import PartValue, State, StatePart, changes_of
from foreword.store.cuts import EntryKind

# In the first entry of a cut: how a reader tells the current state.
HOW_TO_READ = (
    "Each line holds from here on and replaces what was shown of the same thing before. Nodes are"
    " named by their id."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """One entry to append."""

    kind: EntryKind
    written: str


def logged_state(state: State) -> dict[str, PartValue]:
    """Return the state as the call log records it."""
    return {tag: part.value for tag, part in state.parts.items() if part.value is not None}


def state_entries(
    logged: Mapping[str, PartValue], state: State, scale: Scale, *, is_first: bool
) -> list[NewEntry]:
    """Return the entries that say what differs from the state as the log records it."""
    prompts = list[NewEntry]()
    lines = list[str]()
    whole = dict[str, StatePart]()
    for tag, part in state.parts.items():
        before = logged.get(tag)
        if tag == state.prompt_tag:
            if before is not None and before != part.value:
                prompts.append(NewEntry(kind="system", written=scale.safe(part.text)))
            continue
        changed = None if before is None else changes_of(before, part)
        if changed is None:
            whole[tag] = part
        elif changed:
            lines += [f"{tag}:", *map(state.secrets.hide_known_values, changed)]
    lines += [f"{tag} removed" for tag in logged if tag not in state.parts]
    entries = list[NewEntry]()
    if whole:
        entries.append(NewEntry(kind="state", written=whole_state(whole, scale)))
    if lines:
        words = [HOW_TO_READ, *lines] if is_first else lines
        block = {STATE_CHANGES: "\n".join(words)}
        entries.append(NewEntry(kind="changes", written=_tagged(block, scale)))
    return [*entries, *prompts]  # a system message stands right before the answer


def whole_state(parts: Mapping[str, StatePart], scale: Scale) -> str:
    """Return parts of the state as an entry has them whole."""
    return _tagged({tag: part.text for tag, part in parts.items()}, scale)


def _tagged(texts: Mapping[str, str], scale: Scale) -> str:
    blocks = list[str]()
    for tag, text in texts.items():
        written = scale.safe(text, tag)
        blocks.append(f"{open_tag(tag)}{written}{close_tag(tag, written)}")
    return "".join(blocks).rstrip("\n")


def differs(logged: Mapping[str, PartValue], state: State, tags: Iterable[str]) -> bool:
    """Return whether one of these parts is not as the log records it."""
    return any(_value(state, tag) != logged.get(tag) for tag in tags)


def _value(state: State, tag: str) -> Any:
    return state.parts[tag].value if tag in state.parts else None
