"""What records a call and what is a preview: a budget other than the session's own changes nothing,
nor does one in which pinned messages have no room."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import foreword
from foreword.errors import EssentialsTooLarge, UsageError
from foreword.store.database import Database
from tests.sessions import Open, numbered_message

Ask = Callable[[foreword.Session], object]
# all but the addresses of stretches of messages: a handle in a preview can be recalled, too
TABLES = ("reports", "originals", "compressions", "cuts", "conversations", "messages")


def rows(db: Database) -> dict[str, list[tuple[object, ...]]]:
    """All that the store keeps of conversations and calls."""
    return {table: db.rows(f"SELECT * FROM {table}") for table in TABLES}


@pytest.fixture
def session(open_session: Open) -> foreword.Session:
    """A session of 60 long messages, two of them pinned, and one call."""
    made = open_session()
    made.extend(numbered_message(n, 100) for n in range(60))
    made.pin(5)
    made.pin(9)
    made.context()
    return made


@pytest.mark.parametrize(
    "ask",
    [
        lambda session: session.context(budget=2_000),
        lambda session: session.context(budget=2_000, save=False),
        lambda session: session.context(budget="150000"),
        lambda session: session.context(save=False, tools=[{"name": "read"}]),
        lambda session: session.why(budget=2_000),
        lambda session: session.overview(),
    ],
)
def test_a_preview_changes_nothing(session: foreword.Session, ask: Ask) -> None:
    before = rows(session.db)
    ask(session)
    assert rows(session.db) == before


def test_another_budget_is_a_preview_that_fits_it_and_says_so(
    session: foreword.Session, open_session: Open
) -> None:
    package = session.context(budget=2_000)
    assert 1_700 < package.report.total_tokens <= 2_000
    (note, *_) = package.report.warnings
    assert note.startswith("a preview: 2,000 tokens are not the session's own budget of 180,000")
    assert note.endswith("`--keep` or `keep=True` makes them its own")
    assert session.usage()["calls"] == 1
    assert open_session().limits == session.limits


def test_the_sessions_own_budget_is_a_call(session: foreword.Session) -> None:
    assert session.context(budget=180_000).report.warnings == ()
    assert session.usage()["calls"] == 2


def test_a_budget_that_is_kept_is_the_sessions_own_from_then_on(
    session: foreword.Session, open_session: Open
) -> None:
    made = session.context(budget=3_000, keep=True)
    assert made.report.budget_tokens == 3_000
    assert len(session.compressions()) == 1
    for one in (session, open_session()):
        package = one.context()
        assert package.report.budget_tokens == 3_000
        assert one.limits.compress_at == 3_000
        assert "a preview" in one.context(budget=180_000).report.warnings[0]
    assert session.usage()["calls"] == 4


@pytest.mark.parametrize("more", [{}, {"budget": 3_000, "save": False}])
def test_to_keep_nothing_is_an_error(session: foreword.Session, more: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="`keep` goes with a budget"):
        session.context(keep=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ask",
    [
        lambda open_session: open_session(budget=300),
        lambda open_session: open_session().context(budget=300),
        lambda open_session: open_session().context(budget=300, keep=True),
    ],
    ids=["opened", "asked for", "kept"],
)
def test_a_budget_smaller_than_the_pins_is_one_sentence_and_changes_nothing(
    session: foreword.Session, open_session: Open, ask: Callable[[Open], object]
) -> None:
    before = rows(session.db)
    with pytest.raises(EssentialsTooLarge) as error:
        ask(open_session)
    assert error.value.message.startswith("essential sections need ")
    assert "the budget is 300" in error.value.message
    assert "pinned messages stay in every call: " in error.value.message
    assert "\n" not in error.value.message
    assert rows(session.db) == before
    assert session.context().report.budget_tokens == 180_000


def test_a_call_that_can_not_be_made_compresses_nothing(open_session: Open) -> None:
    session = open_session(budget=2_000)
    for number in range(40):
        session.append(numbered_message(number, 20))
    for message in session.db.rows("SELECT seq FROM messages ORDER BY seq"):
        session.pin(message[0])
    before = rows(session.db)
    with pytest.raises(EssentialsTooLarge):
        session.context()
    assert rows(session.db) == before
