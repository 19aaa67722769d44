"""How a session is opened: its recipe, its counter, its budget.

Everything here is worked out before a store is opened, but for the counter, which may be the one
that the conversation was counted by before. What was said then is kept with the session: whoever
opens it later without saying anything else, a page or `session usage`, speaks of the same next call
as the agent that works in it. The limits themselves are `limits`' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from foreword import tokens
from foreword.engine.package import CONVERSATION
from foreword.engine.render import scale_of_tags
from foreword.errors import UnknownName, UsageError
from foreword.recipe.budget import choose_counter, whole_number
from foreword.recipe.load import load
from foreword.recipe.selection import Selection, select
from foreword.section import Budget, Section
from foreword.session.limits import Limits, limits_for
from foreword.session.message_writer import MessageWriter
from foreword.sources.project_root import project_root
from foreword.store.session_stamps import SessionStamps
from foreword.tokens import Counter

# What a budget begins with that nobody gave: the step that says where it is from.
COMPRESSED_AT = "compressed at"
# Where no recipe was ever named: of a session without a plan, a variable, a node or a tab, and of
# one that has had any of them.
PLAIN_RECIPE = "chat"
STATE_RECIPE = "workflow-cached"

STATE_CHANGES = "state_changes"  # the boundary tag of what changed since the state was whole

Setting = int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What a session was opened with and is kept with it: each as it was given, shares as shares;
    None for what was not."""

    recipe: str | None = None
    model: str | None = None
    budget: Setting = None
    window: Setting = None
    warn_at: Setting = None
    compress_at: Setting = None
    compress_to: Setting = None
    tool_tokens: int | None = None  # of the tools that the last call went with

    def with_stored_settings(self, kept: Mapping[str, Any]) -> SessionSettings:
        """These, and for what was not given what was kept."""
        known = {name: kept[name] for name in self.__slots__ if name in kept}
        return SessionSettings(**{**known, **self.to_dict()})

    def to_dict(self) -> dict[str, Any]:
        """What was given."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session was opened with, checked before a store is touched."""

    settings: SessionSettings
    root: Path
    selection: Selection
    plain: Selection | None  # until there is a state, where no recipe was named
    history: str  # the tag of the section that is the conversation
    limits: Limits
    budget: Budget
    counter: Counter | None  # where one was asked for, or a model
    compress_with: Any
    compress_timeout_seconds: float
    auto_compress: bool
    tools: tuple[object, ...] = ()  # that go with every call, as they were given

    def with_settings(self, settings: SessionSettings) -> SessionOptions:
        """These options with other settings, and all that follows from them."""
        if settings == self.settings:
            return self
        rules = _rules_of(settings, self.root)
        return replace(self, settings=settings, **rules)

    def selection_for(self, now: SessionStamps, browser: object) -> Selection:
        """The recipe of a call. Where none was named, the first plan, variable, node or tab makes
        it one with a state, for good: tabs are in no table, but the last call had them."""
        if self.plain is None or now.has_state or browser is not None:
            return self.selection
        had_none = now.last_recipe in ("", self.plain.recipe.name)
        return self.plain if had_none else self.selection


def session_options(
    settings: SessionSettings,
    *,
    root: str | Path,
    model: str | None,
    counter: str | Counter | None,
    compress_with: Any,
    compress_timeout_seconds: float,
    auto_compress: bool,
    tools: Iterable[object],
) -> SessionOptions:
    """Everything that can be worked out before the store is opened."""
    folder = project_root(root)
    counting = choose_counter(counter, model) if counter or model else None
    return SessionOptions(
        settings=settings,
        root=folder,
        **_rules_of(settings, folder),
        counter=counting,
        compress_with=compress_with,
        compress_timeout_seconds=compress_timeout_seconds,
        auto_compress=auto_compress,
        tools=tuple(tools),
    )


class _Rules(TypedDict):
    """What follows from the settings of a session."""

    selection: Selection
    plain: Selection | None
    history: str
    limits: Limits
    budget: Budget


def _rules_of(settings: SessionSettings, root: Path) -> _Rules:
    selection = select(load(settings.recipe or STATE_RECIPE, root), {})
    plain = None if settings.recipe else select(load(PLAIN_RECIPE, root), {})
    limits = limits_for(
        settings.window,
        budget=settings.budget,
        warn_at=settings.warn_at,
        compress_at=settings.compress_at,
        compress_to=settings.compress_to,
    )
    return _Rules(
        selection=selection,
        plain=plain,
        history=_history_tag(selection),
        limits=limits,
        budget=budget_for(limits, whole_number(settings.budget, "budget")),
    )


def budget_for(limits: Limits, tokens: int | None) -> Budget:
    """The budget that was asked for, else the size at which the history is compressed."""
    origin = ("given", tokens) if tokens else (COMPRESSED_AT, limits.compress_at)
    tokens = tokens or limits.compress_at
    steps = (("window", limits.window), origin, ("budget", tokens))
    return Budget(tokens, limits.window, steps)


def counter_for(options: SessionOptions, used_before: str | None) -> Counter:
    """The counter that was asked for, else the one the conversation was counted by before, else
    the default."""
    if options.counter is not None:
        return options.counter
    try:
        found = tokens.counter_by_key(used_before or tokens.DEFAULT_COUNTER)
    except (UnknownName, ValueError):  # one of the caller's own
        return tokens.counter()
    return found


def message_writer(options: SessionOptions, counter: Counter) -> MessageWriter:
    """A writer that has written nothing yet, and measures by that counter."""
    tag = options.history
    selection = options.selection
    section = Section(
        tag=tag,
        text="",
        rule=selection.rule(tag),
        rank=selection.rank(tag),
        title="",
        source="conversation",
        kind=CONVERSATION,
        known_as="history",
    )
    tags = (*selection.sections, STATE_CHANGES)
    return MessageWriter(scale=scale_of_tags(tags, counter), section=section)


def _history_tag(selection: Selection) -> str:
    *others, last = selection.sections.items()
    if last[1].state == "messages":
        return last[0]
    name = selection.recipe.name
    if any(spec.state == "messages" for _, spec in others):
        raise UsageError(
            f"recipe {name!r} reads {last[0]} after the conversation, and would change what calls"
            " begin with at every turn",
            hint="move the conversation to the end of the recipe",
        )
    raise UsageError(
        f"recipe {name!r} has no conversation: a section with `state: messages`",
        hint="use chat, workflow or workflow-cached",
    )
