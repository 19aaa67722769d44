"""`foreword panel`: personas that look at one change, each on its own, and one result.

Asking them is `work.panel_runs`' business, the verdict `review.verdict`'s; here it is written as
text or as Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from foreword.errors import ForewordError, UsageError
from foreword.faces.cli import command_input, screen
from foreword.faces.cli.groups import Commands
from foreword.faces.cli.options import (
    DOCUMENT_RECIPE,
    ONLY_JSON,
    ROOT,
    form_option,
    json_option,
    judging_options,
    missing_model,
    read_facts,
    store_options,
    timeout_option,
)
from foreword.origin import origin_of_agent
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.review.change_facts import MemberResult
    from foreword.review.findings import Finding
    from foreword.review.panel_result import PanelResult

_VERDICTS = {
    "approve": "approve",
    "changes_requested": "changes requested",
    "human_review": "human review",
    "inconclusive": "inconclusive",
}


@click.group(cls=Commands)
def panel() -> None:
    """Have a panel of personas look at a change.

    \b
    Examples:
      foreword panel list
      foreword panel run code-review --diff HEAD~1 --model anthropic:claude-sonnet-5-5
    """


@panel.command()
@click.argument("name")
@click.option(
    "--diff",
    metavar="REV|FILE|-",
    required=True,
    help="The change: a revision (what was committed since), a range, a diff file, or - for stdin.",
)
@click.option(
    "--model",
    metavar="NAME",
    default="",
    help="Who answers for the members, as in openai:gpt-5; `test` needs no key.",
)
@click.option(
    "--moderator",
    metavar="NAME",
    default="",
    help="A model that is asked which findings are the same; else a rule decides.",
)
@click.option(
    "--task",
    metavar="TEXT|FILE",
    default="",
    help="What the change is for; else what the active plan says.",
)
@judging_options
@DOCUMENT_RECIPE
@timeout_option(120.0, "How long each member has to answer.")
@form_option("text", "json", "markdown")
@click.option(
    "--check",
    is_flag=True,
    help="Exit 1 unless the verdict is approve; if nobody answers, it is 1 anyway.",
)
@store_options
def run(
    name: str,
    diff: str,
    model: str,
    moderator: str,
    task: str,
    facts: tuple[str, ...],
    default_rules: bool,
    recipe: str,
    timeout_seconds: float,
    form: str,
    check: bool,
    db: str | None,
    root: str,
) -> None:
    """Run a panel on a change and print its one result.

    Every member is asked on its own and at the same time, with the project's base instructions, its
    own persona, the task and the change. Who fails, is late or gives no answer that fits the form
    is named, and the others stand. What several have found is told once, with everyone who said it;
    the rules of the project's profile decide. A condition that can't be evaluated escalates to a
    human.

    \b
    Examples:
      foreword panel run code-review --diff HEAD~1 --model anthropic:claude-sonnet-5-5
      git diff | foreword panel run code-review --diff - --model openai:gpt-5 --check
      foreword panel run code-review --diff change.diff --model test --fact ci_checks_passed=true
    """
    from foreword.faces.cli.run_board import RunBoard
    from foreword.sources.diff_source import read_change
    from foreword.sources.project_root import project_root
    from foreword.work import factory_project, panel_runs

    if not model:
        raise missing_model("a panel needs a model to answer for its members")
    folder = project_root(root)
    # a name that is mistyped is an error before anything is said
    factory_project.read_panel(folder, name, recipe)
    change = read_change(diff, folder, command_input.read_stdin)
    lines = quantity(change.change.lines, "changed line")
    files = quantity(len(change.change.files), "file")
    screen.say(f"{name}: {lines} in {files}")
    asking = panel_runs.PanelRequest(
        model,
        timeout_seconds=timeout_seconds,
        moderator=moderator,
        task=task and command_input.read_text_or_file(task),
        default_rules=default_rules,
        recipe=recipe,
        facts=read_facts(facts),
    )
    result = panel_runs.run(folder, name, change, asking, db=db, watch=RunBoard())
    _show(result, form)
    nobody_answered = len(result.without_answer) == len(result.members)
    if nobody_answered or (check and result.verdict != "approve"):
        raise click.exceptions.Exit(1)


@panel.command("list")
@json_option()
@DOCUMENT_RECIPE
@ROOT
def list_panels(as_json: bool, recipe: str, root: str) -> None:
    """List the panels of a project and who sits on them.

    \b
    Example:
      foreword panel list --root .
    """
    from foreword.work import factory_project

    names = factory_project.panel_names(root, recipe)
    if not names:
        raise UsageError(
            f"there is no panel in {root}",
            hint="put one into personas/round_tables/ or prompts/reviews/",
        )
    rows = list[dict[str, object]]()
    lines = list[str]()
    width = max(map(len, names))
    for name in names:
        try:
            found = factory_project.read_panel(root, name, recipe)
        except ForewordError as problem:
            rows.append({"name": name, "problem": problem.message})
            lines.append(f"{name:<{width}}  can't be run: {problem.message}")
            continue
        members = [member.name for member in found.members]
        rows.append({"name": name, "members": members, "missing": list(found.missing)})
        missing = f"; missing: {', '.join(found.missing)}" if found.missing else ""
        lines.append(f"{name:<{width}}  {', '.join(members)}{missing}")
    if as_json:
        screen.show_json(rows)
        return
    screen.show_lines(lines)


@panel.command()
@ONLY_JSON
def schema() -> None:
    """Print the JSON Schema of a panel's result.

    \b
    Example:
      foreword panel schema > panel-result.schema.json
    """
    from foreword.review import panel_result

    screen.show_json(panel_result.schema())


def _show(result: PanelResult, form: str) -> None:
    if form == "json":
        screen.show_json(result.to_dict())
        return
    screen.show_lines(as_text(result) if form == "text" else as_markdown(result))
    for note in result.notes:
        screen.warn(note)


def as_text(result: PanelResult) -> Iterator[str]:
    """The verdict, the findings by severity, and who did not answer."""
    yield f"{_VERDICTS[result.verdict]}: {result.title}"
    for reason in result.reasons:
        yield f"  {reason}"
    for severity, findings in groupby(result.findings, key=lambda finding: finding.severity):
        yield ""
        for finding in findings:
            yield f"{_place(finding)}  {severity}  {finding.title} ({_speakers(finding)})"
            for line in finding.reason.splitlines():
                yield f"    {line}"
    if result.without_answer:
        yield ""
        yield "did not answer:"
    for member in result.without_answer:
        yield f"  {_failure_line(member)}"


def as_markdown(result: PanelResult) -> Iterator[str]:
    """The verdict, the findings and who did not answer, for a comment on a pull request."""
    yield f"# {result.title}: {_VERDICTS[result.verdict]}"
    yield ""
    for reason in result.reasons:
        yield f"- {_escape(reason)}"
    for severity, findings in groupby(result.findings, key=lambda finding: finding.severity):
        yield ""
        yield f"## {severity.capitalize()}"
        yield ""
        for finding in findings:
            yield from _finding_as_markdown(finding)
    if result.without_answer:
        yield ""
        yield "## Did not answer"
        yield ""
    for member in result.without_answer:
        yield f"- {_escape(_failure_line(member))}"


def _finding_as_markdown(finding: Finding) -> Iterator[str]:
    place = _place(finding).replace("`", "")
    yield f"- `{place}` **{_escape(finding.title)}** ({_speakers(finding)})"
    for line in finding.reason.splitlines():
        yield f"  {_escape(line)}"


def _speakers(finding: Finding) -> str:
    return ", ".join(str(origin_of_agent(name)) for name in finding.said_by)


def _place(finding: Finding) -> str:
    if not finding.file:
        return "(the change)"
    return f"{finding.file}:{finding.line}" if finding.line else finding.file


def _failure_line(member: MemberResult) -> str:
    """Who did not answer, and why."""
    reason = f", {member.why}" if member.why else ""
    return f"{member.name}: {member.status}{reason}"


def _escape(text: str) -> str:
    """Text of a model's as Markdown shows it: no tags, no pictures, nobody mentioned."""
    return text.replace("<", "&lt;").replace("![", "!\u200b[").replace("@", "@\u200b")
