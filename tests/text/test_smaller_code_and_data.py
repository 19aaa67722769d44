"""Smaller forms of code with conditions around it, and of data on several lines, in every room."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from benchmarks import form_checks
from foreword.text import cut
from tests.corpus import text_of
from tests.text.smaller_forms import mark

WAYS = [cut.summary, cut.relevant, cut.excerpt]

KILN_C = text_of("forms/kiln.c")
SHELVES_RS = text_of("forms/shelves.rs")
HOOKS_YAML = text_of("forms/hooks.yaml")
POTS_TOML = text_of("forms/pots.toml")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        (KILN_C, "kiln.c", "c"),
        (SHELVES_RS, "shelves.rs", "rust"),
        (HOOKS_YAML, "hooks.yaml", "yaml"),
        (POTS_TOML, "pots.toml", "toml"),
    ],
)
def test_what_stands_under_a_condition_in_a_bracket_or_in_a_function_stays_there(
    text: str, name: str, kind: str, way: Callable[..., str | None]
) -> None:
    document = form_checks.Document(text, kind)
    for room in range(110, len(text), 9):
        form = way(text, room, len, mark, query="match wire shelves salt wet", name=name)
        if form is not None:
            assert list(form_checks.findings(document, form, room)) == [], form


def test_code_stands_under_its_own_branch_and_the_branch_under_its_condition() -> None:
    for room in range(110, len(KILN_C), 9):
        form = cut.relevant(KILN_C, room, len, mark, query="match wood wire", name="kiln.c") or ""
        for said, branch in (
            ("light_wood(int", "#elif defined(KILN_WOOD)"),
            ("switch_on(int", "#else /* by wire */"),
            ("#else", "#if defined(KILN_GAS) || \\\n    defined(KILN_OIL)\n"),
        ):
            assert said not in form or branch in form, form


def test_no_statement_of_a_function_is_dropped_for_what_it_is_given_to_call() -> None:
    for room in range(110, len(SHELVES_RS), 9):
        form = cut.excerpt(SHELVES_RS, room, len, mark, name="shelves.rs") or ""
        assert ("Some(shelves)" in form) == ("let _ = door.each_row(" in form), form


def test_items_that_are_indented_as_code_keep_what_leads_in_to_them() -> None:
    items = "".join(
        f"     * Pots of the shelf number {word} may be sold, and whoever buys one has to\n"
        f"       say where it will stand.\n\n"
        for word in ("one", "two", "three", "four", "five")
    )
    text = f"Terms\n\nNone of this holds unless the owner has signed:\n\n{items}Signed by all.\n"
    for room in range(140, len(text), 9):
        form = cut.relevant(text, room, len, mark, query="shelf number four sold") or ""
        assert "may be sold" not in form or "None of this holds" in form, form


def test_the_last_line_is_counted_where_it_has_no_line_break() -> None:
    form = cut.excerpt("number,grams\n" + "1,2," * 200, 120, len, mark, name="pots.csv") or ""
    assert "[... 1 lines, " in form


CARGO_LOCK = "version = 3\n\n" + "".join(
    f'[[package]]\nname = "pot-{n}"\nversion = "0.{n}.1"\ndependencies = [\n'
    + "".join(f' "clay-{n}-{other}",\n' for other in range(n))
    + "]\n\n"
    for n in range(1, 16)
)
YARN_LOCK = "# written by a program\n\n\n" + "".join(
    f'"pot-{n}@^1.{n}.0":\n  version "1.{n}.4"\n  dependencies:\n    "clay-{n}" "^2.0"\n\n'
    for n in range(1, 16)
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "name"), [(CARGO_LOCK, "Cargo.lock"), (YARN_LOCK, "yarn.lock")])
def test_what_a_locked_version_depends_on_stands_under_its_name(
    text: str, name: str, way: Callable[..., str | None]
) -> None:
    for room in range(150, len(text), 31):
        form = way(text, room, len, mark, query="clay-7 clay-9-3 version", name=name) or ""
        for block in re.split(r"\n(?=\[\[|\"pot)", form)[1:]:
            numbers = set(re.findall(r"(?:pot|clay)-(\d+)", block))
            assert len(numbers) <= 1, form


def test_records_with_the_same_keys_are_no_yaml() -> None:
    text = "".join(
        f"Date: 2026-11-{n:02}  14:36:25\nCommand: fire pot-{n}\nRemoved: pot-{n}\n\n"
        for n in range(10, 30)
    )
    for room in range(150, len(text), 41):
        form = cut.excerpt(text, room, len, mark, name="history.txt") or ""
        assert form.count("Date:") == form.count("Command:") == form.count("Removed:"), form


def test_the_mark_for_all_that_is_missing_does_not_stand_inside_a_code_block() -> None:
    commands = "".join(
        f"# How pot {n} is fired\nfire pot-{n} --slowly --twice\n\n" for n in range(20)
    )
    text = f"# Pots\n\n```bash\n{commands}```\n\n" + "Every pot has a number.\n\n" * 20
    for room in range(260, len(text), 47):
        form = cut.excerpt(text, room, len, mark, name="README.md") or ""
        inside = re.search(r"```bash\n(.*?)```", form, re.DOTALL)
        assert inside is None or "foreword recall" not in inside[1], form


KILN_RB = "class Kiln\n  MOST = 9\n\n{}\n  private\n\n{}end\n".format(
    *[
        "".join(
            f"  def {name}_{n}(which)\n    found = which + {n}\n    count(found)\n  end\n\n"
            for n in range(6)
        )
        for name in ("light", "look")
    ]
)
KILN_CPP = (
    "#include <kiln.h>\n\nclass Kiln {{\n public:\n{}\n private:\n  int most;\n{}}};\n".format(
        *[
            "".join(
                f"  int {name}_{n}(int which) {{\n    int found = {n};\n    return found;\n  }}\n\n"
                for n in range(6)
            )
            for name in ("light", "look")
        ]
    )
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "name"), [(KILN_RB, "kiln.rb"), (KILN_CPP, "kiln.cpp")])
def test_what_is_private_stands_below_the_line_that_says_so(
    text: str, name: str, way: Callable[..., str | None]
) -> None:
    for room in range(110, len(text), 9):
        form = way(text, room, len, mark, query="look_3 look_5", name=name) or ""
        first = re.search(r"^\s*(?:def|int) look_\d\(", form, re.MULTILINE)
        assert first is None or "private" in form[: first.start()], form
