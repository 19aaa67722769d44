"""`foreword demo`: recipes on a built-in sample, each at a roomy and at a tight budget, side by
side.

Needs no key, no network and no project of one's own: the sample is copied into a temporary folder
that is gone afterwards, or into one that stays. Assembling and recalling go through `runtime`, as
they do for everyone; here they are only shown.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import indent, wrap

from foreword.context.assemble import assemble, recall
from foreword.engine.package import Package
from foreword.engine.report import Omission, Report, Row
from foreword.engine.table import bar, cut_to, printable, shorten_name
from foreword.sources.process import environment

SAMPLES = Path(__file__).parents[2] / "demos"
KILNBOOK, FACTORY = "kilnbook", "factory"
WIDTH, NARROWEST = 98, 40
NAME, FORM, TOKENS, BAR = 21, 14, 7, 12
MOST_OMISSIONS = 6
FIRST_COMMIT = 1_775_202_000  # 3 April 2026; one commit every other day from then on
COMMIT_SECONDS = 172_800
GIT_SECONDS = 20

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

LASTING = (
    ('foreword session append talk --text "Where were we?"', "a talk that is kept"),
    ("foreword serve", "the page and the API"),
)
NEXT = (
    ("foreword count README.md", "what a file costs"),
    (
        "foreword assemble package --purpose design --source docs --budget 2000",
        "your notes, fitted",
    ),
    ("foreword recipe show director", "a recipe to start from"),
    ("foreword director demo", "a browser at work"),
    *LASTING,
)


KEPT = "The sample is laid out in {folder} and stays there. To try next:"

THERE = {
    KILNBOOK: (
        ("foreword assemble director --agent builder --budget 3000", "the first scene"),
        (
            "foreword why director --agent builder --budget 3000 --about recent_changes",
            "why it was cut",
        ),
        ("foreword report list", "earlier contexts"),
        *LASTING,
    ),
    FACTORY: (
        ("foreword assemble factory --phase 3a", "what the agent of phase 3a reads"),
        (
            "foreword panel run code-review --diff change.diff --model test",
            "five personas look at a change",
        ),
        (
            'foreword flow run feature --task "quiet hours" --model test',
            "a workflow, phase by phase",
        ),
        LASTING[-1],
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
        asked = {
            "agent": self.agent,
            "purpose": self.purpose,
            "phase": self.phase,
            "source": self.source,
        }
        return (
            f"{self.recipe} ({', '.join(f'{kind} {name}' for kind, name in asked.items() if name)})"
        )

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
        about="A fresh context for one agent with one task. It reads the plan in .director/: the vision,"
        " the current step, its decisions, the pending task, what changed lately, and the parts of"
        " the code's description that this kind of task needs. Vision, decisions and task are never"
        " cut; old commits and reference documents go first.",
        roomy_tokens=8_000,
        tight_tokens=3_000,
        agent="builder",
    ),
    Scene(
        recipe="package",
        about="Notes that were collected on the way, packed for a purpose; here for a colleague who takes"
        " over tomorrow. The purpose decides what is essential: position, pending work, decisions,"
        " interfaces and blockers stay whole, learnings and commands follow as far as there is"
        " room, and dead ends are not handed over at all.",
        roomy_tokens=4_000,
        tight_tokens=1_900,
        purpose="handoff",
        source="items.json",
    ),
    Scene(
        recipe="phases",
        about="A long conversation about a feature, now in its implementation phase. Prompt, design"
        " document, types and the unit at hand always come along; units that are done and old"
        " messages make room. The first message stays, and a tool call is never parted from its"
        " result.",
        roomy_tokens=8_000,
        tight_tokens=2_400,
        phase="implementation",
        source="phases.json",
    ),
    Scene(
        recipe="factory",
        about="The agent that writes the change: the instructions of every call, what its language and"
        " its kind of task ask for, the personas of the project, the plan, and one phase of the"
        " workflow. Not the other phases, not the policies, schemas and docs: these cost nothing"
        " until they are looked up.",
        roomy_tokens=5_400,
        tight_tokens=800,
        phase="3a",
        sample=FACTORY,
    ),
    Scene(
        recipe="factory",
        about="The agent that plans the tests at the same time: the same base, its own phase and its own"
        " persona.",
        roomy_tokens=5_400,
        tight_tokens=800,
        phase="3b",
        agent="test-engineer",
        sample=FACTORY,
    ),
)


def run(
    echo: Callable[[str], None],
    width: int = WIDTH,
    keep: Path | None = None,
    sample: str = KILNBOOK,
    then: Callable[[Path], None] | None = None,
    last: Callable[[Path], None] | None = None,
) -> None:
    """Show all scenes on a fresh copy of a sample, line by line; the copy stays where it is to be
    kept.

    Where it does not, `then` goes on with it, and `last` after everything was said.
    """
    width = max(NARROWEST, min(width, WIDTH))
    if keep is not None:
        _show(echo, sample, lay_out(keep, sample), width)
        echo("\n" + prose(KEPT.format(folder=printable(str(keep))), width) + "\n")
        return _list(echo, [(f"cd {shlex.quote(printable(str(keep)))}", ""), *THERE[sample]], width)
    with TemporaryDirectory(prefix="foreword-demo-") as folder:
        root = lay_out(Path(folder) / sample, sample)
        _show(echo, sample, root, width)
        if then:
            then(root)
        echo("\n" + prose(OUTRO, width) + "\n")
        _list(echo, NEXT, width)
        if last:
            last(root)
    return None


def _show(echo: Callable[[str], None], sample: str, root: Path, width: int) -> None:
    echo(prose(WHAT + INTRO[sample], width))
    for number, scene in enumerate((scene for scene in SCENES if scene.sample == sample), 1):
        for part in _shown(scene, root, number, width):
            echo(f"\n{part}")


def _list(echo: Callable[[str], None], commands: Sequence[tuple[str, str]], width: int) -> None:
    """Commands to copy, whole, each with what it does where there is room for it."""
    longest = max(len(command) for command, _ in commands)
    for command, what in commands:
        line = f"  {command:<{longest}}  {what}".rstrip()
        echo(line if len(line) <= width else f"  {command}")


# --- the sample -----------------------------------------------------------------------------------


def lay_out(root: Path, sample: str = KILNBOOK) -> Path:
    """Copy a sample to a new or empty folder and give it its history, where there is a git to
    give it."""
    shutil.copytree(SAMPLES / sample, root, dirs_exist_ok=True)
    if (root / "commits.txt").exists() and shutil.which("git"):
        subjects = (root / "commits.txt").read_text("utf-8").splitlines()
        _git(root, "-c", "init.defaultBranch=main", "init", "--quiet", "--template=")
        _git(root, "fast-import", "--quiet", "--force", given=history(subjects))
    return root


def history(subjects: Sequence[str]) -> bytes:
    """Commits with these subjects, oldest first, as `git fast-import` reads them; the same bytes
    every time."""
    return b"".join(_commit(subject, number) for number, subject in enumerate(subjects))


def _commit(subject: str, number: int) -> bytes:
    who = f"Renske <renske@example.org> {FIRST_COMMIT + number * COMMIT_SECONDS} +0000"
    message = subject.encode()
    head = f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata {len(message)}\n"
    return head.encode() + message + b"\n"


def _git(root: Path, *arguments: str, given: bytes = b"") -> None:
    """Run git here; without a history the demo still has something to show, so failing is not
    fatal."""
    alone = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CEILING_DIRECTORIES": str(root.parent),
    }
    subprocess.run(
        ["git", *arguments],
        cwd=root,
        env=environment() | alone,
        input=given,
        capture_output=True,
        timeout=GIT_SECONDS,
        check=False,
    )


# --- one scene ------------------------------------------------------------------------------------


def _shown(scene: Scene, root: Path, number: int, width: int) -> Iterator[str]:
    roomy, tight = (
        scene.assemble(root, tokens) for tokens in (scene.roomy_tokens, scene.tight_tokens)
    )
    for_room, by_rule = left_out(tight.report)
    yield cut_to(f" {number}. {scene.title} ".center(width, "─"), width)
    yield prose(scene.about, width)
    yield tables(roomy.report, tight.report, width)
    if for_room:
        yield omissions(for_room, by_rule, width)
        yield recall_example(
            max(for_room, key=lambda omission: omission.tokens), root, tight, width
        )
    seen = glimpse(tight.text, width)
    yield "What the model reads, around the first cut:\n\n" + indent(
        seen.rstrip("\n"), "  │ ", lambda _: True
    )


def tables(roomy: Report, tight: Report, width: int = WIDTH) -> str:
    """Two reports section by section: side by side where there is room for it, else one after
    the other."""
    left, right = by_tag(roomy), by_tag(tight)
    most = max(line.tokens for line in (*left.values(), *right.values()))
    if width >= WIDTH:
        return _side_by_side((roomy, left), (tight, right), most)
    room = max(0, min(BAR, width - NAME - FORM - TOKENS - 4))
    return "\n\n".join(
        _alone(title, report, lines, most, room)
        for title, report, lines in (("roomy", roomy, left), ("tight", tight, right))
    )


def _alone(title: str, report: Report, lines: dict[str, TagTotal], most: int, room: int) -> str:
    """One report as a table of its own."""
    name = NAME if room else NARROWEST - FORM - TOKENS - 2
    drawn = [_title(title, report), f"{'section':<{name}}  {_head()}"]
    drawn += [
        f"{shorten_name(tag, name):<{name}}  {_cell(line, most, room)}"
        for tag, line in lines.items()
    ]
    drawn.append("─" * (name + 2 + FORM + TOKENS + (2 + room if room else 0)))
    drawn.append(f"{'total':<{name}}  {'':<{FORM}}{report.total_tokens:>{TOKENS},}")
    return "\n".join(line.rstrip() for line in drawn)


def _side_by_side(
    roomy: tuple[Report, dict[str, TagTotal]], tight: tuple[Report, dict[str, TagTotal]], most: int
) -> str:
    (one, left), (other, right) = roomy, tight
    half = FORM + TOKENS + 2 + BAR
    head = f"{'':<{NAME}}  {_title('roomy', one):<{half}}  │ {_title('tight', other)}"
    lines = [head, f"{'section':<{NAME}}  {_head():<{half}}  │ {_head()}"]
    for tag in dict.fromkeys((*left, *right)):
        cells = (_cell(lines_of.get(tag), most) for lines_of in (left, right))
        lines.append(f"{shorten_name(tag, NAME):<{NAME}}  " + "  │ ".join(cells))
    totals = (f"{'':<{FORM}}{report.total_tokens:>{TOKENS},}" for report in (one, other))
    lines.append("─" * NAME + "──" + "─" * (half + 2) + "┼" + "─" * (half + 1))
    lines.append(f"{'total':<{NAME}}  " + "  │ ".join(f"{total:<{half}}" for total in totals))
    return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True, slots=True)
class TagTotal:
    """All sections of one tag together."""

    form: str
    tokens: int


def by_tag(report: Report) -> dict[str, TagTotal]:
    """The sections of a report by tag, in reading order, without those that are excluded
    whatever the room."""
    excluded = {(c.section.tag, c.section.title) for c in report.choices if c.section.rule.excluded}
    rows = [row for row in report.sections if (row.tag, row.title) not in excluded]
    return {tag: _line(list(group)) for tag, group in groupby(rows, key=lambda row: row.tag)}


def _line(rows: Sequence[Row]) -> TagTotal:
    forms = {row.form for row in rows}
    whole = sum(row.form == "full" for row in rows)
    form = forms.pop() if len(forms) == 1 else f"{whole} of {len(rows)} full"
    return TagTotal(form, sum(row.tokens for row in rows))


def _cell(line: TagTotal | None, most: int, room: int = BAR) -> str:
    line = line or TagTotal("", 0)
    tokens = f"{line.tokens:,}" if line.form else ""
    return f"{line.form:<{FORM}}{tokens:>{TOKENS}}  {bar(line.tokens / most, room)}"


def _title(name: str, report: Report) -> str:
    return f"{name}: budget {report.budget_tokens:,} tokens"


def _head() -> str:
    return f"{'form':<{FORM}}{'tokens':>{TOKENS}}"


# --- what is missing, and how it comes back -------------------------------------------------------


def left_out(report: Report) -> tuple[list[Omission], list[Omission]]:
    """What was left out for want of room, and what the recipe leaves out whatever the room."""
    rules = {choice.section.rule.excluded for choice in report.choices} - {""}
    for_room = [omission for omission in report.omissions if omission.reason not in rules]
    return for_room, [omission for omission in report.omissions if omission.reason in rules]


def omissions(for_room: Sequence[Omission], by_rule: Sequence[Omission], width: int = WIDTH) -> str:
    """What the tight budget cost, the largest first."""
    largest = sorted(for_room, key=lambda omission: -omission.tokens)
    lines = [
        prose(
            "Left out at the tight budget (tokens, the handle that brings it back, what it is):",
            width,
        ),
        "",
    ]
    lines += [
        f"{o.tokens:>7,}  {o.handle}  {shorten_name(o.what, min(60, width - 28))}"
        for o in largest[:MOST_OMISSIONS]
    ]
    if rest := largest[MOST_OMISSIONS:]:
        lines.append(f"{_sum(rest):>7,}  … and {len(rest)} more")
    if by_rule:
        example = max(by_rule, key=lambda omission: omission.tokens)
        never = f"in {len(by_rule)} items the recipe never lets in; for one, {example.reason}"
        lines.append(cut_to(f"{_sum(by_rule):>7,}  {printable(never)}", width))
    return "\n".join(lines)


def _sum(some: Iterable[Omission]) -> int:
    return sum(omission.tokens for omission in some)


def recall_example(omission: Omission, root: Path, package: Package, width: int = WIDTH) -> str:
    """One omission brought back from the store, and whether it is the original."""
    original = recall(omission.handle, root)
    same = original.encode("utf-8", "surrogateescape") == package.originals[omission.handle]
    first = [line for line in original.splitlines() if line.strip()][:3]
    more = len(original.splitlines()) - len(first)
    lines = [
        f"$ foreword recall {omission.handle}",
        *(cut_to(f"  {printable(line)}", width) for line in first),
    ]
    verdict = "byte for byte the original" if same else "NOT the original"
    return "\n".join([*lines, f"  ({more} more lines; {verdict})"])


def glimpse(text: str, width: int = WIDTH, before: int = 5, after: int = 4) -> str:
    """A few lines of a context around the first mark for something left out, or its opening."""
    lines = text.splitlines()
    cut = next((number for number, line in enumerate(lines) if "foreword recall" in line), before)
    start = max(0, cut - before)
    return "\n".join(cut_to(printable(line), width - 4) for line in lines[start : cut + after + 1])


def prose(text: str, width: int) -> str:
    return "\n\n".join("\n".join(wrap(paragraph, width)) for paragraph in text.split("\n\n"))
