"""What a page is told about the next call, and that it is what the call is then."""

from __future__ import annotations

from pathlib import Path

import foreword
from tests.sessions import numbered_message

NEARLY = 3  # tokens: the tags around what is cut and what is not are not counted apart


def open_small(tmp_path: Path, messages: int = 60) -> foreword.Session:
    """A session of a small window, past the size at which it is compressed."""
    session = foreword.Session.open(root=tmp_path, window=8_000)
    session.append({"role": "system", "content": "You are Director."})
    session.extend([numbered_message(number, 60) for number in range(messages)])
    return session


def test_the_next_call_is_told_as_it_is_after_the_compression_that_is_due(tmp_path: Path) -> None:
    with open_small(tmp_path) as session:
        told = session.overview()
        assert told.due is not None
        assert session.state().is_compression_due
        package = session.context()
        assert abs(told.next_tokens - package.report.total_tokens) <= NEARLY
        assert told.next_tokens < told.usage["compress_to"] * 1.3
        assert set(told.next_parts) == {row.tag for row in package.report.sections}
        assert abs(sum(told.next_parts.values()) - told.next_tokens) <= NEARLY
        again = session.overview()
        assert again.due is None
        assert again.next_tokens == session.context().report.total_tokens


def test_a_compression_has_the_same_two_figures_wherever_it_is_told(tmp_path: Path) -> None:
    with open_small(tmp_path) as session:
        due = session.due_compression()
        assert due is not None
        session.context()
        session.extend([numbered_message(number, 60) for number in range(40)])
        done = session.compress(to=700)
        assert done.applied
        first, second = session.compressions()
    assert (first.tokens_before, first.tokens_after) == (due.tokens_before, due.tokens_after)
    assert (second.tokens_before, second.tokens_after) == (done.tokens_before, done.tokens_after)


def test_nothing_is_due_after_a_compression_was_taken_back(tmp_path: Path) -> None:
    with open_small(tmp_path) as session:
        session.context()
        session.undo()
        told = session.overview()
        assert told.usage["warning"]
        assert told.due is None
        assert told.next_tokens == session.context().report.total_tokens


def test_of_a_history_far_past_the_limit_the_next_call_is_estimated(tmp_path: Path) -> None:
    with open_small(tmp_path, messages=300) as session:
        told = session.overview()
        assert told.due is not None
        assert told.due.summary == ""
        real = session.context().report.total_tokens
        assert 0.7 * real < told.next_tokens < 1.4 * real
