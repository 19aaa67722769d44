"""Files are read whole, decoded honestly, and never from outside the root."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import BadSource, OutsideRoot
from foreword.sources import files
from foreword.sources.files import File, Skip


def put(root: Path, path: str, content: str | bytes = "text\n") -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def reason(found: File | Skip) -> str:
    assert isinstance(found, Skip), found
    return found.reason


def text(found: File | Skip) -> str:
    assert isinstance(found, File), found
    return found.text


def test_a_file_comes_back_as_text_with_its_bytes(tmp_path: Path) -> None:
    put(tmp_path, "docs/VISION.md", "# Vision\r\n\r\nGrüße\r\n")
    assert files.read(tmp_path, "docs/VISION.md") == File(
        "docs/VISION.md", "# Vision\r\n\r\nGrüße\r\n", "# Vision\r\n\r\nGrüße\r\n".encode()
    )


def test_an_absolute_path_inside_the_root_is_told_relative_to_it(tmp_path: Path) -> None:
    place = put(tmp_path, "a/b.md")
    found = files.read(tmp_path, str(place))
    assert isinstance(found, File)
    assert found.path == "a/b.md"


def test_dots_that_stay_inside_the_root_are_resolved(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md")
    (tmp_path / "c").mkdir()
    found = files.read(tmp_path, "c/../a/./b.md")
    assert isinstance(found, File)
    assert found.path == "a/b.md"


def test_the_root_may_itself_be_a_symbolic_link(tmp_path: Path) -> None:
    place = put(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to("real")
    assert text(files.read(tmp_path / "link", "a.md")) == "text\n"
    assert text(files.read(tmp_path / "link", str(place))) == "text\n"


@pytest.mark.parametrize(
    "path",
    ["../secret.md", "a/../../secret.md", "/etc/passwd", "out.md", "folder/secret.md", "twice.md"],
)
def test_no_path_and_no_link_leads_out_of_the_root(tmp_path: Path, path: str) -> None:
    secret = put(tmp_path, "secret.md", "secret")
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)
    (root / "out.md").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    (root / "twice.md").symlink_to("out.md")
    assert reason(files.read(root, path)) == "outside the root"
    with pytest.raises(OutsideRoot):
        files.read(root, path, must=True)


def test_a_neighbour_whose_name_begins_like_the_root_is_outside(tmp_path: Path) -> None:
    put(tmp_path, "root-two/a.md")
    (tmp_path / "root").mkdir()
    assert reason(files.read(tmp_path / "root", "../root-two/a.md")) == "outside the root"


def test_a_link_inside_the_root_is_followed_and_keeps_its_name(tmp_path: Path) -> None:
    put(tmp_path, "docs/real.md", "here")
    (tmp_path / "alias.md").symlink_to("docs/real.md")
    found = files.read(tmp_path, "alias.md")
    assert isinstance(found, File)
    assert (found.path, found.text) == ("alias.md", "here")


def test_what_is_no_regular_file_is_never_opened_for_reading(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        assert reason(files.read(tmp_path, "socket")) == "not a regular file"
    assert reason(files.read(tmp_path, "fifo")) == "not a regular file"
    assert reason(files.read(tmp_path, "folder")) == "a folder"
    assert reason(files.read(tmp_path, ".")) == "a folder"
    assert reason(files.read(tmp_path, "loop")) == "a symbolic link that leads nowhere"


@pytest.mark.parametrize("path", ["none.md", "no/such/folder.md", "a.md/below.md"])
def test_a_missing_file_is_skipped_or_named_in_an_error(tmp_path: Path, path: str) -> None:
    put(tmp_path, "a.md")
    assert files.read(tmp_path, path) == Skip(path, "missing")
    with pytest.raises(BadSource, match="missing") as caught:
        files.read(tmp_path, path, must=True)
    assert str(tmp_path) in caught.value.hint


@pytest.mark.parametrize("path", ["nul\0.md", "lone\ud800.md"])
def test_a_path_that_no_file_can_have_is_a_reason_not_a_crash(tmp_path: Path, path: str) -> None:
    assert reason(files.read(tmp_path, path)) == "not a valid file name"


def test_a_name_that_is_too_long_is_unreadable(tmp_path: Path) -> None:
    assert reason(files.read(tmp_path, "x" * 300)).startswith("unreadable")


@pytest.mark.skipif(
    sys.platform != "linux", reason="needs a file that opens and then can't be read"
)
def test_a_file_that_opens_and_then_fails_is_unreadable() -> None:
    assert reason(files.read(Path("/proc/self"), "mem")).startswith("unreadable")


@pytest.fixture
def anybody() -> Iterator[Path]:
    """A folder that anybody may enter, and a test that is nobody in particular: to root nothing
    is forbidden."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        me = os.geteuid()
        if me == 0:
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            os.seteuid(me)


