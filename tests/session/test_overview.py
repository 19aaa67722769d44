"""What a page is told about the next call, and that it is what the call is then."""

from __future__ import annotations

from pathlib import Path

import foreword
from tests.sessions import numbered_message


def open_small(tmp_path: Path, messages: int = 60) -> foreword.Session:
    """A session of a small window, past the size at which it is compressed."""
    session = foreword.Session.open(root=tmp_path, window=8_000)
    session.append({"role": "system", "content": "You are Director."})
    session.extend([numbered_message(number, 60) for number in range(messages)])
    return session


def test_the_next_call_is_told_as_it_is_after_the_compression_that_is_due(tmp_path: Path) -> None:
    with open_small(tmp_path) as session:
        told = session.overview()
        assert told.is_compression_due
        assert session.state().is_compression_due
        package = session.context()
        assert 0.9 * told.next_tokens < package.report.total_tokens <= told.next_tokens
        assert told.next_tokens == told.usage["compress_to"]
        assert set(told.next_parts) == {row.tag for row in package.report.sections}
        assert sum(told.next_parts.values()) == told.next_tokens
        again = session.overview()
        assert not again.is_compression_due
        assert again.next_tokens == session.context().report.total_tokens


def test_nothing_is_due_after_a_compression_was_taken_back(tmp_path: Path) -> None:
    with open_small(tmp_path) as session:
        session.context()
        session.undo()
        told = session.overview()
        assert told.usage["warning"]
        assert not told.is_compression_due
        assert told.next_tokens == session.context().report.total_tokens
