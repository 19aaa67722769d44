"""What a task names."""

from __future__ import annotations

from foreword.repository.task_words import Frame, words_of
from tests.repository.checkout import TRACE


def test_frames_of_a_trace_come_in_their_order() -> None:
    assert words_of(TRACE).frames == (
        Frame("/home/me/app.py", 3, "<module>"),
        Frame("/usr/lib/python3/site-packages/shop/cart.py", 15, "total"),
    )
    assert words_of("at pay (src/cart.js:12:5)").frames == (Frame("src/cart.js", 12),)


def test_names_paths_and_modules_are_found() -> None:
    task = words_of(
        "Fix `PriceList.lookup`\n\nsee shop/prices.py and cart.py, or\n"
        "```\nfrom shop.prices import with_tax\n```\n"
    )

    assert {"PriceList", "lookup", "with_tax"} <= task.names.keys()
    assert {"shop/prices.py", "cart.py"} <= set(task.paths)
    assert {"shop.prices", "shop.prices.with_tax"} <= set(task.modules)
    assert task.names["PriceList"] > task.names["see"]


def test_a_hostile_task_is_read_in_the_end() -> None:
    for text in ("a/" * 20_000, "a." * 20_000, '"' * 30_000, "```" * 10_000, "A" * 30_000):
        words_of(text)
