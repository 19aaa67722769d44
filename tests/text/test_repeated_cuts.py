"""A text that was cut before is cut as if it had never been seen, whatever the rooms were."""

from __future__ import annotations

import random

import pytest

from foreword.text import cut, narrow
from tests.text.test_cut import WAYS, mark, prose

LONG_LINE = "The pump stops. " * 60
TEXTS = {
    "prose": prose(12),
    "a line that is larger than most rooms": f"# Pump\n\n{LONG_LINE}\n\n{prose(3)}",
    "rows": "| host | state |\n|---|---|\n" + "| a | down, see ERR-7 |\n" * 80,
    "json": str([{"id": number, "state": "down"} for number in range(60)]).replace("'", '"'),
}


def quarters(text: str) -> int:
    return -(-len(text) // 4)


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_a_cut_does_not_depend_on_the_cuts_before_it(text: str) -> None:
    pick = random.Random(14)
    narrow.whole_layout.cache_clear()
    for _ in range(40):
        way = pick.choice(WAYS)
        room = pick.randint(20, 500)
        query = pick.choice(("", "why does the pump report ERR-7"))
        again = way(text, room, quarters, mark, query=query)
        narrow.whole_layout.cache_clear()
        assert way(text, room, quarters, mark, query=query) == again
        if pick.random() < 0.5:  # the next one finds the layout of a large room or of a small one
            narrow.whole_layout.cache_clear()
            cut.excerpt(text, pick.randint(20, 500), quarters, mark)
