"""The same input gives the same bytes, whatever the order in which Python's sets happen to be."""

from __future__ import annotations

import os
import subprocess
import sys

CUTS = """
from foreword.text import cut

def tokens(part):
    return -(-len(part) // 4)

def mark(lines, units):
    return f"[... {(lines, units)}]"

log = "".join(
    f"2026-01-{n % 28 + 1:02} host{n % 3} app: level={n % 4} took {n % 7} ms\\n" for n in range(150)
)
rows = "| a | up | fine again |\\n| b | down | see ERR-7 |\\n"
table = "| host | state | note |\\n|---|---|---|\\n" + rows * 40
body = "The pump stops. The valve stops.\\n\\n- pump\\n- valve\\n\\n"
listed = "".join(f"# Part {n % 5}\\n\\n{body}" for n in range(25))
for text in (log, table, listed, log + table + listed):
    for way in (cut.summary, cut.relevant, cut.excerpt):
        for query in ("", "why does host1 report ERR-7 for the pump and valve"):
            for room in (90, 300):
                print(way(text, room, tokens, mark, query=query))
"""


def cut_under(seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(
        [sys.executable, "-c", CUTS], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_repetitive_text_is_cut_the_same_under_every_hash_seed() -> None:
    first, *others = map(cut_under, range(4))
    assert len(first) > 1_000
    assert all(other == first for other in others)
