"""What is wrong with a recipe whose shape is right: names that refer to nothing, rules that
contradict each other.

Pure: problems come as a place in the recipe and a message; `load` knows the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import PurePosixPath
from typing import Any

from foreword.errors import UnknownName, did_you_mean
from foreword.pattern import lazy_pattern
from foreword.recipe.document import Place
from foreword.recipe.positions import FORM_POSITIONS, MESSAGES, SOURCES, position_of
from foreword.recipe.schema import PROFILES, Profile, RecipeSpec, SectionSpec, validate
from foreword.recipe.validation_errors import dotted_path, problem_in_words
from foreword.section import DEFAULT_FORMS

TAG = lazy_pattern(r"[a-z][a-z0-9_]*")
BLANK = lazy_pattern(r"\{(\w+)\}")
REQUEST_BLANKS = (
    "task",
    "step",
    "skill",
    "agent",
    "phase",
    "task_reference",
    "task_text",
    "artifacts",
    "checkpoint",
    "progress",
    "persona",
    "diff",
    "phase_personas",
    "phase_prompts",
    "phase_panels",
    "invoked_personas",
    "invoked_prompts",
    "invoked_panels",
)

Problem = tuple[Place, str]
Ranks = tuple[str | tuple[str, ...], ...]


def check(recipe: RecipeSpec, data: Mapping[str, Any]) -> Iterator[Problem]:
    """Everything that makes no sense; `data` is the recipe as it is written."""
    blanks = _known_blanks(recipe)
    for tag, section in recipe.sections.items():
        place = ("sections", tag)
        if not TAG.fullmatch(tag):
            yield place, f"tag {tag!r} must be lower-case letters, digits and underscores"
        yield from _section(place, section, blanks)
        yield from _without_effect(place, section, data["sections"][tag])
        yield from _document(place, section, recipe)
        if position_of(section) == "anchors" and not recipe.tiers:
            yield (*place, "anchors"), f"section {tag!r} has no effect without tiers in the recipe"
        for field in ("stands_in_for", "follows"):
            other = getattr(section, field)
            if other is not None:
                yield from _unknown((*place, field), (other,), recipe.sections, "section")
    if recipe.default_purpose is not None:
        yield from _unknown(
            ("default_purpose",), (recipe.default_purpose,), recipe.purposes, "purpose"
        )
    yield from _order(("gives_way",), recipe.gives_way, recipe)
    yield from _outside(("skill_file",), recipe.skill_file)
    yield from _outside(("within",), recipe.within)
    for kind, patterns in recipe.documents.items():
        yield from _outside(("documents", kind), patterns)
    yield from _unknown(("on_demand",), recipe.on_demand, recipe.documents, "kind of document")
    for name, read in recipe.read.items():
        yield from _outside(("read", name, "file"), read.file)
    yield from _locate(recipe)
    for table in PROFILES.values():
        for name, profile in getattr(recipe, table).items():
            yield from _profile((table, name), profile, recipe, data, blanks)
    if recipe.other_skills is not None:
        yield from _profile(("other_skills",), recipe.other_skills, recipe, data, blanks)
    for name, kind in recipe.kind_names.items():
        yield from _unknown_kinds(("kind_names", name), (kind,), recipe)


def _known_blanks(recipe: RecipeSpec) -> dict[str, None]:
    """Everything that fills a blank, in the order in which it is suggested."""
    names = [*REQUEST_BLANKS, *recipe.locate, *recipe.read]
    if recipe.skill_file:
        names.append("instructions")  # a skill's own file
    for table in PROFILES.values():
        for profile in getattr(recipe, table).values():
            names += profile.values
    return dict.fromkeys(names)


def _section(place: Place, section: SectionSpec, blanks: Mapping[str, None]) -> Iterator[Problem]:
    sources = [name for name in SOURCES if getattr(section, name) is not None]
    # a text beside a key of the source is what is written where the source has none
    if len(sources) != 1 and sources != ["text", "state"]:
        problem = (
            f"has {' and '.join(sources)}" if sources else "says not where its text comes from"
        )
        choices = ", ".join(SOURCES)
        yield place, f"section {str(place[-1])!r} {problem}: give exactly one of {choices}"
    forms = section.forms or ("full",)
    if section.forms is not None and section.forms[:1] != ("full",):
        yield (*place, "forms"), "forms must begin with full"
    for index, form in enumerate(forms):
        if form in forms[:index]:
            yield (*place, "forms", index), f"form {form!r} is in forms twice"
    yield from _paths(place, section)
    for field in ("file", "text", "named", "phase"):
        yield from _blanks((*place, field), getattr(section, field) or "", blanks)


def _document(place: Place, section: SectionSpec, recipe: RecipeSpec) -> Iterator[Problem]:
    if section.document is not None:
        yield from _unknown(
            (*place, "document"), (section.document,), recipe.documents, "kind of document"
        )
        if not section.named:
            yield place, f"section {str(place[-1])!r} says not which document: give named"


def _paths(place: Place, section: SectionSpec) -> Iterator[Problem]:
    yield from _outside((*place, "file"), (section.file or "",), listed=False)
    yield from _outside((*place, "folder"), (section.folder,), listed=False)
    yield from _outside((*place, "files"), section.files or ())
    if re.search(r"[*?]", section.file or ""):
        problem = f"file: {section.file!r} is a glob, and file is the name of one: use files:"
        yield (*place, "file"), problem


def _outside(place: Place, paths: Iterable[str], listed: bool = True) -> Iterator[Problem]:
    for index, path in enumerate(paths):
        if path.startswith(("/", "~")) or ".." in PurePosixPath(path).parts:
            yield (*place, index) if listed else place, f"{path!r} leads out of the root"


def _blanks(place: Place, template: str, known: Mapping[str, None]) -> Iterator[Problem]:
    for name in dict.fromkeys(BLANK.findall(template)):
        if name not in known:
            problem = f"nothing fills {{{name}}}"
            guess = did_you_mean(name, known)
            if guess:
                problem += f", did you mean {{{guess}}}?"
            yield place, problem


def _without_effect(
    place: Place, section: SectionSpec, given: Mapping[str, object]
) -> Iterator[Problem]:
    """The fields and forms among those `given` that have no effect in this section."""
    position = position_of(section)
    if not position:
        return
    declared = {field.name: field.metadata for field in fields(SectionSpec)}
    for name in given:
        effect = declared[name]
        problem = ""
        others = [other for other in effect["excluded_by"] if getattr(section, other)]
        if position not in effect["of"]:
            accepted = [other for other, its in declared.items() if position in its["of"]]
            names = ", ".join([other for other in accepted if other not in SOURCES])
            problem = f"with {position}, which takes {names}"
        elif others:
            problem = f"beside {others[0]}: take one of them away"
        elif effect["needs"] and not getattr(section, effect["needs"]):
            problem = f"without {effect['needs']}: give it, too"
        if problem:
            yield (*place, name), f"{dotted_path((*place, name))!r} has no effect {problem}"
    if "show" in given and (section.show == "conversation") != (position == MESSAGES):
        where = (*place, "show")
        yield where, f"{dotted_path(where)}: conversation is for state: messages, and only that"
    ladder = section.forms or DEFAULT_FORMS
    accepted = [form for form, positions in FORM_POSITIONS.items() if position in positions]
    for index, form in enumerate(ladder if "forms" in given else ()):
        if form not in accepted:
            where = (*place, "forms", index)
            names = ", ".join(accepted)
            problem = f"form {form!r} has no effect with {position}, which takes {names}"
            yield where, f"{dotted_path(where)}: {problem}"
    if "min" in given and ladder[-1] in ("reference", "gone"):
        where = (*place, "min")
        problem = f"has no effect where forms end with {ladder[-1]}: end them with another form"
        yield where, f"{dotted_path(where)!r} {problem}"


def _unknown_kinds(place: Place, used: tuple[str, ...], recipe: RecipeSpec) -> Iterator[Problem]:
    """Kinds of item that no section, tier or `leave_out` has. A section of all kinds has each."""
    known = dict[str, None]()
    for section in recipe.sections.values():
        known |= dict.fromkeys(section.items or ())
    if not known:
        yield place, f"{dotted_path(place)!r} has no effect without a section with items"
    elif "*" not in known:
        for table in PROFILES.values():
            for profile in getattr(recipe, table).values():
                for kinds in (profile.leave_out, *profile.tiers.values()):
                    known |= dict.fromkeys(kinds)
        yield from _unknown(place, used, known, "kind of item")


def _profile(
    place: Place,
    profile: Profile,
    recipe: RecipeSpec,
    data: Mapping[str, Any],
    blanks: Mapping[str, None],
) -> Iterator[Problem]:
    for field in ("sections", "add", "without", "required", "optional"):
        tags = getattr(profile, field) or ()
        yield from _unknown((*place, field), tags, recipe.sections, "section")
    yield from _order((*place, "gives_way"), profile.gives_way or (), recipe)
    yield from _unknown((*place, "change"), tuple(profile.change), recipe.sections, "section")
    if profile.agent is not None:
        yield from _unknown((*place, "agent"), (profile.agent,), recipe.agents, "agent")
    if profile.only_named:
        yield from _unknown_kinds((*place, "only_named"), profile.only_named, recipe)
    for tag, given in profile.change.items():
        written = data["sections"].get(tag, {})
        yield from _change((*place, "change", tag), given, recipe, written, blanks)


def _change(
    place: Place,
    given: Mapping[str, object],
    recipe: RecipeSpec,
    written: Mapping[str, object],
    blanks: Mapping[str, None],
) -> Iterator[Problem]:
    """What a profile's own fields make wrong about a section that was right as it is `written`."""
    from pydantic import ValidationError  # only for recipes that are not built in

    tag = str(place[-1])
    try:
        alone = validate(SectionSpec, given)
    except ValidationError as invalid:
        for error in invalid.errors():
            loc = tuple(error["loc"])
            yield (*place, *loc), problem_in_words(error, ("sections", tag, *loc))
        return
    base = recipe.sections.get(tag)
    if base is None:
        return
    before = {*_section(place, base, blanks), *_without_effect(place, base, written)}
    changed = replace(base, **{name: getattr(alone, name) for name in given})
    merged = {name: value for name, value in {**written, **given}.items() if value is not None}
    after = (*_section(place, changed, blanks), *_without_effect(place, changed, merged))
    yield from [problem for problem in after if problem not in before]