def test_a_forbidden_file_is_unreadable(anybody: Path) -> None:
    put(anybody, "a.md").chmod(0)
    assert reason(files.read(anybody, "a.md")) == "unreadable: permission denied"


@pytest.mark.parametrize("content", ["", " \n\t\r\n", "\ufeff"])
def test_a_file_without_content_is_empty(tmp_path: Path, content: str) -> None:
    put(tmp_path, "a.md", content)
    assert reason(files.read(tmp_path, "a.md")) == "empty"


@pytest.mark.parametrize(
    ("raw", "expected", "notes"),
    [
        (b"\xef\xbb\xbfhello", "hello", ()),
        ("grüß".encode("utf-16"), "grüß", ("read as UTF-16",)),
        (b"\xfe\xff" + "grüß".encode("utf-16-be"), "grüß", ("read as UTF-16",)),
        ("grüß".encode("utf-32"), "grüß", ("read as UTF-32",)),
        (
            "a\0\0b".encode("utf-16"),
            "a\ufffd\ufffdb",
            ("read as UTF-16", "2 NUL characters replaced"),
        ),
        ("“Grüße”".encode("cp1252"), "“Grüße”", ("not UTF-8: read as cp1252",)),
        (b"caf\xe9 \x81", "café \x81", ("not UTF-8: read as latin-1",)),
    ],
)
def test_encodings_are_recognised_and_told(
    tmp_path: Path, raw: bytes, expected: str, notes: tuple[str, ...]
) -> None:
    put(tmp_path, "a.md", raw)
    assert files.read(tmp_path, "a.md") == File("a.md", expected, raw, notes)


@pytest.mark.parametrize(
    "raw", [b"\x89PNG\0\0\0", b"a\0b", bytes(range(1, 256)) * 4, b"\xff\xfe\x00\xd8x"]
)
def test_bytes_that_are_no_text_are_binary(tmp_path: Path, raw: bytes) -> None:
    put(tmp_path, "a.bin", raw)
    assert reason(files.read(tmp_path, "a.bin")) == "binary"
    with pytest.raises(BadSource, match="binary"):
        files.read(tmp_path, "a.bin", must=True)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "huge.log").touch()
    os.truncate(tmp_path / "huge.log", files.LARGEST_BYTES + 1)
    assert reason(files.read(tmp_path, "huge.log")) == "larger than 64 MiB"


def test_reading_leaves_no_descriptor_open(tmp_path: Path) -> None:
    put(tmp_path, "a/b.md")
    os.mkfifo(tmp_path / "fifo")
    before = len(list(Path("/dev/fd").iterdir()))
    for path in ("a/b.md", "a", "fifo", "none", "a/b.md/c", "../x"):
        files.read(tmp_path, path)
    assert len(list(Path("/dev/fd").iterdir())) == before


@given(st.binary(max_size=200))
def test_any_bytes_are_text_or_binary_and_never_half_a_character(raw: bytes) -> None:
    try:
        decoded, _ = files.decode(raw)
    except UnicodeDecodeError:
        return
    assert "\0" not in decoded
    decoded.encode()


@given(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).filter(
        lambda t: t[:1] != "\ufeff"
    )
)
def test_utf8_text_is_read_as_it_was_written(written: str) -> None:
    assert files.decode(written.encode()) == (written, ())


