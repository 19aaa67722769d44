"""The conversation of the demo: what it promises on the screen has happened in the store."""

from __future__ import annotations

from pathlib import Path

from foreword.demos import invoice_conversation
from foreword.faces.cli import demo
from foreword.session.session import Session


def test_it_passes_the_warning_and_is_compressed_on_the_way(tmp_path: Path) -> None:
    lines = list(demo.play_session(tmp_path))

    assert sum("past 160,000" in line for line in lines) == 1
    assert sum("the history was compressed" in line for line in lines) == 1
    with Session.open(
        None, invoice_conversation.WORKFLOW, root=tmp_path, create=False, recipe=demo.RECIPE
    ) as session:
        usage = session.usage()
        assert f"{usage['messages']:,} messages" in lines[-1]
        assert usage["compressions"] == 1
        assert session.get_current_plan() is not None
        assert session.get_workflow_variables()["mail"]["password"] not in session.context().text


def test_it_is_the_same_conversation_every_time() -> None:
    assert list(invoice_conversation.conversation(40)) == list(
        invoice_conversation.conversation(40)
    )
