"""`foreword session usage`: sizes with bars, then the calls, the newest first. Plain text, drawn
from what `Session.usage` counts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from shlex import quote
from typing import Any

import click

from foreword.engine.report_table import bar, cut_to, printable
from foreword.faces.cli import screen
from foreword.faces.cli.command_input import existing_session
from foreword.faces.cli.options import json_option, last_option, store_options
from foreword.text.quantity import quantity

BAR = 24  # columns
CALL_BAR = 12  # columns
LABEL = 13  # columns of the longest label, `compressed at`


@click.command()
@click.argument("name")
@last_option(20, "How many calls, the newest first.")
@json_option()
@store_options
def usage(name: str, last: int, as_json: bool, db: str | None, root: str) -> None:
    """Say how large a session is and what its calls cost.

    Its size against the limits, how much of each call a prompt cache could take from the one
    before, how much of the budget was used, and what broke the common beginning.

    \b
    Examples:
      foreword session usage demo
      foreword session usage demo --last 100 --format json
    """
    with existing_session(db, root, name) as session:
        used = session.usage(last)
    if as_json:
        screen.show_json(used)
    else:
        click.echo(_page(used, screen.columns(sys.stdout)))


def _page(used: Mapping[str, Any], width: int) -> str:
    """The text of the command, each line cut to the width."""
    parts = [_heading(used), _size(used), _averages(used), _cost(used), _answers(used)]
    parts += [_order(used), _calls(used)]
    page = "\n\n".join(part for part in parts if part)
    return "\n".join(cut_to(printable(line), width) for line in page.splitlines())


def _heading(used: Mapping[str, Any]) -> str:
    parts = [
        used["workflow"],
        quantity(used["messages"], "message"),
        f"{used['history_tokens']:,} tokens of history",
    ]
    if used["compressions"]:
        parts.append(f"compressed {_times(used['compressions'])}")
    return " · ".join(parts)


def _size(used: Mapping[str, Any]) -> str:
    size = used["size_tokens"]
    warn = used["warn_at"]
    limit = used["compress_at"]
    share = size / limit
    warn_mark = "─" * round(BAR * min(1.0, warn / limit))
    limit_mark = "─" * BAR
    reached = "reached" if used["warning"] else "not reached"
    compress_to = used["compress_to"]
    lines = [
        f"{'size now':<{LABEL}} {size:>9,}  {bar(share, BAR)}  {share:.1%} of {limit:,}",
        f"{'warning at':<{LABEL}} {warn:>9,}  {warn_mark:<{BAR}}  {reached}",
        f"{'compressed at':<{LABEL}} {limit:>9,}  {limit_mark}  to about {compress_to:,}",
    ]
    return "\n".join(lines)


def _averages(used: Mapping[str, Any]) -> str:
    from foreword.session.call_log import FIRST

    if not used["calls"]:
        return f"no calls yet: `foreword session context {quote(used['workflow'])}` makes one"
    lines = [
        _average("prefix reuse", used["reuse"], "on average, the first call aside"),
        _average("budget used", used["used"], "on average"),
        f"{'breaks':<{LABEL}} {used['breaks']:>9,}  in {quantity(used['calls'], 'call')}",
    ]
    reasons = Counter[str]()
    for call in used["log"]:
        if call["prefix_break"] not in ("", FIRST):
            reasons[call["prefix_break"]] += 1
    for reason, count in reasons.most_common():
        lines.append(f"{'':<{LABEL}} {count:>9,}  {reason}")
    return "\n".join(lines)


def _cost(used: Mapping[str, Any]) -> str:
    """What the calls cost to send; `unknown` where there is no price."""
    if not used["calls"]:
        return ""
    cost = used["cost"]
    if cost is None:
        return f"{'cost':<{LABEL}} {'unknown':>9}  no price: name a model that has one (--model)"
    breaks = cost["breaks"]
    return _entry(
        "cost",
        f"{cost['input']:.4f}",
        f"{cost['currency']} to send the text of these calls",
        f"by the price of {cost['model']} in {cost['date']};",
        f"{cost['input_without_cache']:.4f} without a prompt cache",
        f"{breaks:.4f} of it for what breaks had to be sent anew" if breaks else "",
        "answers and thinking are not in it",
    )


def _answers(used: Mapping[str, Any]) -> str:
    """What the answers cost that said so, as their providers counted."""
    answers = used["answers"]
    if answers is None:
        return ""
    cost = answers["cost"]
    models = ", ".join(answers["models"])
    currency = f"{cost['currency']} for" if cost else "the cost of"
    unpriced = answers["unpriced"] if cost else 0
    return _entry(
        "answers",
        f"{cost['total']:.4f}" if cost else "unknown",
        f"{currency} {quantity(answers['count'], 'answer')}, as providers counted",
        f"by the price of {models};" if cost else f"no price is known of {models};",
        f"{answers['input_tokens']:,} tokens in, {answers['cached_tokens']:,} of them from a cache",
        f"and {answers['written_tokens']:,} written to one; {answers['output_tokens']:,} out",
        f"{quantity(unpriced, 'answer')} without a price not in the cost" if unpriced else "",
    )


def _order(used: Mapping[str, Any]) -> str:
    """What the order of the recipe costs, and how to have another."""
    order = used["state_in_front"]
    if order is None:
        return ""
    return _entry(
        "order",
        f"{order['tokens']:,}",
        f"tokens of history read anew in {quantity(order['calls'], 'call')},",
        "since the state in front of it changed",
        f"({_above_cache(order)});",
        "this appends what changed:",
        f"foreword session context {quote(used['workflow'])} --recipe {order['instead']}",
    )


def _entry(name: str, figure: str, *lines: str) -> str:
    """A figure with what it means, in lines that a terminal of 80 columns has room for."""
    heads = [f"{name:<{LABEL}} {figure:>9}", *[" " * (LABEL + 10)] * (len(lines) - 1)]
    said = zip(heads, lines, strict=True)
    return "\n".join(f"{head}  {line}" for head, line in said if line)


def _above_cache(order: Mapping[str, Any]) -> str:
    """What reading anew cost above the price of a cache."""
    cost = order["cost"]
    return f"{cost:.4f} more than from a cache" if cost is not None else "cost unknown"


def order_words(order: Mapping[str, Any]) -> str:
    """What the tokens are that were read anew, and what they cost above a cache's price."""
    calls = quantity(order["calls"], "call")
    why = "the state in front of it changed"
    return f"tokens of history read anew in {calls}: {why} ({_above_cache(order)})"


def _average(name: str, share: float | None, what: str) -> str:
    if share is None:
        return f"{name:<{LABEL}} {'-':>9}  there was nothing to reuse yet"
    return f"{name:<{LABEL}} {share:>9.1%}  {bar(share, BAR)}  {what}"


def _calls(used: Mapping[str, Any]) -> str:
    if not used["log"]:
        return ""
    head = (
        f"{'report':>6}  {'when (UTC)':<19}  {'tokens':>9} {'of budget':>9}  {'':<{CALL_BAR}} "
        f" {'reused':>6}  broken by"
    )
    return "\n".join([head, *map(_call_line, used["log"])])


def _call_line(call: Mapping[str, Any]) -> str:
    from foreword.session.call_log import FIRST

    when = call["created"][:19]
    reused = "-" if call["prefix_break"] == FIRST else f"{call['reuse']:.1%}"
    size = f"{call['total_tokens']:>9,} {call['used']:>9.1%}  {bar(call['used'], CALL_BAR)}"
    return f"{call['report']:>6}  {when}  {size}  {reused:>6}  {call['prefix_break'] or '-'}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
