"""The words and the scenes of `foreword demo`: which recipes it shows on which sample, at which
budgets, and what it says about each. How they are drawn is in `demo_recipes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from foreword.context.assemble import assemble
from foreword.demos.samples import FACTORY, KILNBOOK
from foreword.engine.package import Package

WHAT = """\
Foreword puts together what a model reads before it writes: the right pieces of a project, in a \
fixed order, inside a hard budget of tokens, with a bill for every token and a way back to \
everything that was cut.

"""
INTRO = {
    KILNBOOK: (
        """\
The sample is Kilnbook, a web app in which the members of a pottery studio reserve shelves in a \
kiln. Its folder holds a plan in Markdown, a git log, notes on the work so far, and a \
conversation. Three recipes turn that into a context, each of them once with room to spare and \
once with too little."""
    ),
    FACTORY: (
        """\
The sample is Tidepool, a small service that tells harbours when the tide turns. Agents work on \
it: base instructions, personas, a review panel and a workflow in five phases. What an agent reads \
depends on where it is: tier 0 is in every call, tier 1 lasts for a session, tier 2 for a phase, \
and all else is looked up."""
    ),
}

OUTRO = """\
A recipe is a page of YAML, and your own works just like these three: docs/recipes.md writes one \
in ten minutes. To try next, in a project of yours:"""

# A command, what it does, and the extra that it needs.
LASTING_COMMANDS = (
    ('foreword session append talk --text "Where were we?"', "a talk that is kept", ""),
    ("foreword serve", "the page and the API", "serve"),
)
NEXT_COMMANDS = (
    ("foreword count README.md", "what a file costs", ""),
    (
        "foreword assemble package --purpose design --source docs --budget 2000",
        "your notes, fitted",
        "",
    ),
    ("foreword recipe show director", "a recipe to start from", ""),
    ("foreword director demo", "a browser at work", "browser"),
    *LASTING_COMMANDS,
)

SAMPLE_STAYS = "The sample is laid out in {folder} and stays there. To try next:"

SAMPLE_COMMANDS = {
    KILNBOOK: (
        ("foreword assemble director --agent builder --budget 3000", "the first scene", ""),
        (
            "foreword why director --agent builder --budget 3000 --about recent_changes",
            "why it was cut",
            "",
        ),
        ("foreword report list", "earlier contexts", ""),
        *LASTING_COMMANDS,
    ),
    FACTORY: (
        ("foreword assemble factory --phase 3a", "what the agent of phase 3a reads", ""),
        (
            "foreword panel run code-review --diff change.diff --model test",
            "five reviewers",
            "flows",
        ),
        (
            'foreword flow run feature --task "quiet hours" --model test',
            "a workflow",
            "flows",
        ),
        LASTING_COMMANDS[-1],
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One recipe as the demo shows it: what to ask it for, and at which two budgets."""

    recipe: str
    about: str
    roomy_tokens: int
    tight_tokens: int
    agent: str | None = None
    purpose: str | None = None
    phase: str | None = None
    source: str | None = None
    sample: str = KILNBOOK

    @property
    def title(self) -> str:
        """The recipe with what it is asked for."""
        options = {
            "agent": self.agent,
            "purpose": self.purpose,
            "phase": self.phase,
            "source": self.source,
        }
        request = [f"{option} {value}" for option, value in options.items() if value]
        return f"{self.recipe} ({', '.join(request)})"

    def assemble(self, root: Path, budget_tokens: int) -> Package:
        """The package at a budget."""
        return assemble(
            self.recipe,
            root=root,
            agent=self.agent,
            purpose=self.purpose,
            phase=self.phase,
            source=self.source,
            budget=budget_tokens,
        )


SCENES = (
    Scene(
        recipe="director",
        about=(
            "A fresh context for one agent with one task. It reads the plan in .director/: the "
            "vision, the current step, its decisions, the pending task, what changed lately, and "
            "the parts of the code's description that this kind of task needs. Vision, decisions "
            "and task are never cut; old commits and reference documents go first."
        ),
        roomy_tokens=8_000,
        tight_tokens=3_000,
        agent="builder",
    ),
    Scene(
        recipe="package",
        about=(
            "Notes that were collected on the way, packed for a purpose; here for a colleague "
            "who takes over tomorrow. The purpose decides what is essential: position, pending "
            "work, decisions, interfaces and blockers stay whole, learnings and commands follow "
            "as far as there is room, and dead ends are not handed over at all."
        ),
        roomy_tokens=4_000,
        tight_tokens=1_900,
        purpose="handoff",
        source="items.json",
    ),
    Scene(
        recipe="phases",
        about=(
            "A long conversation about a feature, now in its implementation phase. Prompt, "
            "design document, types and the unit at hand always come along; units that are done "
            "and old messages make room. The first message stays, and a tool call is never "
            "parted from its result."
        ),
        roomy_tokens=8_000,
        tight_tokens=1_800,
        phase="implementation",
        source="phases.json",
    ),
    Scene(
        recipe="factory",
        about=(
            "The agent that writes the change: the instructions of every call, what its language "
            "and its kind of task ask for, the personas of the project, the plan, and one phase "
            "of the workflow. Not the other phases, not the policies, schemas and docs: these "
            "cost nothing until they are looked up."
        ),
        roomy_tokens=5_400,
        tight_tokens=800,
        phase="3a",
        sample=FACTORY,
    ),
    Scene(
        recipe="factory",
        about=(
            "The agent that plans the tests at the same time: the same base, its own phase and "
            "its own persona."
        ),
        roomy_tokens=5_400,
        tight_tokens=800,
        phase="3b",
        agent="test-engineer",
        sample=FACTORY,
    ),
)
