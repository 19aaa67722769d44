"""Items of a package in the order of what the task is about, where the newest is not the point."""

from __future__ import annotations

from pathlib import Path

import foreword

TEXTS = {
    "Tea": ("Tea is warm and green.", "2024-05-03"),
    "Retries": ("The retry loop hid the real error.", "2024-01-01"),
    "Trams": ("Trams are often late.", "2024-05-02"),
}


def package(kind: str, tmp_path: Path, budget: int) -> foreword.Package:
    items = [
        {"kind": kind, "title": title, "text": f"{text} " * 20, "created": created}
        for title, (text, created) in TEXTS.items()
    ]
    items.append({"kind": "task", "title": "Task", "text": "Remove the retry loop."})
    return foreword.assemble(
        "package",
        root=tmp_path,
        purpose="implementation",
        source={"items": items},
        budget=budget,
        save=False,
    )


def titles(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line[3:] in TEXTS]


def test_what_the_task_is_about_comes_first_among_learnings(tmp_path: Path) -> None:
    assert titles(package("learning", tmp_path, 4_000).text) == ["Retries", "Tea", "Trams"]


def test_of_results_the_newest_comes_first(tmp_path: Path) -> None:
    assert titles(package("result", tmp_path, 4_000).text) == ["Tea", "Trams", "Retries"]
