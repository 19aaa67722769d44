"""`foreword autopsy`: what the compactions of this machine's coding agents lost, invented and cost.

What is found is `autopsy`'s business; here it is put into plain words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from foreword.engine.report_table import printable
from foreword.errors import UsageError
from foreword.faces.cli import screen
from foreword.faces.cli.options import json_option
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.autopsy import CompactionFinding, SessionFinding
    from foreword.autopsy.autopsy_findings import Totals
    from foreword.transcripts.places import SessionPlace

MOST_SHOWN = 12  # names of one kind in the text; --json has all of them
MOST_SESSIONS = 10  # with compactions that are gone into in the text, the newest
MOST_TURNS = 2  # of a session: those that brought most
MOST_FILL = 8  # sources of a window


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--open", "opens", is_flag=True, help="Show the compaction that lost most as a page.")
@click.option("--fix", is_flag=True, help="Set this project up for the agents found: `init`.")
@json_option("Everything as JSON on standard output.", short=True)
@click.pass_context
def autopsy(
    context: click.Context, paths: tuple[Path, ...], opens: bool, fix: bool, as_json: bool
) -> None:
    """Say what compactions of coding agents have cost you.

    Reads the sessions that Claude Code, Codex, opencode and Gemini CLI have left on this machine,
    or those in PATHS (files or folders, .gz too), and answers: what the agent needed after a
    compaction and no longer had, what its summary said that nobody had said, what was read again,
    what Foreword would have kept at the same size, what fills the window, and where the prompt
    cache broke. No set-up and no key; nothing leaves this machine, and secrets are hidden.

    \b
    Examples:
      foreword autopsy
      foreword autopsy ~/.claude/projects/-home-ada-tidepool --open
      foreword autopsy session.jsonl.gz --json
    """
    from foreword.autopsy import as_data, total
    from foreword.coding_agents.agents import places_on_machine
    from foreword.transcripts.places import places_in

    places = places_in(paths) if paths else places_on_machine()
    examined = list(_examine_all(places))
    sessions = [finding for _, finding in examined]
    if not sessions:
        raise UsageError(
            "no session of a coding agent here",
            hint="give a folder or a file: foreword autopsy PATH",
        )
    _say_left_out(places, examined)
    if as_json:
        screen.show_json(as_data(sessions))
    else:
        screen.show("\n".join(_report_lines(sessions, total(sessions))))
    if opens:
        _open_page(examined)
    if fix:
        _fix(context, sessions)


def _examine_all(
    places: Sequence[SessionPlace],
) -> Iterator[tuple[SessionPlace, SessionFinding]]:
    """Every session that is one, with what was found in it; a bar shows how far it is."""
    from foreword.autopsy import examine

    total_bytes = sum(place.size for place in places)
    done = 0
    with screen.progress(f"reading {len(places):,} sessions", total_bytes) as advance:
        for place in places:
            with place.open(_from(done, advance)) as session:
                if session is not None:
                    yield place, examine(session, place.name)
            done += place.size
            advance(done)


def _say_left_out(
    places: Sequence[SessionPlace], examined: Sequence[tuple[SessionPlace, SessionFinding]]
) -> None:
    """What was not looked at: files that are no session, and lines that can't be read."""
    found = [place for place, _ in examined]
    others = [place.name for place in places if place not in found]
    if others:
        files = quantity(len(others), "file")
        screen.say(f"left out, no session of an agent: {files} ({_list(others)})")
    for place, finding in examined:
        if finding.skipped:
            lines = quantity(finding.skipped, "line")
            screen.say(f"left out: {lines} of {printable(place.name)} that can't be read")


def _from(done: int, advance: Callable[[int], None]) -> Callable[[int], None]:
    """Turns progress within one file into progress over all files."""
    return lambda position: advance(done + position)


# --- in words -------------------------------------------------------------------------------------


def _report_lines(sessions: Sequence[SessionFinding], totals: Totals) -> Iterator[str]:
    agents = ", ".join(f"{number:,} of {agent}" for agent, number in totals.agents.items())
    sessions_found = quantity(totals.sessions, "session")
    yield f"{sessions_found} ({agents}), {quantity(totals.compactions, 'compaction')}."
    if totals.compactions:
        yield from _compaction_totals(totals)
    with_any = [session for session in sessions if session.compactions]
    for session in with_any[-MOST_SESSIONS:]:
        yield ""
        yield f"{printable(session.agent)} {printable(session.name)} in {printable(session.folder)}"
        for one in session.compactions:
            yield from _compaction_lines(one)
        for turn, tokens in session.largest[:MOST_TURNS]:
            yield f"  {tokens:,} tokens came in {_turn_words(turn)}"
    if len(with_any) > MOST_SESSIONS:
        older = len(with_any) - MOST_SESSIONS
        yield f"... and {quantity(older, 'older session')} with compactions: --json has all"
    yield ""
    yield from _window_lines(totals)
    yield from _cache_lines(totals)


