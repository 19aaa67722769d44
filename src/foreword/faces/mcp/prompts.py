"""Prompts: a context package for each purpose, and the context of each phase, from the caller's own
material.

Purposes and phases are those of the recipes `package` and `phases`, so a project that extends them
has its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foreword.errors import UnknownName, UsageError
from foreword.faces.mcp.server_state import ServerState
from foreword.faces.mcp.tools import perform
from foreword.operations.context_operations import ASSEMBLE_CONTEXT
from foreword.recipe import load as recipes
from foreword.recipe.budget import whole_number

ARGUMENTS = {
    "source": "Your material: a JSON file or a folder of Markdown in the project.",
    "budget": "The most tokens it may have.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt: what it is assembled by."""

    name: str
    about: str
    recipe: str
    options: Mapping[str, str]  # of `assemble`


def all_prompts(server_state: ServerState) -> dict[str, Prompt]:
    """Every prompt by its name: a purpose has its own, a phase stands behind `phase-`."""
    purposes = recipes.load("package", server_state.root).purposes
    phases = recipes.load("phases", server_state.root).phases
    found = dict[str, Prompt]()
    for purpose in purposes:
        found[purpose] = Prompt(
            name=purpose,
            about=f"A context package for {purpose}.",
            recipe="package",
            options={"purpose": purpose},
        )
    for phase in phases:
        name = f"phase-{phase}"
        found[name] = Prompt(
            name=name,
            about=f"The context of phase {phase}.",
            recipe="phases",
            options={"phase": phase},
        )
    return found


def text_of(server_state: ServerState, name: str, arguments: Mapping[str, str]) -> tuple[str, str]:
    """What a prompt is about, and its text."""
    known = all_prompts(server_state)
    if name not in known:
        raise UnknownName("prompt", name[:80], known)
    for argument in arguments:
        if argument not in ARGUMENTS:
            raise UnknownName("argument", argument[:80], ARGUMENTS)
    if "source" not in arguments:
        raise UsageError("argument 'source' is missing", hint=ARGUMENTS["source"])
    prompt = known[name]
    given: dict[str, Any] = {"recipe": prompt.recipe, **prompt.options, **arguments}
    given["budget"] = whole_number(arguments.get("budget"), "budget")
    answer = perform(server_state, ASSEMBLE_CONTEXT, given)
    return prompt.about, str(answer["text"])