def _order(place: Place, ranks: Ranks, recipe: RecipeSpec) -> Iterator[Problem]:
    """The tags of an order of giving way: each must be known, and there once."""
    yield from _unknown(place, ranks, recipe.sections, "section")
    tags = set[str]()
    for index, entry in enumerate(ranks):
        for tag in (entry,) if isinstance(entry, str) else entry:
            if tag in tags:
                yield (*place, index), f"section {tag!r} is in gives_way twice"
            tags.add(tag)


def _locate(recipe: RecipeSpec) -> Iterator[Problem]:
    needs = dict[str, list[str]]()
    for name, how in recipe.locate.items():
        blanks = BLANK.findall(how.among or "")
        needs[name] = [blank for blank in blanks if blank in recipe.locate]
    reported = set[str]()
    for name, how in recipe.locate.items():
        place = ("locate", name)
        yield from _outside((*place, "among"), (how.among or "",), listed=False)
        if how.named_in is not None:
            yield from _outside((*place, "named_in", "file"), (how.named_in.file,), listed=False)
        circle = _circle(name, needs)
        if circle and name not in reported:
            reported |= set(circle)
            names = " and ".join(repr(other) for other in circle)
            need = "need each other" if len(circle) > 1 else "needs itself"
            yield (*place, "among"), f"{names} {need}"


def _circle(name: str, needs: Mapping[str, list[str]]) -> list[str]:
    """The names on a way from this one back to itself, or nothing."""
    ways = [[name]]
    visited = set[str]()
    while ways:
        way = ways.pop()
        for other in needs[way[-1]]:
            if other == name:
                return way
            if other not in visited:
                visited.add(other)
                ways.append([*way, other])
    return []


def _unknown(
    place: Place, used: Ranks, known: Mapping[str, object], kind: str
) -> Iterator[Problem]:
    for index, entry in enumerate(used):
        if entry == ():
            yield (*place, index), f"{dotted_path((*place, index))}: name at least one {kind}"
        for name in (entry,) if isinstance(entry, str) else entry:
            if name not in known:
                yield (*place, index), UnknownName(kind, name, known).message