def _turn_words(turn: str) -> str:
    from foreword.autopsy.autopsy_findings import BEGINNING

    return turn if turn == BEGINNING else f'after the user said "{printable(turn)}"'


def _compaction_totals(totals: Totals) -> Iterator[str]:
    if totals.needed:
        yield (
            f"Of {quantity(totals.needed, 'name')} that the agents used again afterwards, their"
            f" summaries had {_share(totals.kept, totals.needed)}. At the same size Foreword would"
            f" have had {_share(totals.foreword_kept, totals.needed)}."
        )
    else:
        yield "Nothing from before a compaction was used again."
    yield (
        f"The summaries said {quantity(totals.invented, 'thing')} that nobody had said, of"
        f" {totals.claims:,} that can be looked up."
    )
    if totals.reread_files:
        yield (
            f"{quantity(totals.reread_files, 'file')} had to be read again, for"
            f" {totals.reread_tokens:,} tokens."
        )


def _compaction_lines(one: CompactionFinding) -> Iterator[str]:
    trigger = f"{one.trigger}, " if one.trigger else ""
    yield (
        f"  compaction {one.number} ({trigger}{one.tokens_before:,} tokens became a summary of"
        f" {one.summary_tokens:,}): {_loss_words(one)}"
    )
    restored = sum(loss.restored for loss in one.losses)
    if one.losses:
        yield f"    Foreword would have had {restored} of the {len(one.losses)} lost"
    for kind in ("path", "command", "name", "number"):
        texts = [loss.text for loss in one.losses if loss.kind == kind]
        if texts:
            yield f"    lost {kind}s: {_list(texts)}"
    if one.invented:
        yield f"    nobody had said: {_list(one.invented, '; ')}"
    for again in one.reread:
        times = "once" if again.times == 1 else f"{again.times} times"
        yield f"    read again {times}: {printable(again.path)}, {again.tokens:,} tokens"


def _loss_words(one: CompactionFinding) -> str:
    if not one.needed:
        return "nothing from before it was used again"
    return f"{one.lost} of {quantity(one.needed, 'name')} used again afterwards were lost"


def _window_lines(totals: Totals) -> Iterator[str]:
    whole = sum(tokens for _, tokens in totals.fill)
    if whole:
        yield f"What filled the windows ({whole:,} tokens of conversation, by characters / 4):"
        for source, tokens in totals.fill[:MOST_FILL]:
            yield f"  {tokens / whole:>4.0%}  {tokens:>9,}  {printable(source)}"


def _cache_lines(totals: Totals) -> Iterator[str]:
    if not totals.prompt_tokens:
        return
    cached = totals.cached_tokens / totals.prompt_tokens
    read = f"Of {totals.prompt_tokens:,} tokens that the calls read, {cached:.0%}"
    if not totals.cache_breaks:
        yield f"{read} came from the prompt cache."
        return
    yield (
        f"{read} came from the prompt cache. It broke {quantity(totals.cache_breaks, 'time')}, for"
        f" {totals.broken_tokens:,} tokens that were read anew{_cost_words(totals)}:"
    )
    for reason, tokens in totals.breaks_by_reason.items():
        yield f"  {tokens:>9,}  {reason}"


def _cost_words(totals: Totals) -> str:
    cost = totals.broken_cost
    return "" if cost is None else f", ${cost:,.2f} more than from the cache"


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.0%})"


def _list(texts: Sequence[str], separator: str = ", ") -> str:
    shown = separator.join(printable(" ".join(text.split())) for text in texts[:MOST_SHOWN])
    more = len(texts) - MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


# --- a page, and setting up -----------------------------------------------------------------------


def _open_page(examined: Sequence[tuple[SessionPlace, SessionFinding]]) -> None:
    """The compaction that lost most, as a page in a file that only the user can read."""
    import webbrowser

    from foreword.autopsy.examine import aftermaths
    from foreword.autopsy.page import page, write_page

    most_lost = -1
    for place, finding in examined:
        for one in finding.compactions:
            if one.lost > most_lost:
                most_lost = one.lost
                chosen = (place, finding, one.number)
    if most_lost < 0:
        screen.say("no compaction to show")
        return
    place, finding, number = chosen
    with place.open() as session:
        for aftermath in aftermaths(session) if session is not None else ():
            if aftermath.number == number:
                path = write_page(page(aftermath, finding))
                screen.say(f"the page is {path}")
                webbrowser.open(path.as_uri())


def _fix(context: click.Context, sessions: Sequence[SessionFinding]) -> None:
    """`init` for the agents whose sessions were found."""
    from foreword.faces.cli.init import KINDS, init

    agents = [agent for agent in KINDS if any(one.agent == agent for one in sessions)]
    context.invoke(init, root=".", agents=tuple(agents), yes=False, dry_run=False)
