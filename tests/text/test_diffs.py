"""A diff too large for its room: whole hunks, every file in its turn, and nothing missing
without a mark."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.text.diffs import excerpt


def file(name: str, *hunks: int) -> str:
    body = "".join(
        f"@@ -1 +{at},{lines} @@\n" + f"+{name} {at}\n" * lines for at, lines in enumerate(hunks, 1)
    )
    return f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n{body}"


def test_what_fits_is_not_touched() -> None:
    diff = file("a.py", 3, 4) + file("b.py", 2)
    assert excerpt(diff, 10_000, len).text == diff


def test_every_file_gets_its_first_hunk_before_any_gets_its_second() -> None:
    diff = file("a.py", 5, 5, 5) + file("b.py", 5, 5, 5)
    kept = excerpt(diff, 300, len)
    assert (kept.files, kept.files_shown) == (2, 2)
    assert "+a.py 1\n" in kept.text
    assert "+b.py 1\n" in kept.text
    assert "[... 2 hunks]\n" in kept.text


def test_files_without_room_are_counted() -> None:
    kept = excerpt("".join(file(f"f{number}.py", 9) for number in range(200)), 2_000, len)
    assert kept.files_shown < kept.files == 200
    assert kept.text.splitlines()[-1].endswith("lines of the diff left out]")


def test_a_hunk_larger_than_the_room_is_counted_and_leaves_room_for_others() -> None:
    kept = excerpt(file("huge.py", 9_000) + file("small.py", 2), 4_000, len)
    assert "+++ b/huge.py\n[... 1 hunk]\n" in kept.text
    assert "+small.py 1\n" in kept.text


def test_a_hunk_with_more_changes_than_its_counts_say_is_one_hunk() -> None:
    wrong = file("a.py", 3).replace("+1,3 @@", "+1,1 @@") + "-- \n2.39.5\n"
    kept = excerpt(wrong + file("b.py", 400), 200, len)
    assert "+a.py 1\n" * 3 + "-- \n2.39.5\n" in kept.text
    small = excerpt(wrong + file("b.py", 2), 150, len)
    assert small.text.count("+a.py 1\n") in (0, 3)


def test_a_diff_without_git_headers_is_cut_by_its_files() -> None:
    plain = "".join(f"--- a/f{n}\n+++ b/f{n}\n@@ -1 +1 @@\n-x\n+y\n" for n in range(40))
    assert excerpt(plain, 800, len).files == 40


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a.py", "b.py"]), st.lists(st.integers(0, 40), max_size=4)),
        max_size=6,
    ),
    st.text(alphabet="ab \n@+-", max_size=40),
    st.integers(200, 4_000),
)
def test_an_excerpt_is_within_its_room_and_keeps_lines_as_they_are(
    files: list[tuple[str, list[int]]], odd: str, room: int
) -> None:
    diff = odd + "".join(file(name, *hunks) for name, hunks in files)
    kept = excerpt(diff, room, len)
    assert len(kept.text) <= max(room, len(diff) if len(diff) <= room else 0)
    known = set(diff.splitlines())
    assert all(
        not line or line in known or line.startswith("[...") for line in kept.text.splitlines()
    )
