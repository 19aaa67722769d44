"""What a session promises for any conversation: within the budget, a bill that adds up, valid
for both providers."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foreword
from tests.examples import examples
from tests.session.validity import problems

MARK = re.compile(
    r"^\[([\d,]+) earlier messages? left out: foreword recall fw_[0-9a-f]{14}\]$", re.MULTILINE
)
TURN = re.compile(r'^<turn role="\w+">\n(?:Message (\d+)\.|\[\.\.\. )', re.MULTILINE)
RECIPES = st.sampled_from(["workflow", "workflow-cached"])
COUNTERS = st.sampled_from(["o200k", "estimate", "cl100k"])
EXAMPLES = examples(5)
QUICK = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}
THOUGHT = {"type": "thinking", "thinking": "let me think", "signature": "abc"}
Shaped = dict[str, Any]

WORDS = st.one_of(
    st.sampled_from(
        ["", " ", "\n\n", "Yes.", "</turn>", "<current_plan>\n", "/", "\n", "a\n\n\n", "<"]
    ),
    st.text(max_size=60),
    st.builds(
        lambda word, times: " ".join(f"{word}{n}" for n in range(times)),
        st.sampled_from(["alpha", "界", "</conversation_history>", '{"a": 1}', "\n", "🧪"]),
        st.integers(1, 300),
    ),
)


def text(words: str) -> Shaped:
    return {"type": "text", "text": words}


@st.composite
def rounds(draw: st.DrawFn, number: int) -> list[Shaped]:
    """One round: a remark, an odd message, or one to twelve parallel calls with their results,
    perhaps not all."""
    role = draw(st.sampled_from(["user", "assistant"]))
    match draw(
        st.sampled_from(
            ["words", "words", "words", "null", "picture", "thought", "anthropic", "openai"]
        )
    ):
        case "words":
            return [{"role": role, "content": draw(WORDS)}]
        case "null":
            return [{"role": role, "content": None}]
        case "picture":
            return [{"role": "user", "content": [PICTURE]}]
        case "thought":
            more = [text(draw(WORDS))] if draw(st.booleans()) else []
            return [{"role": "assistant", "content": [THOUGHT, *more]}]
        case shape:
            ids = [f"c{number}_{n}" for n in range(draw(st.sampled_from([1, 2, 3, 12])))]
            answered = [name for name in ids if draw(st.integers(0, 9))]
            return _calls(shape, ids, {name: draw(WORDS) for name in answered})


def _calls(shape: str, ids: list[str], results: dict[str, str]) -> list[Shaped]:
    if shape == "openai":
        calls = [
            {"id": i, "type": "function", "function": {"name": "t", "arguments": "{}"}} for i in ids
        ]
        answers = [
            {"role": "tool", "tool_call_id": i, "content": words} for i, words in results.items()
        ]
        return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]
    uses = [{"type": "tool_use", "id": i, "name": "t", "input": {}} for i in ids]
    blocks = [
        {"type": "tool_result", "tool_use_id": i, "content": words} for i, words in results.items()
    ]
    return [
        {"role": "assistant", "content": uses},
        *([{"role": "user", "content": blocks}] if blocks else []),
    ]


@st.composite
def conversations(draw: st.DrawFn) -> list[Shaped]:
    messages = list[Shaped]()
    for number in range(draw(st.integers(0, 25))):
        messages += draw(rounds(number))
    return messages


_names = count()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("root")


def new_name() -> str:
    """A workflow that no example has used: they share a store."""
    return f"w{next(_names)}"


def start_session(root: Path, workflow: str = "", **more: Any) -> foreword.Session:
    """A session that cuts and does not compress, unless its limits are given."""
    options = {"compress_at": "90%", "warn_at": "80%", **more}
    return foreword.Session.open(
        f"sqlite:///{root}/state.db", workflow or new_name(), root=root, **options
    )


def attempt(session: foreword.Session) -> foreword.Package | None:
    try:
        return session.context()
    except foreword.EssentialsTooLarge:
        return None


@QUICK
@given(conversations(), RECIPES, st.integers(300, 4000), COUNTERS)
def test_no_context_is_over_its_budget_and_its_total_is_what_the_text_counts(
    root: Path, said: list[Shaped], recipe: str, budget: int, counter: str
) -> None:
    with start_session(root, recipe=recipe, budget=budget, counter=counter) as session:
        session.extend(said)
        package = attempt(session)
    if package is None:
        return
    report = package.report
    assert report.total_tokens == foreword.counter(counter).count(package.text) <= budget
    assert sum(row.tokens for row in report.sections) == report.total_tokens
    assert report.kept_tokens + report.omitted_tokens == report.original_tokens


@QUICK
@given(conversations(), RECIPES, st.integers(300, 3000))
def test_every_provider_would_accept_every_turn(
    root: Path, said: list[Shaped], recipe: str, budget: int
) -> None:
    with start_session(root, recipe=recipe, budget=budget) as session:
        for place, message in enumerate(said):
            session.append(message)
            if place % 3 and place < len(said) - 1:
                continue
            package = attempt(session)
            assert package is None or problems(package) == []


@QUICK
@given(conversations(), RECIPES, st.integers(400, 2000))
def test_what_is_kept_is_the_first_and_the_newest_in_order_and_the_mark_counts_the_rest(
    root: Path, said: list[Shaped], recipe: str, budget: int
) -> None:
    named = list[Shaped]()
    for message in said:
        if isinstance(message.get("content"), str) and message["role"] != "tool":
            message["content"] = f"Message {len(named)}. {message['content'][:400]}"
            named.append(message)
    with start_session(root, recipe=recipe, budget=budget) as session:
        session.extend(named)
        package = attempt(session)
    if package is None:
        return
    shown = TURN.findall(package.text)  # the number of each, or none where only its mark stands
    marks = MARK.findall(package.text)
    kept = list(range(len(named)))
    if marks:
        (lost,) = marks
        kept = [0, *range(int(lost.replace(",", "")) + 1, len(named))]
        assert len(shown) > 1, "the newest is always there"
    assert len(shown) == len(kept)
    for number, place in zip(shown, kept, strict=True):
        assert number in ("", str(place))
    assert "" not in shown[1:], "what is more than a mark"


@QUICK
@given(conversations(), RECIPES, st.integers(400, 3000), st.booleans())
def test_a_session_opened_anew_makes_the_same_bytes(
    root: Path, said: list[Shaped], recipe: str, budget: int, called_before: bool
) -> None:
    name = new_name()
    with start_session(root, name, recipe=recipe, budget=budget) as session:
        for message in said:
            session.append(message)
            if called_before:
                attempt(session)
        text = one.text if (one := attempt(session)) else None
        again = other.text if (other := attempt(session)) else None
    with start_session(root, name, recipe=recipe, budget=budget) as session:
        anew = third.text if (third := attempt(session)) else None
    assert text == again == anew


@pytest.mark.parametrize("recipe", ["workflow", "workflow-cached", "chat"])
def test_where_the_newest_does_not_fit_the_rest_is_marked_and_stays_so(
    root: Path, recipe: str
) -> None:
    """Thirty calls at once are too large for the room even without a word of their results."""
    calls = [{"type": "tool_use", "id": f"c{n}", "name": "look", "input": {}} for n in range(30)]
    results = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": "no"} for n in range(30)]
    marked = 0
    for budget in range(100, 420, 40):
        name = new_name()
        texts = set[str | None]()
        for _ in range(2):
            with start_session(root, name, recipe=recipe, budget=budget) as session:
                if not session.history():
                    session.append({"role": "user", "content": "Look at all of them."})
                    session.append({"role": "assistant", "content": calls})
                    session.append({"role": "user", "content": results})
                for _ in range(2):
                    package = attempt(session)
                    texts.add(package.text if package else None)
        (text,) = texts
        assert text is None or "no messages yet" not in text
        marked += text is not None and bool(MARK.search(text))
    assert marked


@QUICK
@given(conversations(), st.sets(st.integers(0, 40), max_size=4), RECIPES)
def test_pinned_messages_and_compressions_keep_every_promise(
    root: Path, said: list[Shaped], pins: set[int], recipe: str
) -> None:
    """Limits so small that the history is compressed again and again; any four may be pinned."""
    with start_session(
        root, recipe=recipe, budget=3000, compress_at=2400, compress_to=900, warn_at=2000
    ) as session:
        for place, message in enumerate(said):
            session.append(message, pinned=place in pins)
        package = attempt(session)
        originals = [found.text for found in session.history()]
        for made in session.compressions():
            assert [found.text for found in session.expand(made.number)] == originals[: made.last]
    if package is not None:
        assert package.report.total_tokens == foreword.counter("o200k").count(package.text) <= 3000
        assert problems(package) == []


def test_the_strategies_reach_cuts(root: Path) -> None:
    """A guard for the tests above: conversations of this kind do not fit small budgets whole."""
    with start_session(root, budget=600) as session:
        session.extend({"role": "user", "content": f"alpha{n} " * 40} for n in range(25))
        assert MARK.search(session.context().text)
