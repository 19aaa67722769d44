"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import foreword
from foreword.pattern import lazy_pattern


def patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Every pattern at the top of a module, with its name."""
    for module in pkgutil.walk_packages(foreword.__path__, "foreword."):
        if module.name.endswith(".__main__") or ".integrations." in module.name:
            continue
        for name, value in vars(import_module(module.name)).items():
            if type(value).__name__ == "_LazyPattern":
                yield f"{module.name}.{name}", value


def test_every_pattern_of_the_package_compiles() -> None:
    found = dict(patterns())
    assert len(found) > 200
    for name, pattern in found.items():
        assert pattern.groups >= 0, name


def test_a_lazy_pattern_answers_as_a_compiled_one_does() -> None:
    lazy = lazy_pattern(r"(?P<word>[a-z]+)\s", re.IGNORECASE)
    plain = re.compile(r"(?P<word>[a-z]+)\s", re.IGNORECASE)
    text = "Kiln and glaze 4"
    assert lazy.pattern == plain.pattern
    assert lazy.flags == plain.flags
    assert lazy.groupindex == plain.groupindex
    for _ in range(2):
        assert lazy.findall(text) == plain.findall(text)
        assert lazy.sub("-", text) == plain.sub("-", text)
    assert lazy_pattern(rb"\d").findall(b"4 5") == [b"4", b"5"]


def test_a_mistake_in_a_lazy_pattern_shows_when_it_is_used() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.match("")


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.4 (Debian 12 has 3.11.2) keeps what the last, failed round of such a group
    has read; an atomic group around it says the same and is right everywhere."""
    package = Path(foreword.__file__).parent
    found = list[str]()
    for path in package.rglob("*.py"):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            code = line.partition("  #")[0]
            if re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", code) and not code.lstrip().startswith("#"):
                found.append(f"{path.relative_to(package)}:{number}")
    assert found == []
