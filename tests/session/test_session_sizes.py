"""A session uses the size it is given: compressed to it, opened with it, or asked for it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import foreword
from foreword.errors import BadBudget
from foreword.messages.message import Message
from foreword.messages.parts import Text
from tests.session.test_session_promises import EXAMPLES
from tests.session.validity import problems
from tests.sessions import Open, call, results, words

SIZES = st.integers(400, 6_000)
# a conversation by its seed can't be made smaller step by step
ANY = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def sentence(chance: random.Random) -> str:
    verbs = ["reads", "calls", "breaks", "needs", "replaces"]
    name = f"{chance.choice(verbs)}{chance.choice('ABCDEF')}{chance.randrange(900)}"
    return (
        f"{chance.choice(['We decided that', 'The test shows that', 'It seems'])} {name}"
        f" {chance.choice(verbs)} src/{chance.choice('abcdef')}/{name}.py in line"
        f" {chance.randrange(999)}."
    )


def conversation(seed: int, most_lines: int) -> list[dict[str, Any]]:
    """A conversation of any mixture: long and short, calls with results of many lines."""
    chance = random.Random(seed)
    said: list[dict[str, Any]] = []
    for number in range(chance.randrange(10, 40)):
        lines = [sentence(chance) for _ in range(chance.randrange(1, most_lines))]
        if chance.random() < 0.4:
            said += [call(f"c{number}"), results(**{f"c{number}": "\n".join(lines)})]
        else:
            role = chance.choice(["user", "assistant"])
            said.append({"role": role, "content": "\n".join(lines)})
    return said


@ANY
@given(st.integers(0, 10_000), st.sampled_from([4, 30, 200]), SIZES, st.booleans())
def test_compressed_to_a_size_the_next_call_uses_it_and_does_not_exceed_it(
    tmp_path_factory: pytest.TempPathFactory, seed: int, most_lines: int, size: int, cached: bool
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('sizes')}/state.db"
    recipe = "workflow-cached" if cached else "workflow"
    with foreword.Session.open(url, recipe=recipe, auto_compress=False) as session:
        session.extend(conversation(seed, most_lines))
        before = session.size_tokens()
        made = session.compress(to=size)
        package = session.context(budget=size)
        again = session.context(budget=size)
    assert package.text == again.text
    assert problems(package) == []
    assert package.report.total_tokens <= size
    if before > size and made.applied:
        assert made.reached
        assert made.summary in package.text
        assert package.report.total_tokens >= 0.94 * size


@ANY
@given(st.integers(0, 10_000), st.integers(200, 400), st.booleans())
def test_a_small_budget_shortens_a_history_and_is_never_refused(
    tmp_path_factory: pytest.TempPathFactory, seed: int, budget: int, compressed: bool
) -> None:
    url = f"sqlite:///{tmp_path_factory.mktemp('small')}/state.db"
    with foreword.Session.open(url, auto_compress=False) as session:
        session.extend(conversation(seed, 30))
        if compressed:
            session.compress(to=2_000)
        package = session.context(budget=budget)
    assert package.report.total_tokens <= budget
    assert problems(package) == []


def test_a_session_opened_with_a_budget_is_compressed_by_that_budget(open_session: Open) -> None:
    session = open_session(budget=8_000)
    assert (session.limits.warn_at, session.limits.compress_at) == (7_111, 8_000)
    assert session.limits.compress_to == 5_120
    session.append({"role": "user", "content": "Never touch the table `invoices_2019`."})
    for message in conversation(3, 60):
        session.append(message)
    assert session.compressions()
    package = session.context()
    assert package.report.total_tokens <= 8_000
    assert "invoices_2019" in package.text
    assert not [left for left in package.report.omissions if "earlier" in left.what]


def test_what_cannot_be_compressed_further_is_said(open_session: Open) -> None:
    session = open_session(budget=1_000)
    session.append({"role": "user", "content": "word " * 3_000})
    added = session.append({"role": "user", "content": "next"})
    assert any("can't be compressed any further" in warning for warning in added.warnings)


def test_what_a_session_was_opened_with_holds_for_whoever_opens_it_later(
    open_session: Open,
) -> None:
    with open_session(
        recipe="workflow-cached", budget=8_000, window=50_000, warn_at=6_000
    ) as first:
        for message in conversation(5, 30):
            first.append(message)
        sent = first.context()
        usage = first.usage()
    with open_session() as later:
        seen = later.overview()
        assert seen.package is not None
        assert seen.package.text == sent.text
        assert seen.package.report.budget_tokens == 8_000
        assert later.limits.window == 50_000
        assert later.usage()["warn_at"] == usage["warn_at"] == 6_000


def test_an_overview_shows_the_next_call_under_the_budget_that_was_kept(open_session: Open) -> None:
    session = open_session(auto_compress=False)
    session.extend(conversation(7, 60))
    sent = session.context(budget=3_000, keep=True)
    seen = open_session().overview().package
    assert seen is not None
    assert seen.text == sent.text


def test_a_preview_keeps_none_of_what_a_session_was_opened_with(open_session: Open) -> None:
    session = open_session()
    session.append({"role": "user", "content": "hello"})
    open_session(budget=700).context(save=False)
    assert open_session().limits.compress_at == session.limits.compress_at
    with pytest.raises(BadBudget):
        open_session(budget="many")


def test_a_first_message_that_is_a_summary_is_folded_in(open_session: Open) -> None:
    session = open_session(auto_compress=False)
    earlier = "## Decisions\n- We decided to keep `ledger_v7` because v8 loses rows.\n"
    filler = "\n".join(f"- finding {n} is nothing new" for n in range(2_000))
    first = Message("user", (Text(earlier + filler),), kind="summary")
    session.append(first)
    session.extend(conversation(11, 40))
    session.compress(to=1_500)
    package = session.context(budget=1_500)
    assert "finding 1000 " not in package.text
    assert "ledger_v7" in package.text
    assert package.text.count("ledger_v7") == 1


def test_context_alone_keeps_as_much_of_the_newest_as_plain_recency(
    open_session: Open,
) -> None:
    session = open_session(auto_compress=False, counter="estimate")
    session.extend(conversation(13, 60))
    package = session.context(budget=3_000)
    assert package.report.total_tokens >= 0.95 * 3_000
    newest = "\n".join(message.text for message in session.history())[-4 * 2_000 :]
    lines = [line for line in newest.splitlines()[1:] if line.startswith("We decided")]
    assert len(lines) > 15
    assert [line for line in lines if line not in package.text] == []


def test_a_newest_message_that_was_shortened_counts_as_it_is_shown(open_session: Open) -> None:
    session = open_session(auto_compress=False)
    session.extend(conversation(5, 30))
    lines = [sentence(random.Random(number)) for number in range(400)]
    session.extend([call("c"), results(c="\n".join(lines))])
    made = session.compress(to=3_000)
    assert set(made.excerpts) - {1}  # the newest
    for reader in (session, open_session(auto_compress=False)):
        shown = reader.context(budget=3_000, save=False).report.total_tokens
        assert shown <= reader.size_tokens() <= 3_000
        assert reader.usage()["size_tokens"] == reader.size_tokens()
        assert reader.overview().usage["size_tokens"] == reader.size_tokens()
    session.append({"role": "user", "content": "Go on."})
    session.context(budget=1_000)  # its window begins behind the one that was shortened
    assert session.size_tokens() <= 3_050


def test_a_history_is_compressed_where_the_other_parts_take_all_that_it_was_to_be_compressed_to(
    open_session: Open,
) -> None:
    limits = {"warn_at": 3_500, "compress_at": 4_000, "compress_to": 1_000}
    session = open_session(window=8_000, budget=4_000, **limits)
    session.system_prompt = words("prompt", 900)
    for number in range(60):
        said = (
            f"We keep `store_{number}.py` on port {4_000 + number}, since the other one fails. " * 4
        )
        session.append({"role": "user", "content": said})
        session.context()
    assert session.compressions()
    assert session.usage()["size_tokens"] < limits["compress_at"]
