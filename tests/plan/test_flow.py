"""Flows: the order of phases, and what can't be one."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import CyclicFlow, UnknownName, UsageError
from foreword.plan.flow import Flow, Phase, waves
from foreword.plan.flow_parsing import parse_flow


def flow(**after: str) -> Flow:
    """A flow of phases `p1`, `p2` ... and the names each waits for, with blanks between."""
    phases = [
        Phase(name=name, title=name, after=tuple(before.split())) for name, before in after.items()
    ]
    return Flow(name="feature", source="feature.md", phases=tuple(phases))


def names(order: tuple[tuple[Phase, ...], ...]) -> list[list[str]]:
    return [list(map(attrgetter("name"), wave)) for wave in order]


def test_phases_that_wait_for_the_same_one_run_together() -> None:
    order = waves(flow(p1="", p2="p1", p3a="p2", p3b="p2", p4="p3a p3b"))
    assert names(order) == [["p1"], ["p2"], ["p3a", "p3b"], ["p4"]]


def test_the_order_in_the_file_need_not_be_the_order_of_work() -> None:
    assert names(waves(flow(last="first", first=""))) == [["first"], ["last"]]


def test_a_cycle_is_named() -> None:
    with pytest.raises(CyclicFlow, match="wait for each other: p2 -> p3 -> p2") as error:
        waves(flow(p1="", p2="p1 p3", p3="p2", p4="p3"))
    assert error.value.cycle == ("p2", "p3", "p2")


def test_a_phase_that_waits_for_itself_is_a_cycle() -> None:
    with pytest.raises(CyclicFlow, match="p1 -> p1"):
        waves(flow(p1="p1"))


def test_a_phase_that_waits_for_an_unknown_one_is_told_who_it_may_have_meant() -> None:
    with pytest.raises(
        UnknownName, match="unknown phase 'phase-1' that phase phase2 of flow feature waits for"
    ):
        waves(flow(phase1="", phase2="phase-1"))


def test_a_flow_without_phases_is_refused() -> None:
    with pytest.raises(UsageError, match="has no phases"):
        waves(Flow(name="empty", source="empty.md", phases=()))


def test_two_phases_of_one_name_are_refused() -> None:
    phases = (Phase(name="1", title="one"), Phase(name="1", title="two"))
    with pytest.raises(UsageError, match="phase '1' twice"):
        waves(Flow(name="twice", source="twice.md", phases=phases))


def test_two_phases_that_hand_on_the_same_artifact_are_refused() -> None:
    phases = (
        Phase(name="1", title="one", artifact="FEAT-1"),
        Phase(name="2", title="two", artifact="FEAT-1"),
    )
    with pytest.raises(UsageError, match="artifact 'FEAT-1' twice"):
        waves(Flow(name="twice", source="twice.md", phases=phases))


@st.composite
def graphs(draw: st.DrawFn) -> Flow:
    """Flows without a cycle: each phase waits for some of those that come before it in a hidden
    order."""
    count = draw(st.integers(1, 12))
    phases = [Phase(name="0", title="")]
    for number in range(1, count):
        before = draw(st.sets(st.integers(0, number - 1)))
        phases.append(Phase(name=str(number), title="", after=tuple(map(str, before))))
    return Flow(name="any", source="any.md", phases=tuple(draw(st.permutations(phases))))


@given(graphs())
def test_every_phase_runs_once_and_after_all_it_waits_for(whole: Flow) -> None:
    done: set[str] = set()
    for wave in waves(whole):
        assert all(done.issuperset(phase.after) for phase in wave)
        assert done.isdisjoint(phase.name for phase in wave)
        done |= {phase.name for phase in wave}
    assert done == {phase.name for phase in whole.phases}


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("Do it.\n\n**Gate:** every line\nhas a test.\n\nMore.", "every line has a test."),
        ("### Approval gate\n\nThe panel approves.\n", "The panel approves."),
        ("> **GATE:** a person\n> says yes.\n>\n> Not this.", "a person says yes."),
        ("**Gate:**", ""),
        ("Nothing of that kind, only a gate.", ""),
        ("**Gate:** " + "word " * 100, " ".join(["word"] * 40) + " ..."),
    ],
    ids=str.split("line heading quoted empty none long"),
)
def test_a_gate_is_told_in_the_words_of_its_author(text: str, gate: str) -> None:
    assert Phase(name="1", title="a", gate=True, text=text).gate_text == gate
    assert Phase(name="1", title="a", text=text).gate_text == ""


@pytest.mark.parametrize(
    "begin", ["## Phase {0}: Work\n\nDo it.\n", "<!-- PHASE:{0} -->\nDo it.\n<!-- /PHASE:{0} -->\n"]
)
def test_a_phase_between_two_numbers_has_its_place_and_its_name(begin: str) -> None:
    numbers = ("0", "0.5", "1", "3a", "3b", "3.5", "3.10", "4")
    text = "# Build\n\n" + "\n".join(map(begin.format, numbers))
    order = names(waves(parse_flow(text, name="build", source="build.md")))
    assert order == [["0"], ["0.5"], ["1"], ["3a", "3b"], ["3.5"], ["3.10"], ["4"]]


def test_an_artifact_is_that_of_the_phase_whose_number_it_has_in_full() -> None:
    text = (
        "## Phase 3: Build\n\nWrite [FT-3].\n\n## Phase 3.5: Check\n\nOf [FT-3], write [FT-3.5].\n"
    )
    build, check = parse_flow(text, name="build", source="build.md").phases
    assert (build.artifact, check.artifact, check.takes) == ("FT-3", "FT-3.5", ("FT-3",))


def test_a_title_over_all_phases_is_none_of_them() -> None:
    text = "# Phase 6 + 7: Repair\n\n## Phase 6: Cause\n\nFind it.\n\n## Phase 7: Fix\n\nDo it.\n"
    flow = parse_flow(text, name="repair", source="repair.md")
    assert [(phase.name, phase.title) for phase in flow.phases] == [("6", "Cause"), ("7", "Fix")]
    alone = parse_flow("# Phase 2: Build\n\nDo it.\n", name="b", source="b.md")
    assert [phase.name for phase in alone.phases] == ["2"]
