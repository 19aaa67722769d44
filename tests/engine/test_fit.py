"""Who gets how much room: in which order sections give way, and what each is left with."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.engine.fit import FLOOR_TOKENS, LEAST_TOKENS, SHORTENED, fit
from foreword.engine.outline import outline_of
from foreword.engine.pipeline import Request, assemble
from foreword.engine.render import GAP, pieces_of, scale_for
from foreword.errors import EssentialsTooLarge
from foreword.section import Budget, Choice, Entry, Form, Rank, Rule, Section, Share, Tiers
from foreword.tokens import Counter, counter
from tests.examples import examples

# A unit is a character and so is a token, so every size is known to the letter.
CHARACTERS = Counter("characters", len)
ESTIMATE = counter("estimate")  # four characters to a token, as the floor of a section expects
WHOLE_OR_NOT: tuple[Form, ...] = ("full", "gone")
CUT: tuple[Form, ...] = ("full", "excerpt", "gone")
LASTING: tuple[Form, ...] = ("full", "excerpt")
ESSENTIAL = Rule(essential=True)


def text_of(size: int) -> str:
    """A text of so many characters, in lines that may be cut."""
    line = "The harbour office opens at six and closes at dusk, except on days of high water.\n"
    return (line * (1 + size // len(line)))[:size].rstrip("\n").ljust(size, ".")


def section(
    name: str,
    size: int,
    *,
    rank: int = 0,
    order: int = 0,
    forms: tuple[Form, ...] = WHOLE_OR_NOT,
    tag: str = "",
    **rule: object,
) -> Section:
    """A section of so many characters under a tag of its own."""
    return Section(
        tag=tag or name,
        text=text_of(size),
        title=name,
        rule=Rule(forms=forms, **rule),  # type: ignore[arg-type]
        rank=Rank(group=rank, order=order),
    )


def size_of(one: Section) -> int:
    """What a section takes in full under tags of its own."""
    return len(f"<{one.tag}>\n{one.text}\n</{one.tag}>\n{GAP}")


def fitted(
    *sections: Section,
    budget: int,
    tiers: Tiers | None = None,
    note: str = "",
    spare: int = 0,
    by: Counter = CHARACTERS,
) -> dict[str, Choice]:
    """What was decided, by title; what is written is never over the budget."""
    outline = outline_of(sections)
    choices = fit(
        sections,
        outline,
        budget_tokens=budget,
        scale=scale_for(outline, by, ""),
        tiers=tiers or Tiers(),
        note=note,
        spare_tokens=spare,
    )
    written = "".join(pieces_of(choices[index] for index in sorted(choices)))
    for choice in choices.values():
        is_cut = choice.body.form != "full" and not choice.reason.startswith("stands in")
        assert (choice.reason == SHORTENED) == is_cut
    is_whole = len(choices) == len(sections)
    assert by.count(written + ("" if is_whole else note)) <= budget - spare
    return {choice.section.title: choice for choice in choices.values()}


def forms_of(choices: dict[str, Choice]) -> dict[str, Form]:
    return {name: choice.body.form for name, choice in choices.items()}


# --- in which order -------------------------------------------------------------------------------


def test_everything_is_whole_where_it_fits_to_the_letter_and_one_letter_less_cuts_the_lowest() -> (
    None
):
    sections = [section("low", 100), section("high", 200, rank=1, forms=CUT)]
    budget = sum(size_of(one) for one in sections) - len(GAP)
    exactly = fitted(*sections, budget=budget)
    assert forms_of(exactly) == {"low": "full", "high": "full"}
    assert {choice.reason for choice in exactly.values()} == {""}
    assert forms_of(fitted(*sections, budget=budget - 1)) == {"high": "full"}


ranked = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 9)),
    min_size=1,
    max_size=8,
    unique_by=lambda one: one[1],  # equals share: see below
)


@settings(max_examples=examples(60))
@given(ranked, st.integers(30, 400))
def test_sections_that_are_whole_or_not_come_in_by_rank_as_far_as_the_room_goes(
    sizes: list[tuple[int, int]], budget: int
) -> None:
    sections = [
        section(f"s{place}", 10 * size, rank=rank) for place, (size, rank) in enumerate(sizes)
    ]
    choices = fitted(*sections, budget=budget)
    if sum(size_of(one) for one in sections) - len(GAP) <= budget:
        assert len(choices) == len(sections)
        return
    left = budget
    expected = set[str]()
    for one in sorted(sections, key=lambda each: -each.rank.group):
        if left >= LEAST_TOKENS and size_of(one) <= left:
            expected.add(one.title)
            left -= size_of(one)
    assert set(choices) == expected
    assert all(choice.units == size_of(choice.section) for choice in choices.values())


def test_a_section_of_higher_rank_is_cut_only_after_all_below_it_are_gone() -> None:
    high = section("high", 1_000, rank=2, forms=CUT)
    low = section("low", 300, rank=1, forms=CUT)
    for budget in range(200, 1_300, 50):
        choices = fitted(high, low, budget=budget)
        if "low" in choices and choices["high"].body.form != "full":
            # what is left behind a cut is too little for another line of it
            assert choices["low"].units < 120
        assert choices["high"].reason == ("" if choices["high"].body.form == "full" else SHORTENED)


def test_of_equal_rank_none_takes_more_than_half_while_others_wait() -> None:
    first = section("first", 3_000, forms=CUT, tag="a")
    second = section("second", 3_000, forms=CUT, tag="b")
    choices = fitted(first, second, budget=1_000)
    assert 350 <= choices["first"].units <= 500
    assert 350 <= choices["second"].units <= 650
    small = section("small", 100, forms=CUT, tag="b")
    choices = fitted(first, small, budget=1_000)
    assert choices["small"].body.form == "full"
    assert choices["first"].units >= 750, "what the small one left went back"
    alone = fitted(first, section("below", 3_000, rank=-1, forms=CUT), budget=1_000)
    assert alone["first"].units >= 850, "who shares with nobody takes all"


def test_two_large_ones_of_equal_rank_do_not_starve_small_ones_behind_them() -> None:
    large = [section(name, 30_000, forms=CUT, tag=name) for name in ("a", "b", "c")]
    small = [section(f"small {n}", 120, forms=CUT, tag="notes") for n in range(8)]
    choices = fitted(*large, *small, budget=1_200, by=ESTIMATE)
    assert [forms_of(choices).get(f"small {n}") for n in range(8)] == ["full"] * 8
    assert choices["a"].units > 1_500, "half of what they all found"


def test_where_not_even_the_least_of_each_fits_the_newest_are_in() -> None:
    rule = Rule(forms=CUT, tier=2)
    notes = [
        Section(
            tag="notes",
            text=text_of(2_000),
            title=f"{n}",
            rule=rule,
            rank=Rank(order=(7 * n) % 20),
            recency=(7 * n) % 20,
        )
        for n in range(20)
    ]
    choices = fitted(*notes, budget=400, tiers=Tiers(shares=THIRDS), by=ESTIMATE)
    kept = sorted(choice.section.recency for choice in choices.values())
    assert kept == list(range(20 - len(kept), 20))
    assert 2 <= len(kept) < 20


def test_room_too_small_to_be_worth_reading_is_not_handed_out() -> None:
    top = section("top", 400, rank=1)
    tiny = section("a", 1, tag="t")
    budget = size_of(top) + size_of(tiny)
    big = section("big", 900, rank=-1)
    assert "a" in fitted(top, tiny, big, budget=budget)
    assert "a" not in fitted(top, tiny, big, budget=budget - 1)


def test_a_cut_too_short_to_be_worth_its_mark_is_not_made() -> None:
    lines = "The office is open.\n" * 200
    low = Section(tag="low", text=lines, title="low", rule=Rule(forms=CUT))
    for left, names in ((150, {"high"}), (300, {"high", "low"})):
        high = section("high", 8_000 - left - len("<high>\n\n</high>\n\n"), rank=1)
        choices = fitted(high, low, budget=ESTIMATE.tokens(8_000), by=ESTIMATE)
        assert set(choices) == names


def test_tokens_that_are_to_be_spared_are_not_used() -> None:
    sections = [section("a", 300, forms=CUT), section("b", 300, rank=1, forms=CUT)]
    whole = sum(size_of(one) for one in sections)
    assert forms_of(fitted(*sections, budget=whole, spare=0)) == {"a": "full", "b": "full"}
    assert fitted(*sections, budget=whole, spare=100)["a"].body.form != "full"


def test_the_room_of_a_note_is_kept_while_something_is_gone_and_used_where_nothing_is() -> None:
    note = "n" * 150
    high = section("high", 400, rank=1)
    low = section("low", 300)
    budget = size_of(high) + size_of(low) - len(GAP) - 1
    assert set(fitted(high, low, budget=budget, note=note)) == {"high"}
    tight = size_of(high) + 100
    assert "high" in fitted(high, low, budget=tight)
    assert "high" not in fitted(high, low, budget=tight, note=note), "the note comes first"
    cut = section("low", 2_000, forms=CUT)
    with_note = fitted(high, cut, budget=1_500, note=note)
    assert with_note["low"].units == fitted(high, cut, budget=1_500)["low"].units
    little = size_of(high) + len(note) + 60
    assert "low" in fitted(high, cut, budget=little, note=note), "with it in, nothing is gone"


# --- what must be in ------------------------------------------------------------------------------


def test_essentials_come_first_whatever_their_rank_and_say_so() -> None:
    must = Section(tag="must", text=text_of(300), title="must", rule=ESSENTIAL)
    high = section("high", 300, rank=9)
    choices = fitted(high, must, budget=size_of(must) + 50)
    assert forms_of(choices) == {"must": "full"}
    assert choices["must"].reason == "essential"


essential_sizes = st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 300)), min_size=1)


@settings(max_examples=examples(30))
@given(essential_sizes, st.integers(1, 3_000))
def test_an_error_names_every_essential_and_the_least_budget_that_will_do(
    sizes: list[tuple[str, int]], budget: int
) -> None:
    sections = [section("other", 50)]
    for tag, size in sorted(sizes):
        sections.append(Section(tag=tag, text=text_of(size), title="same", rule=ESSENTIAL))
    error = error_of(sections, budget)
    if error is None:
        return
    assert error.budget == budget < error.needed
    assert list(error.sections) == ["same", *[f"same ({n})" for n in range(2, len(sizes) + 1)]]
    assert sum(error.sections.values()) <= error.needed
    assert error_of(sections, error.needed) is None
    assert error.needed == budget + 1 or error_of(sections, error.needed - 1) is not None


def test_the_least_budget_of_an_error_is_above_the_one_that_was_too_small_with_what_is_spared() -> (
    None
):
    must = Section(tag="must", text=text_of(83), title="must", rule=ESSENTIAL)
    assert size_of(must) == 100
    with pytest.raises(EssentialsTooLarge) as caught:
        fitted(must, section("other", 500), budget=120, spare=50)
    assert caught.value.needed == 121


def error_of(sections: list[Section], budget: int) -> EssentialsTooLarge | None:
    try:
        fitted(*sections, budget=budget)
    except EssentialsTooLarge as error:
        return error
    return None


def list_of(*entries: Entry, name: str = "log", **rule: object) -> Section:
    text = "\n".join(entry.text for entry in entries)
    forms: tuple[Form, ...] = ("full", "newest")
    return Section(
        tag=name,
        text=text,
        title=name,
        entries=entries,
        rule=Rule(forms=forms, **rule),  # type: ignore[arg-type]
    )


def test_what_is_pinned_in_a_list_is_essential() -> None:
    log = list_of(
        *[Entry(f"entry {place} {text_of(60)}") for place in range(20)],
        Entry("pinned " + text_of(200), pinned=True),
    )
    high = section("high", 5_000, rank=9, forms=CUT)
    choices = fitted(high, log, budget=800)
    assert "pinned" in choices["log"].body.text
    with pytest.raises(EssentialsTooLarge) as caught:
        fitted(high, log, budget=150)
    assert list(caught.value.sections) == ["log"]
    assert caught.value.sections["log"] >= 200


def test_what_may_be_cut_but_never_lost_keeps_a_floor_and_no_more() -> None:
    floor = ESTIMATE.room(FLOOR_TOKENS)
    high = section("high", 20_000, rank=9, forms=CUT)
    low = section("low", 8_000, forms=LASTING)
    choices = fitted(high, low, budget=2_000, by=ESTIMATE)
    assert floor - 150 <= choices["low"].units <= floor
    assert choices["high"].units >= 8_000 - floor - 150
    small = section("low", 40, forms=LASTING)
    assert forms_of(fitted(high, small, budget=2_000, by=ESTIMATE))["low"] == "full"
    reference = section("low", 8_000, forms=("full", "reference"))
    referred = fitted(high, reference, budget=2_000, by=ESTIMATE)
    assert referred["low"].body.form == "reference"
    assert referred["high"].units >= 8_000 - referred["low"].units - 150


@pytest.mark.parametrize(
    ("share", "least"),
    [
        (Share("whole", 0.25), 2_000),
        (Share("left", 0.5), 3_750),  # an essential of 500 takes its part first
        (Share("tokens", 1_000), 4_000),
        (Share("tokens", 1), 0),
    ],
    ids=lambda value: f"{value.of} {value.value}" if isinstance(value, Share) else "",
)
def test_a_rule_may_keep_a_share_for_what_is_never_lost(share: Share, least: int) -> None:
    must = section("must", 500 - len("<must>\n\n</must>\n" + GAP), essential=True)
    high = section("high", 20_000, rank=9, forms=CUT)
    low = section("low", 8_000, forms=LASTING, floor=share)
    choices = fitted(must, high, low, budget=2_000, by=ESTIMATE)
    kept = max(least, ESTIMATE.room(FLOOR_TOKENS))
    assert kept - 150 <= choices["low"].units <= kept + 150
    assert choices["high"].units >= 8_000 - 500 - kept - 150


def test_equals_of_a_tier_with_a_share_come_to_the_same_size() -> None:
    names = ["a", "b"]
    equals = [section(name, 9_000, rank=5, forms=CUT, tier=1) for name in names]
    below = section("below", 9_000, forms=CUT, tier=2)
    tiers = Tiers(shares={1: 0.7, 2: 0.3})
    choices = fitted(*equals, below, budget=2_000, tiers=tiers, by=ESTIMATE)
    first, second = [choices[name].units for name in names]
    assert first == pytest.approx(second, rel=0.1)
    assert first + second >= 0.9 * 0.7 * 8_000


def test_of_several_that_may_not_be_lost_the_highest_keeps_its_floor_first() -> None:
    names = ["a", "b", "c"]
    lasting = [section(name, 3_000, rank=3 - at, forms=LASTING) for at, name in enumerate(names)]
    must = Section(tag="must", text=text_of(400), title="must", rule=ESSENTIAL)
    budget = ESTIMATE.tokens(size_of(must)) + 2 * FLOOR_TOKENS
    choices = fitted(must, *lasting, budget=budget, by=ESTIMATE)
    assert set(choices) == {"must", "a", "b"}
    assert choices["a"].units <= 1.1 * ESTIMATE.room(FLOOR_TOKENS)


# --- caps and tiers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cap", "most"),
    [
        (Share("tokens", 400), 400),
        (Share("whole", 0.2), 400),
        (Share("left", 0.25), 375),
        (None, 1_400),
    ],
)
def test_a_cap_is_the_most_that_a_section_takes_however_much_is_left(
    cap: Share | None, most: int
) -> None:
    must = Section(tag="must", text="x" * 483, title="must", rule=ESSENTIAL)
    assert size_of(must) == 500
    capped = section("capped", 1_300, rank=1, forms=CUT, cap=cap)
    choices = fitted(must, capped, budget=2_000)
    assert most - 150 < choices["capped"].units <= most
    assert (choices["capped"].body.form == "full") == (cap is None)
    wide = section("capped", 100, rank=1, forms=CUT, cap=cap)
    assert {one.reason for one in fitted(must, wide, budget=2_000).values()} == {""}
    # the same with others behind it
    choices = fitted(must, capped, section("low", 3_000, forms=CUT), budget=2_000)
    assert choices["capped"].units <= most
    assert choices["low"].units >= 2_000 - 500 - choices["capped"].units - 150


def units_by_tier(choices: dict[str, Choice]) -> dict[int, int]:
    tiers = dict[int, int]()
    for choice in choices.values():
        if choice.reason != "essential":
            tier = choice.section.rule.tier
            tiers[tier] = tiers.get(tier, 0) + choice.units
    return tiers


def tier_sections(*sizes: int) -> list[Section]:
    """A section in every tier from 1 on; those without a size are not there."""
    sections = list[Section]()
    for place, size in enumerate(sizes):
        if size:
            sections.append(section(f"t{place + 1}", size, forms=CUT, tier=place + 1))
    return sections


THIRDS = {1: 0.5, 2: 0.3, 3: 0.2}


@pytest.mark.parametrize(
    ("essential", "sizes", "expected"),
    [
        (0, (9_000, 9_000, 9_000), {1: 2_000, 2: 1_200, 3: 800}),
        # what one does not use is the next one's
        (0, (500, 9_000, 9_000), {1: 514, 2: 2_690, 3: 800}),
        (0, (9_000, 300, 9_000), {1: 2_000, 2: 314, 3: 1_690}),
        # and so is the room of a tier that nobody is in
        (0, (9_000, 0, 9_000), {1: 2_000, 3: 2_000}),
        (0, (0, 9_000, 9_000), {2: 3_200, 3: 800}),
        # essentials take from the first tier, and where that is not enough from the last
        (1_000, (9_000, 9_000, 9_000), {1: 1_000, 2: 1_200, 3: 800}),
        # the least of the first tier is in all the same
        (2_400, (9_000, 9_000, 9_000), {1: 170, 2: 1_200, 3: 230}),
        (3_000, (9_000, 9_000, 9_000), {1: 170, 2: 830}),
    ],
)
def test_tiers_have_shares_of_the_budget_that_flow_on_when_they_are_not_used(
    essential: int, sizes: tuple[int, ...], expected: dict[int, int]
) -> None:
    sections = tier_sections(*sizes)
    if essential:
        must = Section(tag="must", text="x" * (essential - 17), title="must", rule=ESSENTIAL)
        assert size_of(must) == essential
        sections.append(must)
    choices = fitted(*sections, budget=4_000, tiers=Tiers(shares=THIRDS))
    used = units_by_tier(choices)
    assert set(used) == set(expected)
    for tier, size in expected.items():
        # a cut ends at a line, so what a tier leaves of its last one goes on to the next
        assert size - 110 <= used[tier] <= size + 110


@pytest.mark.parametrize("ranks", [(0, 0, 0), (3, 2, 1)])
def test_a_tier_of_several_sections_has_the_same_share_as_one_of_one(
    ranks: tuple[int, ...],
) -> None:
    sections = tier_sections(0, 9_000, 9_000)
    for place, rank in enumerate(ranks):
        sections.append(section(f"a{place}", 4_000, rank=rank, forms=CUT))
    choices = fitted(*sections, budget=4_000, tiers=Tiers(shares=THIRDS))
    used = units_by_tier(choices)
    for tier, size in {1: 2_000, 2: 1_200, 3: 800}.items():
        # the last of a tier may be in with its least on top of the tier's share
        assert size - 150 <= used[tier] <= size + 150
    sizes = [choices[name].units if name in choices else 0 for name in ("a0", "a1", "a2")]
    if len(set(ranks)) == 1:
        assert max(sizes) <= 1_000 + 110, "none has more than half of what they share"
        assert max(sizes) >= 1_000 - 110, "the first of them has that"
        assert min(sizes) >= 150, "and each says something"
    else:
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] >= 1_400


def test_a_share_is_not_exceeded_by_whole_sections_while_later_tiers_wait() -> None:
    first = [section(f"a{place}", 381, rank=-place, tier=1) for place in range(9)]
    second = [section(f"b{place}", 381, rank=-place, tier=2) for place in range(9)]
    assert size_of(first[0]) == size_of(second[0]) == 394
    shares = Tiers(shares={1: 0.5, 2: 0.5})
    used = units_by_tier(fitted(*first, *second, budget=4_000, tiers=shares))
    assert used == {1: 5 * 394, 2: 5 * 394}


def test_a_tier_is_never_over_its_hard_limit_tags_and_floors_included() -> None:
    limits = Tiers(limits={1: 600, 2: 500})
    first = [section(f"a{n}", 400, forms=CUT, tag="shared", rank=n) for n in range(3)]
    floor = section("floor", 900, forms=LASTING, rank=-1)
    second = section("second", 3_000, rank=5, forms=CUT, tier=2)
    third = section("third", 700, rank=-5, tier=3)
    choices = fitted(*first, floor, second, third, budget=9_000, tiers=limits)
    used = units_by_tier(choices)
    tags = len("<shared>\n\n</shared>\n\n")
    assert used[1] + tags <= 600
    assert used[1] + tags >= 480
    assert 380 <= used[2] <= 500
    assert choices["floor"].units > 0
    assert choices["third"].body.form == "full", "a tier without a limit has none"


def test_a_hard_limit_is_kept_to_the_letter_and_shared_tags_are_paid_once() -> None:
    both = [section(name, 100, tag="guides") for name in ("a", "b")]
    size = 2 * (100 + len("\n\n")) + len("<guides>\n\n</guides>\n\n")
    assert set(fitted(*both, budget=5_000, tiers=Tiers(limits={1: size}))) == {"a", "b"}
    assert set(fitted(*both, budget=5_000, tiers=Tiers(limits={1: size - 1}))) == {"a"}


def test_short_equals_come_in_first_and_only_as_many_as_a_hard_limit_lets_in() -> None:
    short = [section(f"s{n:02}", 20) for n in range(20)]
    size = size_of(short[0])
    for more in (0, size - 1):
        choices = fitted(*short, budget=9_000, tiers=Tiers(limits={1: 9 * size + more}))
        assert len(choices) == 9


def test_a_section_with_a_stand_in_keeps_no_other_of_its_tier_from_its_least() -> None:
    detail = section("detail", 3_000, forms=CUT)
    others = [section(f"e{n}", 2_000, forms=CUT) for n in range(6)]
    later = section("later", 3_000, forms=CUT, tier=2)
    shares = Tiers(shares={1: 0.6, 2: 0.4})
    choices = fitted(detail, brief(100), *others, later, budget=2_600, tiers=shares)
    assert {one.title for one in others} <= set(choices)
    assert choices["brief"].body.form == "full"


def test_under_hard_limits_ranks_alone_make_the_order_across_tiers() -> None:
    limits = Tiers(limits={1: 5_000, 2: 5_000})
    low = section("low", 600, rank=1, tier=1)
    high = section("high", 600, rank=2, tier=2)
    assert set(fitted(low, high, budget=700, tiers=limits)) == {"high"}
    assert set(fitted(low, high, budget=700)) == {"low"}, "without limits the first tier goes first"


# --- shared tags and stand-ins --------------------------------------------------------------------


def test_the_first_under_shared_tags_pays_for_them_and_only_the_first() -> None:
    both = [section(name, 100, tag="shared") for name in ("a", "b")]
    low = section("low", 500, rank=-1)
    tags = len("<shared>\n\n</shared>\n\n")
    one = 100 + len("\n\n")
    assert set(fitted(*both, low, budget=2 * one + tags)) == {"a", "b"}
    assert set(fitted(*both, low, budget=2 * one + tags - 1)) == {"a"}
    assert set(fitted(*both, low, budget=one + tags)) == {"a"}
    assert not fitted(*both, low, budget=one + tags - 1)


def brief(size: int, forms: tuple[Form, ...] = CUT) -> Section:
    return section("brief", size, rank=5, forms=forms, stands_in_for="detail")


def test_a_stand_in_is_there_only_where_its_section_can_not_be_whole() -> None:
    detail = section("detail", 2_000, rank=1, forms=CUT)
    whole = fitted(detail, brief(200), budget=4_000)
    assert forms_of(whole) == {"detail": "full"}
    choices = fitted(detail, brief(200), budget=1_000)
    assert choices["brief"].body.form == "full"
    assert choices["brief"].reason == "stands in for detail"
    assert choices["detail"].body.form == "excerpt"
    assert choices["detail"].units >= 1_000 - choices["brief"].units - 110
    too_large = fitted(detail, brief(1_500), budget=1_000)
    assert forms_of(too_large) == {"detail": "excerpt"}
    no_smaller = fitted(detail, brief(2_100), budget=2_000)
    assert forms_of(no_smaller) == {"detail": "excerpt"}


def test_a_section_that_fits_to_the_letter_needs_no_stand_in() -> None:
    detail = section("detail", 2_000, rank=1, forms=CUT)
    low = section("low", 9_000, rank=-1)
    choices = fitted(detail, brief(200), low, budget=size_of(detail))
    assert forms_of(choices) == {"detail": "full"}


def test_a_stand_in_that_fits_to_the_letter_comes_before_a_cut_of_its_section() -> None:
    detail = section("detail", 2_000, rank=1, forms=CUT)
    assert forms_of(fitted(detail, brief(500), budget=size_of(brief(500)))) == {"brief": "full"}
    one_less = fitted(detail, brief(500), budget=size_of(brief(500)) - 1)
    assert forms_of(one_less) == {"detail": "excerpt"}


def test_each_stand_in_is_looked_at_by_itself() -> None:
    kept = section("kept", 300, rank=9)
    short = section("short", 100, stands_in_for="kept")
    lost = section("lost", 5_000, rank=1)
    instead = section("instead", 3_000, forms=CUT, stands_in_for="lost")
    choices = fitted(kept, short, lost, instead, budget=1_000)
    assert forms_of(choices) == {"kept": "full", "instead": "excerpt"}


def test_a_section_whose_first_form_is_a_smaller_one_has_that_at_most() -> None:
    persona = Section(
        tag="persona",
        text=text_of(1_000),
        title="persona",
        header="A pilot who knows the harbour.",
        rule=Rule(forms=("header", "gone")),
    )
    high = section("high", 400, rank=1)
    choices = fitted(persona, high, section("low", 9_000, rank=-1), budget=2_000)
    assert forms_of(choices) == {"persona": "header", "high": "full"}
    assert choices["persona"].body.text.startswith("A pilot who knows the harbour.")
    assert set(fitted(persona, high, budget=size_of(high) + 40)) == {"high"}


def test_a_stand_in_has_what_is_left_where_nothing_of_its_section_is_in() -> None:
    detail = section("detail", 5_000, rank=1)
    choices = fitted(detail, brief(3_000), budget=1_000)
    assert forms_of(choices) == {"brief": "excerpt"}
    assert choices["brief"].units >= 850
    assert choices["brief"].reason == "stands in for detail"
    referred = section("detail", 5_000, rank=1, forms=("full", "reference"))
    choices = fitted(referred, brief(3_000), budget=1_000)
    assert forms_of(choices) == {"detail": "reference", "brief": "excerpt"}
    only_reference = fitted(detail, brief(3_000, ("full", "reference")), budget=1_000)
    assert not only_reference
    limited = Tiers(limits={1: 400})
    assert fitted(detail, brief(3_000), budget=1_000, tiers=limited)["brief"].units <= 400


def test_of_a_tag_in_several_pieces_the_whole_of_it_calls_for_its_stand_in() -> None:
    pieces = [section(f"d{n}", 300, rank=1, tag="detail") for n in range(5)]
    choices = fitted(*pieces, brief(200), budget=1_200)
    assert choices["brief"].body.form == "full"
    assert 2 <= len(choices) - 1 <= 3
    assert "brief" not in fitted(*pieces, brief(200), budget=1_700)


# --- room that is left ----------------------------------------------------------------------------


def test_what_equals_leave_goes_back_to_one_that_was_cut_whoever_stands_in_front_of_it() -> None:
    small = section("small", 100, forms=CUT)
    large = section("large", 3_000, forms=CUT)
    medium = section("medium", 400, forms=CUT)
    chosen = fitted(small, large, medium, budget=2_400)
    assert forms_of(chosen) == {"small": "full", "large": "excerpt", "medium": "full"}
    assert sum(choice.units for choice in chosen.values()) > 2_200


def test_a_share_of_what_the_essentials_leave_holds_where_everything_would_fit() -> None:
    must = section("must", 400, essential=True)
    notes = section("notes", 500, forms=CUT, cap=Share("left", 0.5))
    budget = size_of(must) + size_of(notes)
    chosen = fitted(must, notes, budget=budget)
    assert chosen["notes"].body.form == "excerpt"
    assert chosen["notes"].units <= (budget - size_of(must)) // 2
    # with nothing essential beside it, half of the same budget is enough for it
    free = fitted(section("more", 400), notes, budget=2 * size_of(notes))
    assert free["notes"].body.form == "full"


def test_of_a_tier_with_a_limit_the_floors_of_its_lasting_sections_are_kept_free() -> None:
    lasting = section("rules", 900, rank=1, forms=LASTING)
    first = section("first", 500, rank=3)
    second = section("second", 400, rank=2)
    limit = size_of(first) + size_of(second) + FLOOR_TOKENS // 2
    chosen = fitted(lasting, first, second, budget=3_000, tiers=Tiers(limits={1: limit}))
    assert chosen["first"].body.form == "full"
    assert "second" not in chosen  # or there would be nothing left of the rules
    assert chosen["rules"].units >= FLOOR_TOKENS


@pytest.mark.parametrize("counted", ["o200k", "estimate"])
def test_a_text_that_sections_are_missing_from_says_so_however_long_their_names_are(
    counted: str,
) -> None:
    """A note by names that is longer than the room kept for it gives way to their number."""
    sections = [
        Section(
            tag="doc",
            title=f"test_engine_relevance_{number}a7_Of{number}Qz.spec.ts",
            text=f"Line {number} of the thing states the value {number * 7}.\n" * 3,
            rank=Rank(order=-number),
        )
        for number in range(15)
    ]
    said = set[str]()
    for budget in range(400, 620):
        request = Request(
            budget=Budget(tokens=budget, window_tokens=budget), counter=counter(counted)
        )
        package = assemble(sections, request)
        assert package.report.total_tokens <= budget
        if any(row.form == "gone" for row in package.report.sections):
            note = package.text.splitlines()[-1]
            assert " left out: foreword recall fw_" in note
            said.add("number" if "sections" in note else "names")
    assert said == {"number", "names"}