def test_a_glob_finds_files_in_natural_order(tmp_path: Path) -> None:
    for path in (
        "tasks/10-z.md",
        "tasks/2-y.md",
        "tasks/1/10.md",
        "tasks/1/9.md",
        "tasks/x.txt",
        "README.md",
    ):
        put(tmp_path, path)
    assert files.find(tmp_path, "tasks/*.md") == ["tasks/2-y.md", "tasks/10-z.md"]
    assert files.find(tmp_path, "**/*.md") == [
        "README.md",
        "tasks/1/9.md",
        "tasks/1/10.md",
        "tasks/2-y.md",
        "tasks/10-z.md",
    ]
    assert files.find(tmp_path, "tasks/**") == [
        "tasks/1/9.md",
        "tasks/1/10.md",
        "tasks/2-y.md",
        "tasks/10-z.md",
        "tasks/x.txt",
    ]
    assert files.find(tmp_path, "./**/**/*.md") == files.find(tmp_path, "**/*.md")
    assert files.find(tmp_path, str(tmp_path / "*.md")) == ["README.md"]
    assert (
        files.find(tmp_path, "nothing/*.md")
        == files.find(tmp_path, "")
        == files.find(tmp_path, "tasks/")
        == []
    )


def test_hidden_names_are_found_only_where_the_pattern_names_them(tmp_path: Path) -> None:
    for path in (".director/VISION.md", ".director/.trash/old.md", "docs/.draft.md", "docs/a.md"):
        put(tmp_path, path)
    assert files.find(tmp_path, "**/*.md") == ["docs/a.md"]
    assert files.find(tmp_path, ".director/**/*.md") == [".director/VISION.md"]
    assert files.find(tmp_path, "**/.director/*") == [".director/VISION.md"]
    assert files.find(tmp_path, "docs/.*") == ["docs/.draft.md"]


def test_a_wildcard_does_not_descend_into_what_tools_fill(tmp_path: Path) -> None:
    for folder in ("node_modules", "__pycache__", ".venv", "venv", ".git", "a/node_modules", "b"):
        put(tmp_path, f"{folder}/x.md")
    put(tmp_path, "b/venv")
    assert files.find(tmp_path, "**/*.md") == files.find(tmp_path, "*/x.md") == ["b/x.md"]
    assert files.find(tmp_path, ".*/x.md") == []
    assert files.find(tmp_path, "node_modules/*.md") == ["node_modules/x.md"]
    assert files.find(tmp_path, "**/node_modules/x.md") == [
        "a/node_modules/x.md",
        "node_modules/x.md",
    ]
    assert files.find(tmp_path, ".git/**/*.md") == [".git/x.md"]
    assert files.find(tmp_path, "b/v*") == ["b/venv"]


def test_a_name_with_brackets_is_found_as_it_is_written(tmp_path: Path) -> None:
    put(tmp_path, "app/[id]/page.tsx")
    assert files.find(tmp_path, "app/[id]/page.tsx") == ["app/[id]/page.tsx"]


def test_a_glob_never_follows_a_link_out_of_the_root_nor_into_a_circle(tmp_path: Path) -> None:
    put(tmp_path, "outside/secret.md")
    put(tmp_path, "root/docs/a.md")
    root = tmp_path / "root"
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "secret.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "docs/again").symlink_to(root)
    (root / "alias").symlink_to("docs")
    (root / "dead.md").symlink_to("nowhere")
    os.mkfifo(root / "fifo.md")
    assert files.find(root, "**/*.md") == ["docs/a.md"]
    assert files.find(root, "out/*.md") == []
    assert files.find(root, "alias/*.md") == ["alias/a.md"]


def test_what_a_glob_could_not_look_into_is_told(anybody: Path) -> None:
    put(anybody, "docs/a.md")
    put(anybody, "shut/b.md").parent.chmod(0)
    (anybody / "dead.md").symlink_to("nowhere")
    (anybody / "out.md").symlink_to("/etc/hostname")
    unread: list[Skip] = []
    assert files.find(anybody, "**/*.md", unread) == ["docs/a.md"]
    assert sorted((skip.path, skip.reason, skip.is_shut) for skip in set(unread)) == [
        ("dead.md", "a symbolic link that leads nowhere", False),
        ("out.md", "outside the root", False),
        ("shut", "unreadable: permission denied", True),
    ]
    (anybody / "shut").chmod(0o777)


@pytest.mark.parametrize("pattern", ["../*.md", "a/../../*", "/etc/*"])
def test_a_glob_that_points_out_of_the_root_is_an_error(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(OutsideRoot):
        files.find(tmp_path, pattern)


def test_names_that_are_no_text_are_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "a.md")
    put(tmp_path, os.fsdecode(b"\xff.md"))
    assert files.find(tmp_path, "*.md") == ["a.md"]
