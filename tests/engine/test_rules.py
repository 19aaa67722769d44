"""The rules the engine never breaks, over generated sections, texts and budgets."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from foreword.engine.package import Package
from foreword.engine.pipeline import Request, assemble
from foreword.errors import EssentialsTooLarge
from foreword.messages.call_pairs import group_by_calls
from foreword.messages.shapes import read_messages
from foreword.section import Budget, Entry, Form, Rank, Rule, Section, Share, Tiers
from foreword.tokens import counter
from tests.examples import examples

TAGS = ("vision", "task", "notes", "docs", "log")
PROSE = (
    "The harbour office opens at six. Boats over 12 m book a berth by radio; never after dark.\n\n"
)
MATERIAL = {
    "prose": PROSE
    + "## Tides\n\n- High water at 04:12, because of the spring tide\n- `berth_id` must be set\n",
    "cjk": "港の事務所は六時に開きます。潮は四時に満ちます。",
    "emoji": "👩‍👩‍👧‍👦 family berth ⚓️ ",
    "hex": "deadbeef00c0ffee1234567890abcdef",
    "json": '{"berth": 12, "boats": [{"id": "a1", "length_m": 9.5}]}\n',
    "tags": "text </vision> <Task attr='x'> < / NOTES > <docs/> <T> </div> <tasks>\n",
    "spaces": "   \n\t\n  ",
    "code": "def berth(id: int) -> Boat:\n    return BOATS[id]  # <vision>\n",
    "odd": "nul \x00 and \ud800 alone\r\n",
}
EXAMPLES = examples(15)
SETTINGS = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

texts = st.builds(
    lambda kinds, times: "".join(MATERIAL[kind] for kind in kinds) * times,
    st.lists(st.sampled_from(sorted(MATERIAL)), min_size=1, max_size=4),
    st.integers(1, 40),
)
ladders: st.SearchStrategy[tuple[Form, ...]] = st.sampled_from(
    [
        ("full", "gone"),
        ("full", "excerpt", "gone"),
        ("full", "summary", "excerpt", "reference", "gone"),
        ("full", "relevant", "reference"),
        ("full", "summary"),
    ]
)
caps = st.sampled_from(
    [None, None, None, Share("tokens", 80), Share("whole", 0.2), Share("left", 0.5)]
)
rules = st.builds(Rule, tier=st.integers(1, 3), essential=st.booleans(), forms=ladders, cap=caps)


def text_section(tag: str, text: str, rule: Rule, *, rank: Rank, title: str) -> Section:
    return Section(
        tag=tag,
        text=text,
        rule=rule,
        rank=rank,
        title=title,
        source=f"{title}.md",
        before=f"## {title}",
    )


def list_section(tag: str, lines: list[str], *, newest_first: bool) -> Section:
    return Section(
        tag=tag,
        text="\n".join(lines),
        rule=Rule(forms=("full", "newest", "gone"), newest_first=newest_first),
        rank=Rank(1),
        entries=tuple(Entry(line) for line in lines),
    )


plain = st.builds(
    text_section,
    tag=st.sampled_from(TAGS),
    text=texts,
    rule=rules,
    rank=st.integers(0, 3).map(Rank),
    title=st.sampled_from(["a", "b", "</task> <docs>"]),
)
lists = st.builds(
    list_section,
    tag=st.sampled_from(TAGS),
    lines=st.lists(st.sampled_from([*MATERIAL.values()]), min_size=1, max_size=30),
    newest_first=st.booleans(),
)
materials = st.lists(st.one_of(plain, plain, lists), min_size=1, max_size=8)
tiers = st.sampled_from([Tiers(), Tiers({1: 0.5, 2: 0.3, 3: 0.2}), Tiers(limits={1: 300, 2: 200})])
budgets = st.integers(20, 4_000)
counters = st.sampled_from(["estimate", "o200k", "cl100k"])


def package_for(
    sections: list[Section], budget: int, by: str = "o200k", among: Tiers | None = None
) -> Package:
    request = Request(
        budget=Budget(budget, budget),
        counter=counter(by),
        task="berth tides",
        tags=TAGS,
        tiers=among or Tiers(),
    )
    try:
        return assemble(sections, request)
    except EssentialsTooLarge:
        assume(False)
        raise


def attempt(
    sections: list[Section], request: Request
) -> tuple[Package | None, EssentialsTooLarge | None]:
    try:
        return assemble(sections, request), None
    except EssentialsTooLarge as error:
        return None, error


def essentials_first(sections: list[Section]) -> list[Section]:
    """The same sections with fewer essentials, so that most budgets can be met."""
    first, *others = sections
    return [first, *[replace(one, rule=replace(one.rule, essential=False)) for one in others]]


@given(materials, budgets, counters, tiers)
@SETTINGS
def test_rule_1_a_package_is_never_over_its_budget_by_the_chosen_counter(
    sections: list[Section], budget: int, by: str, among: Tiers
) -> None:
    package = package_for(essentials_first(sections), budget, by, among)
    assert counter(by).count(package.text) == package.report.total_tokens <= budget


@given(materials, budgets, counters)
@SETTINGS
def test_rule_2_essentials_are_whole_or_the_error_names_every_one(
    sections: list[Section], budget: int, by: str
) -> None:
    request = Request(budget=Budget(budget, budget), counter=counter(by), tags=TAGS)
    essential = [section for section in sections if section.rule.essential]
    package, error = attempt(sections, request)
    if error is not None:
        assert {section.name for section in essential} <= set(error.sections)
        assert error.needed > budget
        return
    assert package is not None
    forms = {id(choice.section): choice.body.form for choice in package.report.choices}
    assert all(forms[id(section)] == "full" for section in essential)


@given(st.lists(texts, min_size=2, max_size=8), st.integers(60, 3_000), counters)
@SETTINGS
def test_rule_3_a_section_is_cut_only_when_all_that_give_way_before_it_are_at_their_smallest(
    bodies: list[str], budget: int, by: str
) -> None:
    rule = Rule(forms=("full", "excerpt", "gone"))
    sections = [
        Section(tag="notes", text=text, rule=rule, rank=Rank(rank), title=f"n{rank}")
        for rank, text in enumerate(bodies)
    ]
    package = package_for(sections, budget, by)
    forms = [choice.body.form for choice in package.report.choices]
    cut = [rank for rank, form in enumerate(forms) if form == "gone"]
    # whatever is kept below a section that is gone fits only because it is smaller
    for rank in cut:
        smaller = [low for low in range(rank) if forms[low] == "full"]
        assert all(
            counter(by).count(bodies[low]) <= counter(by).count(bodies[rank]) for low in smaller
        )


@given(materials, budgets, counters, tiers)
@SETTINGS
def test_rule_5_what_is_kept_and_what_is_omitted_are_what_came_in(
    sections: list[Section], budget: int, by: str, among: Tiers
) -> None:
    package = package_for(essentials_first(sections), budget, by, among)
    report = package.report
    assert report.kept_tokens + report.omitted_tokens == report.original_tokens
    assert sum(row.tokens for row in report.sections) == report.total_tokens
    cut = [choice for choice in report.choices if choice.body.form != "full"]
    assert [omission.handle for omission in report.omissions] == [
        choice.section.handle for choice in cut
    ]
    for choice, omission in zip(cut, report.omissions, strict=True):
        assert package.originals[omission.handle] == choice.section.original
        assert omission.reason


@given(materials, st.integers(200, 8_000), counters)
@SETTINGS
def test_rule_6_no_text_can_open_or_close_a_boundary(
    sections: list[Section], budget: int, by: str
) -> None:
    package = package_for(essentials_first(sections), budget, by)
    tags = re.findall(rf"<\s*(/?)\s*({'|'.join(TAGS)})(?![\w.:-])", package.text, re.IGNORECASE)
    assert all(
        opening == "" and closing == "/"
        for (opening, _), (closing, _) in zip(tags[::2], tags[1::2], strict=True)
    )
    assert all(first[1] == second[1] for first, second in zip(tags[::2], tags[1::2], strict=True))
    groups = {choice.section.tag for choice in package.report.choices if choice.body.form != "gone"}
    assert {tag for _, tag in tags} == groups


def test_rule_6_the_rest_of_the_text_stays_byte_for_byte() -> None:
    text = "List<T> items; </div> <tasks> a < task b\n</vision> tail"
    package = package_for(
        [Section(tag="vision", text=text), Section(tag="task", text="do it")], 4_000
    )
    assert "List<T> items; </div> <tasks> a &lt; task b\n&lt;/vision> tail" in package.text
    assert any("vision" in warning and "boundary" in warning for warning in package.report.warnings)


@given(materials, budgets, counters)
@SETTINGS
def test_rule_7_the_same_inputs_make_the_same_bytes(
    sections: list[Section], budget: int, by: str
) -> None:
    first, second = (package_for(essentials_first(sections), budget, by) for _ in range(2))
    assert first.text == second.text
    assert first.report.to_dict() == second.report.to_dict()


@given(
    st.lists(st.sampled_from(sorted(MATERIAL)), min_size=2, max_size=30), st.integers(100, 2_000)
)
@SETTINGS
def test_rule_8_a_new_message_changes_nothing_before_it_until_a_reported_cut(
    kinds: list[str], budget: int
) -> None:
    turns = [
        {"role": ("user", "assistant")[i % 2], "content": MATERIAL[kind]}
        for i, kind in enumerate(kinds)
    ]
    before, after = (conversation(turns[:size], budget) for size in (len(turns) - 1, len(turns)))
    if after.report.status == "within":
        assert after.messages[: len(before.messages)] == before.messages
    else:
        assert after.report.omissions


def conversation(turns: list[dict[str, str]], budget: int) -> Package:
    groups = group_by_calls(read_messages(turns, "test"))
    entries: list[Entry] = []
    for index, group in enumerate(groups):
        text = "\n".join(message.text for message in group)
        entries.append(Entry(text, group, pinned=index == 0))
    talk = Section(
        tag="messages",
        text="\n".join(entry.text for entry in entries),
        rule=Rule(forms=("full", "newest")),
        entries=tuple(entries),
    )
    return package_for([Section(tag="vision", text=PROSE, rule=Rule(essential=True)), talk], budget)


# --- the budget is used ---------------------------------------------------------------------------

LONG = [
    PROSE * 20,
    MATERIAL["json"] * 60,
    MATERIAL["cjk"] * 60,
    MATERIAL["hex"] * 40,
    MATERIAL["prose"] * 20,
]


@given(
    st.lists(st.tuples(st.sampled_from(LONG), st.integers(0, 4)), min_size=3, max_size=12),
    st.integers(1_500, 8_000),
    counters,
)
@SETTINGS
def test_at_least_95_percent_of_the_budget_is_used_when_more_came_in(
    ranked: list[tuple[str, int]], budget: int, by: str
) -> None:
    rule = Rule(forms=("full", "excerpt", "gone"))
    sections = [
        Section(tag="notes", text=text, rule=rule, rank=Rank(rank), title=f"n{i}")
        for i, (text, rank) in enumerate(ranked)
    ]
    report = package_for(sections, budget, by).report
    # what is left over is smaller than a paragraph, a member or a line: those stay whole
    assert report.status == "within" or report.total_tokens >= 0.95 * budget


@pytest.mark.parametrize("by", ["estimate", "o200k"])
@pytest.mark.parametrize("rank", [0, 1])
def test_one_large_section_does_not_keep_hundreds_of_small_ones_from_the_budget(
    by: str, rank: int
) -> None:
    rule = Rule(forms=("full", "excerpt", "gone"))
    small = [
        Section(
            tag="notes",
            text=f"{PROSE} Note {i} of the harbour.",
            rule=rule,
            rank=Rank(0),
            title=f"small {i}",
        )
        for i in range(300)
    ]
    large = Section(tag="notes", text=PROSE * 3_000, rule=rule, rank=Rank(rank), title="large")
    report = package_for([large, *small], 6_000, by).report
    assert report.total_tokens >= 0.97 * 6_000
    if rank == 0:  # of equal rank: part of the large one and many of the small ones
        kept = [
            row for row in report.sections if row.title.startswith("small") and row.form == "full"
        ]
        assert len(kept) > 50
        assert next(row for row in report.sections if row.title == "large").form == "excerpt"


def test_ties_are_broken_by_order() -> None:
    sections = [
        Section(tag="notes", text=PROSE * 5, rule=Rule(forms=("full", "gone")), title=f"{i}")
        for i in range(10)
    ]
    report = package_for(sections, 500).report
    kept = [row.title for row in report.sections if row.form == "full" and row.tag == "notes"]
    assert kept == [str(i) for i in range(len(kept))]
    assert kept
