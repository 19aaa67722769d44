"""The data sets of `benchmarks.evals` are read as their authors write them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.evals.cases import Case, Turn, evidence_kept, tokens
from benchmarks.evals.datasets import DATASETS
from benchmarks.evals.makers import makers
from benchmarks.repository_tasks import read_tasks
from tests.corpus import DATA


# Each data set as its authors publish it, with the fields that are not read.
def test_every_data_set_is_read() -> None:
    for name, read in DATASETS.items():
        (case,) = read(DATA / "evals" / name)
        assert case.evidence == {0, 1}, name
        assert all(turn.text for turn in case.turns), name


def test_swe_bench_is_read_as_it_is_published(tmp_path: Path) -> None:
    patch = (
        "diff --git a/shop/cart.py b/shop/cart.py\n--- a/shop/cart.py\n+++ b/shop/cart.py\n"
        "@@ -1 +1 @@\n-a\n+b\n"
        "diff --git a/shop/new.py b/shop/new.py\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/shop/new.py\n@@ -0,0 +1 @@\n+c\n"
    )
    case = {
        "repo": "ada/shop",
        "instance_id": "ada__shop-1",
        "base_commit": "0" * 40,
        "patch": patch,
        "test_patch": "",
        "problem_statement": "The cart is empty.",
        "hints_text": "",
        "FAIL_TO_PASS": "[]",
    }
    path = tmp_path / "swe-bench-lite.jsonl"
    path.write_text(json.dumps(case) + "\n", "utf-8")

    (task,) = read_tasks(path)

    assert (task.name, task.project, task.text) == ("ada__shop-1", "ada/shop", "The cart is empty.")
    assert task.files == ("shop/cart.py",)  # what a fix adds is nowhere to be found before it


def test_everybody_keeps_to_the_size_and_is_scored_alike() -> None:
    turns = [Turn(text=f"Turn {number} about tea.", speaker="Ada") for number in range(60)]
    turns[30] = Turn(text="The cat is called Mia.", speaker="Ben")
    case = Case(turns=turns, question="What is the cat called?", evidence=frozenset([30]))
    scores: dict[str, float | None] = {}
    for name, maker in makers().items():
        text = maker(case, 100)
        assert tokens(text) <= 101, name
        scores[name] = evidence_kept(case, text)
    assert scores["foreword.fit"] == scores["BM25"] == 1.0
    assert scores["recent"] == scores["head + tail"] == 0.0
