"""Hints to install an extra name what works from where Foreword came from."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from foreword import extras
from foreword.errors import UsageError

WHEEL = "file:///home/ann/my%20wheels/foreword-0.1.0-py3-none-any.whl"
COMMIT = "8c2edd0c2f5d4b8d9d2f0a3c1e7b6a5f4e3d2c1b"


@pytest.mark.parametrize(
    ("origin", "arguments"),
    [
        (
            {"url": "file:///home/ann/my%20clone", "dir_info": {"editable": True}},
            ["-e", "/home/ann/my clone[serve]"],
        ),
        (
            {"url": "file:///home/ann/clone", "dir_info": {}},
            ["foreword[serve] @ file:///home/ann/clone"],
        ),
        ({"url": WHEEL, "archive_info": {}}, [f"foreword[serve] @ {WHEEL}"]),
        (
            {
                "url": "https://git.example/foreword",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT},
            },
            [f"foreword[serve] @ git+https://git.example/foreword@{COMMIT}"],
        ),
        (
            {
                "url": "https://git.example/all",
                "vcs_info": {"vcs": "git", "commit_id": COMMIT},
                "subdirectory": "python/foreword",
            },
            [
                f"foreword[serve] @ git+https://git.example/all@{COMMIT}#subdirectory=python/foreword"
            ],
        ),
        (None, ["foreword[serve]"]),
        ({"dir_info": {"editable": True}}, ["foreword[serve]"]),
        ({"url": "file:///home/ann/clone", "dir_info": None}, ["foreword[serve]"]),
        ({"url": "https://git.example/a", "vcs_info": {"commit_id": "1"}}, ["foreword[serve]"]),
        ({"url": 5, "archive_info": {}}, ["foreword[serve]"]),
        (["url"], ["foreword[serve]"]),
        ("url", ["foreword[serve]"]),
    ],
    ids=[
        "editable clone",
        "clone",
        "wheel",
        "repository",
        "folder of a repository",
        "index",
        "no url",
        "no dir_info",
        "no vcs",
        "no text",
        "a list",
        "a text",
    ],
)
def test_an_extra_is_installed_from_where_foreword_came_from(
    origin: object, arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "foreword-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: foreword\nVersion: 0.1.0\n")
    if origin:
        (about / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.syspath_prepend(tmp_path)
    command = shlex.split(extras.install_command("serve"))
    assert command == [sys.executable, "-m", "pip", "install", *arguments]


def test_an_environment_without_pip_is_filled_by_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    command = shlex.split(extras.pip_install("x"))
    assert command == ["uv", "pip", "install", "--python", sys.executable, "x"]


def test_a_module_of_our_own_that_is_missing_is_no_extra() -> None:
    with pytest.raises(ModuleNotFoundError), extras.extra("serve"):
        import foreword.no_such_module  # type: ignore[import-not-found]  # noqa: F401
    refusal = pytest.raises(UsageError, match="needs the extra 'serve': no_such_module is not")
    with refusal, extras.extra("serve"):
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401
