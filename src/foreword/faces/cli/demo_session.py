"""The second half of `foreword demo`: a conversation grows past its limits before your eyes, and
then the page on it.

Everything goes through `Session` and the server, as it does for everyone; the store is in a
temporary folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from foreword.demos import invoice_conversation
from foreword.faces.cli.screen import progress
from foreword.session.session import Session

TURNS = 320
RECIPE = "workflow-cached"

INTRO = """\
Now a conversation that lasts. An agent builds a workflow that copies invoices from a mailbox into \
a table; {turns} of its turns are played into a session, one after the other. Every call has six \
parts (system prompt, plan, workflow, variables, browser, history), always fresh, always inside \
the budget."""

DONE = """\
{messages:,} messages in the store, {size:,} tokens in the next call. {reuse:.0%} of each call \
could come from a prompt cache. The password that was set on the way is in none of them."""


def play(root: Path, turns: int = TURNS) -> Iterator[str]:
    """Play the conversation into a session of the root's store; yields what there is to say, as
    it happens."""
    yield INTRO.format(turns=turns)
    with Session.open(None, invoice_conversation.WORKFLOW, root=root, recipe=RECIPE) as session:
        with progress("playing", turns) as done:
            for turn, step in enumerate(invoice_conversation.conversation(turns), 1):
                yield from (f"Turn {turn}: {said}." for said in _turn(session, step))
                done(turn)
        usage = session.usage()
    yield DONE.format(
        messages=usage["messages"], size=usage["size_tokens"], reuse=usage["reuse"] or 0.0
    )


def _turn(session: Session, step: invoice_conversation.Step) -> list[str]:
    """One turn, and what Foreword has to say about it."""
    warnings = [
        warning for message in step.messages for warning in session.append(message).warnings
    ]
    if step.plan is not None:
        session.update_plan(*step.plan)
    for name, value in step.variables.items():
        session.set_variable(name, value, "found on the way")
    if step.node is not None:
        session.put_node(step.node)
    session.context()
    return warnings
