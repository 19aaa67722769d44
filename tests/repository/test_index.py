"""The index is kept: nothing is read again that did not change, and nobody else's is used."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from foreword.repository.index import open_index
from tests.repository.checkout import write


def read_count(root: Path) -> int:
    seen: list[int] = []
    open_index(root, lambda done, total: seen.append(done)).close()
    return len(seen)


def index_file(cache: Path) -> Path:
    (found,) = cache.glob("foreword/repositories/*/index.db")
    return found


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    write(tmp_path)
    assert read_count(tmp_path) == 7
    assert read_count(tmp_path) == 0

    (tmp_path / "shop/greeting.py").write_text("def welcome():\n    return 'Welcome'\n")
    (tmp_path / "shop/colours.py").unlink()
    assert read_count(tmp_path) == 1

    index = open_index(tmp_path)
    assert index.definitions_by_name("greet") == []
    assert index.definitions_by_name("colour_1") == []
    assert index.counts("colour") == []
    assert len(index.definitions_by_name("welcome")) == 1
    index.close()


def test_a_broken_index_is_made_anew(tmp_path: Path, own_cache: Path) -> None:
    write(tmp_path)
    read_count(tmp_path)
    index_file(own_cache).write_bytes(b"this is no database" * 1000)

    assert read_count(tmp_path) == 7
    assert index_file(own_cache).stat().st_mode & 0o077 == 0


def test_two_may_make_it_at_once(tmp_path: Path) -> None:
    write(tmp_path)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: _paths(tmp_path), range(4)))

    assert found == [found[0]] * 4
    assert len(found[0]) == 6
    assert read_count(tmp_path) == 0


def _paths(root: Path) -> list[str]:
    index = open_index(root)
    paths = [file.path for file in index.files()]
    index.close()
    return paths


def test_files_changed_together_are_known_by_git(tmp_path: Path) -> None:
    write(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for turn in range(2):
        for path in ("shop/cart.py", "shop/greeting.py"):
            (tmp_path / path).write_text(f"# {turn}\n")
            subprocess.run([*git, "add", path], cwd=tmp_path, check=True)
        subprocess.run([*git, "commit", "-qm", "x"], cwd=tmp_path, check=True)

    index = open_index(tmp_path)

    assert index.changed_with("shop/cart.py") == (2, {"shop/greeting.py": 2})
    index.close()
