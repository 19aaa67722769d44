"""Items come from JSON, from folders and files of any kind, and from standard input, with errors
that name the place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from foreword.errors import BadSource
from foreword.sources import items as source_items
from foreword.sources.items import Item, iso
from foreword.sources.json_state import read_state
from tests.command import fd_path


def read_items(where: str, root: Path, stdin: Callable[[], bytes]) -> tuple[list[Item], list[str]]:
    """The items, and the notes with those on what was left out."""
    read = source_items.read_items(where, root, stdin)
    left_out = [f"{skip.path}: {skip.reason}" for skip in read.left_out]
    return read.items, [*left_out, *read.notes]


def no_input() -> bytes:
    raise AssertionError("standard input is not to be read")


def put(root: Path, path: str, text: str | bytes) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode() if isinstance(text, str) else text)
    return place


def from_json(tmp_path: Path, content: object) -> tuple[list[Item], list[str]]:
    return read_items(str(put(tmp_path, "items.json", json.dumps(content))), tmp_path, no_input)


def from_markdown(tmp_path: Path, text: str) -> tuple[Item, list[str]]:
    put(tmp_path, "notes1/a.md", text)
    (item,), notes = read_items(str(tmp_path / "notes1"), tmp_path, no_input)
    return item, [note.partition("a.md: ")[2] for note in notes]


def test_json_items_keep_their_order_and_their_fields(tmp_path: Path) -> None:
    full = {
        "kind": "Assumption",
        "title": "Users read",
        "text": "They do.",
        "created": "2024-03-05T10:00:00+02:00",
        "status": "active",
        "validated": True,
        "source": "talk",
        "owner": "kim",
        "weight": 3,
        "tags": ["ä"],
    }
    (first, second), notes = from_json(tmp_path, {"items": [full, {"text": "# Head\nrest"}]})
    assert first == Item(
        kind="assumption",
        title="Users read",
        text="They do.",
        created="2024-03-05T08:00:00+00:00",
        status="active",
        validated=True,
        source="talk",
    )
    assert (second.kind, second.title, second.validated, second.created) == (
        "doc",
        "Head",
        None,
        "",
    )
    assert second.source.endswith("items.json items[1]")
    assert notes == []


def test_a_bare_list_and_standard_input_are_accepted(tmp_path: Path) -> None:
    (item,), _ = read_items(
        "-", tmp_path, lambda: b'\xef\xbb\xbf[{"kind": "task", "title": "T", "text": "do"}]'
    )
    assert item == Item(kind="task", title="T", text="do", source="standard input items[0]")


def test_a_place_is_looked_up_from_here_and_then_from_the_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "here/items.json", '[{"text": "here"}]')
    put(tmp_path, "root/items.json", '[{"text": "root"}]')
    put(tmp_path, "root/more.json", '[{"text": "more"}]')
    monkeypatch.chdir(tmp_path / "here")
    assert read_items("items.json", tmp_path / "root", no_input)[0][0].text == "here"
    assert read_items("more.json", tmp_path / "root", no_input)[0][0].text == "more"
    (tmp_path / "here/link.json").symlink_to(tmp_path / "root/more.json")
    assert read_items("link.json", tmp_path / "root", no_input)[0][0].text == "more"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"items": [{"text": "a"}, {"text": 5}]}, "items[1].text: must be text, not a number"),
        ([{"text": None}], "items[0].text: must be text, not nothing"),
        ([{"title": "x"}], "items[0].text: is missing"),
        ([{"text": "a", "kind": ["x"]}], "items[0].kind: must be text, not a list"),
        (
            [{"text": "a", "validated": "yes"}],
            "items[0].validated: must be true or false, not text",
        ),
        ([{"text": "a", "created": 20240305}], "items[0].created: must be text, not a number"),
        ([5], "items[0]: must be an object or a text, not a number"),
        ({"items": {"a": 1}}, "items: must be a list, not an object"),
        ({"things": []}, "items: is missing"),
        ("words", "items: must be a list, not text"),
        (None, "items: must be a list, not nothing"),
    ],
)
def test_json_of_the_wrong_shape_names_the_place(
    tmp_path: Path, content: object, problem: str
) -> None:
    with pytest.raises(BadSource) as caught:
        from_json(tmp_path, content)
    assert str(caught.value).endswith(f"items.json: {problem}")


def test_malformed_json_is_told_with_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"standard input:3:3: not valid JSON") as caught:
        read_items("-", tmp_path, lambda: b'[\n  {"text": "a"},\n  oops\n]')
    assert (caught.value.line, caught.value.column) == (3, 3)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\0\1", "binary"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"text": "a", "n": ' + b"9" * 5_000 + b"}]", "not usable JSON"),
    ],
)
def test_input_that_is_no_json_is_a_clear_error(tmp_path: Path, raw: bytes, problem: str) -> None:
    with pytest.raises(BadSource, match=problem):
        read_items("-", tmp_path, lambda: raw)


def test_a_missing_place_says_what_to_give(tmp_path: Path) -> None:
    for where in ("none.json", "", "nul\0"):
        with pytest.raises(BadSource) as caught:
            read_items(where, tmp_path, no_input)
        assert "JSON on standard input" in caught.value.hint


def test_what_is_neither_file_nor_folder_never_blocks(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BadSource, match="a pipe that nobody writes to"):
        read_items(str(tmp_path / "fifo"), tmp_path, no_input)
    with pytest.raises(BadSource, match="not a regular file"):
        read_items("/dev/zero", tmp_path, no_input)


def test_a_source_may_be_the_pipe_of_a_shell(tmp_path: Path) -> None:
    (item,), _ = read_items(fd_path(b'[{"kind": "goal", "text": "Ship it."}]'), tmp_path, no_input)
    assert (item.kind, item.text) == ("goal", "Ship it.")
    assert read_state(fd_path(b'{"units": []}'), tmp_path, no_input) == {"units": []}


@pytest.mark.parametrize("where", ["~nosuchuser/notes.json", "none.json", "", "nul\0", "a" * 5_000])
def test_a_place_that_can_not_be_is_a_bad_source_for_both_readers(
    tmp_path: Path, where: str
) -> None:
    for read in (read_items, read_state):
        with pytest.raises(BadSource):
            read(where, tmp_path, no_input)


def test_a_number_of_five_thousand_digits_is_a_bad_source(tmp_path: Path) -> None:
    digits = "7" * 5_000
    for read, text in (
        (read_items, f'[{{"text": "x", "n": {digits}}}]'),
        (read_state, f'{{"n": {digits}}}'),
    ):
        with pytest.raises(BadSource, match="not usable JSON"):
            read("-", tmp_path, text.encode)
    item, notes = from_markdown(tmp_path, f"---\ntitle: {digits}\nn: {digits}\n---\nbody")
    assert "body" in item.text
    assert isinstance(notes, list)


def test_a_file_has_its_path_inside_the_source_and_its_type_for_a_kind(tmp_path: Path) -> None:
    put(tmp_path, "decisions/a.md", "A.")
    put(tmp_path, "decisions/goals/b.go", "package b\n")
    items, _ = read_items(str(tmp_path / "decisions"), tmp_path, no_input)
    found = [(item.path, item.kind, item.content_type, item.is_kind_stated) for item in items]
    assert found == [("a.md", "", "markdown", False), ("goals/b.go", "", "go", False)]


DIFF = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
MERGE = (
    "diff --cc a.py\nindex 1,2..3\n--- a/a.py\n+++ b/a.py\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n"
)


@pytest.mark.parametrize(
    ("text", "content_type"),
    [
        (DIFF, "diff"),
        (MERGE, "diff"),
        ("# Notes\n\nKeep it.\n", "markdown"),
        ("[INFO] started\n[INFO] stopped\n[INFO] started\n[INFO] stopped\n", "log"),
    ],
)
def test_a_diff_or_a_text_on_standard_input_is_one_item(
    tmp_path: Path, text: str, content_type: str
) -> None:
    (item,), notes = read_items("-", tmp_path, text.encode)
    assert (item.text.strip(), item.content_type, notes) == (text.strip(), content_type, [])


def test_odd_but_usable_json_leaves_a_note(tmp_path: Path) -> None:
    entries = [{"text": " "}, {"text": "lone \ud800 \0", "created": "soon"}]
    (item,), notes = from_json(tmp_path, entries)
    assert item.text == "lone \ufffd \ufffd"
    assert item.created == ""
    assert [note.partition("items.json: ")[2] for note in notes] == [
        "items[0] is empty and left out",
        "items[1].created: 'soon' is not a date",
    ]
    assert from_json(tmp_path, [])[1][0].endswith("holds no items")


def test_a_folder_gives_its_files_in_natural_order(tmp_path: Path) -> None:
    put(
        tmp_path,
        "ctx/decisions/10-cache.md",
        "---\ntitle: Cache\ncreated: 2024-3-5\n---\n\nKeep it.\n",
    )
    put(tmp_path, "ctx/decisions/2-store.md", "# Store\n\nSQLite.\n")
    put(tmp_path, "ctx/criteria/one.markdown", "Fast.\n")
    put(tmp_path, "ctx/2024-03/log.md", "```\n# no heading\n```\n")
    put(tmp_path, "ctx/stories/s.txt", "A story.")
    items, notes = read_items(str(tmp_path / "ctx"), tmp_path, no_input)
    assert [(item.path, item.title, item.created) for item in items] == [
        ("2024-03/log.md", "log", ""),
        ("criteria/one.markdown", "one", ""),
        ("decisions/2-store.md", "Store", ""),
        ("decisions/10-cache.md", "Cache", "2024-03-05"),
        ("stories/s.txt", "s", ""),
    ]
    assert items[3].text == "Keep it."
    assert items[3].source == f"{tmp_path}/ctx/decisions/10-cache.md"
    assert notes == []


def test_one_markdown_file_is_one_item(tmp_path: Path) -> None:
    place = put(tmp_path, "decisions/a.md", "---\nkind: Blocker\nowner: kim\n---\nbody")
    assert read_items(str(place), tmp_path, no_input) == (
        [
            Item(
                kind="blocker",
                title="a",
                text="body",
                source=str(place),
                path="a.md",
                content_type="markdown",
            )
        ],
        [],
    )


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("lanes.rst", ".. _lanes:\n\n=====\nLanes\n=====\n\n::\n\n    # no title\n", "Lanes"),
        ("lanes.rst", "Closing time\n~~~~~~~~~~~~\n\nAt nine.\n", "Closing time"),
        ("lanes.adoc", ":toc:\n\n= Lanes\n\nThe lane is shut.\n", "Lanes"),
        ("lanes.org", "* Lanes\nThe lane is shut.\n", "Lanes"),
        ("lanes.mdx", 'import { Lane } from "./lane"\n\n# Lanes\n\nShut.\n', "Lanes"),
        ("lanes.rst", "The lane is shut.\n", "lanes"),
    ],
)
def test_documents_in_other_markup_are_items_with_their_title(
    tmp_path: Path, name: str, text: str, title: str
) -> None:
    put(tmp_path, f"notes/{name}", text)
    (item,), notes = read_items("notes", tmp_path, no_input)
    assert (item.title, item.text, notes) == (title, text.strip(), [])


def test_a_folder_without_texts_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "a.png", b"\x89PNG\0")
    with pytest.raises(BadSource, match=r"holds no text file; .*a.png: binary"):
        read_items(str(tmp_path), tmp_path, no_input)


def test_files_that_hold_nothing_are_left_out_with_a_note(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "")
    put(tmp_path, "b.md", "---\ntitle: x\n---\n \n")
    put(tmp_path, "c.md", b"a\0b")
    put(tmp_path, "d.md", "caf\xe9".encode("latin-1"))
    items, notes = read_items(str(tmp_path), tmp_path, no_input)
    assert [item.text for item in items] == ["café"]
    assert [note.partition(f"{tmp_path}/")[2] for note in notes] == [
        "a.md: empty",
        "c.md: binary",
        "b.md: nothing but front matter",
        "d.md: not UTF-8: read as cp1252",
    ]


@pytest.mark.parametrize("block", ["kind: [", "- a", "a: &a [*a]", "kind: decision\n# no end"])
def test_front_matter_that_lies_costs_its_fields_and_not_the_text(
    tmp_path: Path, block: str
) -> None:
    text = f"---\n{block}\n" + ("---\nbody" if "no end" not in block else "body")
    item, notes = from_markdown(tmp_path, text)
    assert (item.kind, item.text) == ("", text)
    assert len(notes) == 1
    assert notes[0].endswith("the file is used as a whole")


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("kind: 5", "kind: must be text, not a number; ignored"),
        ("kind: [a]", "kind: must be text, not a list; ignored"),
        ("created: not-a-date", "created: 'not-a-date' is not a date; ignored"),
        ("created: 2024-13-45", "created: '2024-13-45' is not a date; ignored"),
        ("created: 5", "created: '5' is not a date; ignored"),
        ("validated: maybe", "validated: must be true or false, not text; ignored"),
        ("title: {a: b}", "title: must be text, not an object; ignored"),
    ],
)
def test_a_field_that_lies_costs_only_itself(tmp_path: Path, line: str, note: str) -> None:
    item, notes = from_markdown(tmp_path, f"---\nstatus: active\n{line}\n---\n# Head\n")
    assert notes == [note]
    assert (item.kind, item.title, item.created, item.status, item.validated) == (
        "",
        "Head",
        "",
        "active",
        None,
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2024-03-05", "2024-03-05"),
        ("2024/3/5", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("2024-03-05 10:30", "2024-03-05T10:30:00"),
        ("2024-03-05T10:30:00Z", "2024-03-05T10:30:00+00:00"),
        ("2024-03-05 10:30:00 +02:00", "2024-03-05T08:30:00+00:00"),
        ("0001-01-01T00:00:00+12:00", ""),
        ("March 5", ""),
        ("", ""),
    ],
)
def test_dates_are_told_in_one_way(given: str, expected: str) -> None:
    assert iso(given) == expected


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/gone.md").symlink_to("nowhere")
    with pytest.raises(
        BadSource,
        match=r"no text file; notes/gone.md: a symbolic link that leads nowhere",
    ):
        read_items("notes", tmp_path, no_input)
    put(tmp_path, "notes/a.md", "# A\n\nText.\n")
    items, notes = read_items("notes", tmp_path, no_input)
    assert [item.title for item in items] == ["A"]
    assert notes[0] == "notes/gone.md: a symbolic link that leads nowhere"


def test_a_file_that_says_what_another_says_is_in_once_and_that_is_told(tmp_path: Path) -> None:
    for folder in ("claude/skills/kiln", "codex/skills/kiln", "cursor/skills/kiln"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "SKILL.md").write_text("# Kiln\n\nHeat it slowly.\n")
    (tmp_path / "cursor/skills/kiln/SKILL.md").write_text("# Kiln\n\nHeat it quickly.\n")
    items, notes = read_items(str(tmp_path), tmp_path, no_input)
    assert [item.text for item in items] == [
        "# Kiln\n\nHeat it slowly.",
        "# Kiln\n\nHeat it quickly.",
    ]
    (note,) = notes
    assert "codex/skills/kiln/SKILL.md: says what" in note


def test_what_is_hidden_is_named_and_not_read(tmp_path: Path) -> None:
    for folder in (".claude/skills/kiln", "templates/.cursor/rules", ".git/info", "node_modules"):
        put(tmp_path, f"{folder}/a.md", "# Kiln\n\nHeat it slowly.\n")
    put(tmp_path, ".env", "A=1\n")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadSource, match=r"no text file; .*/pipe: not a regular file; .*hidden"):
        read_items(str(tmp_path), tmp_path, no_input)
    (tmp_path / "pipe").unlink()
    put(tmp_path, "b.md", "# Glaze\n")
    items, notes = read_items(str(tmp_path), tmp_path, no_input)
    assert [item.title for item in items] == ["Glaze"]
    assert [note.removeprefix(f"{tmp_path}/") for note in notes] == [
        "node_modules: filled by a tool: give it by its own name",
        ".env: hidden: give it by its own name",
        ".claude: hidden: give it by its own name",
        "templates/.cursor: hidden: give it by its own name",
    ]
    (item,), _ = read_items(str(tmp_path / ".claude"), tmp_path, no_input)
    assert item.title == "Kiln"
