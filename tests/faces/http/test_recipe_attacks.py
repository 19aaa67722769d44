"""Recipes over HTTP, on the page and over MCP: nothing outside the root, nothing that is no
recipe, no waiting."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.faces.behaviour import Refused
from tests.faces.http.running import Address, running, settings_for
from tests.faces.mcp.clients import over_stdio

pytestmark = pytest.mark.attack

TOKEN = "ghp_" + "Ab3" * 12
HOSTS = f"github.com:\n  oauth_token: {TOKEN}\n"
RECIPE = f"name: hers\nsections:\n  a: {{text: {TOKEN}, tier: 0, essential: true}}\n"
EVIL = {
    "absolute": "extends: {outside}/hosts.yml\ngithub.com: null\n",
    "dots": "extends: ../outside/recipe.yaml\n",
    "linked": "extends: link.yaml\n",
    "inner": "extends: secret.yaml\ngithub.com: null\n",
    "partly": "extends: partly.yaml\ngithub.com: null\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stranger's project, and YAML outside of it."""
    base = tmp_path_factory.mktemp("strangers")
    root, outside = base / "project", base / "outside"
    (root / "foreword" / "recipes").mkdir(parents=True)
    outside.mkdir()
    (outside / "hosts.yml").write_text(HOSTS)
    (outside / "recipe.yaml").write_text(RECIPE)
    (root / "A.md").write_text("hello\n")
    (root / "secret.yaml").write_text(HOSTS)
    (root / "partly.yaml").write_text(f"name: base\n{HOSTS}")
    (root / "link.yaml").symlink_to(outside / "recipe.yaml")
    for name, text in EVIL.items():
        path = root / "foreword" / "recipes" / f"{name}.yaml"
        path.write_text(
            f"name: {name}\n{text.format(outside=outside)}sections:\n  a: {{file: A.md}}\n"
        )
    (root / "foreword" / "recipes" / "direct.yaml").symlink_to(outside / "recipe.yaml")
    os.mkfifo(root / "foreword" / "recipes" / "pipe.yaml")
    os.mkfifo(root / "pipe.json")
    return root


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[Address]:
    # hooks are answered for the root's own store
    with running(settings_for(root, db=None)) as (where, _):
        yield where


NAMES = [*EVIL, "direct", "pipe"]


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_that_is_none_is_shown_nowhere(address: Address, name: str) -> None:
    answers = [
        address.ask("GET", f"/v1/recipes/{name}"),
        address.ask("GET", f"/v1/recipes/{name}/lint"),
        address.ask("GET", f"/recipes/{name}"),
        address.ask("POST", "/v1/assemble", {"recipe": name}),
        address.ask("POST", "/v1/why", {"recipe": name, "about": "a"}),
        address.ask("POST", "/v1/lookup", {"recipe": name, "wanted": "a question"}),
    ]
    assert [one.status for one in answers] == [400, 200, 200, 400, 400, 400]
    for answer in answers:
        assert TOKEN.encode() not in answer.body


def test_the_lists_name_what_is_wrong_and_wait_for_no_pipe(address: Address) -> None:
    for _ in range(20):  # more than there are threads
        answer = address.ask("GET", "/v1/recipes")
        assert {one["name"] for one in answer.json["items"] if one["problem"]} == set(NAMES)
        assert TOKEN.encode() not in answer.body
    page = address.ask("GET", "/recipes")
    assert page.status == 200
    assert TOKEN.encode() not in page.body


PATHS = [
    "../outside/recipe.yaml",
    "{outside}/recipe.yaml",
    "{outside}/hosts.yml",
    "foreword/recipes/../../../outside/recipe.yaml",
    "~/recipe.yaml",
    "link.yaml",
    "foreword/recipes/direct.yaml",
    "/proc/self/root{outside}/recipe.yaml",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_in_a_request_never_leads_out_of_the_root(
    address: Address, root: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root.parent / "outside"))
    named = path.format(outside=root.parent / "outside")
    asked: list[tuple[str, str, dict[str, Any] | None]] = [
        ("POST", "/v1/assemble", {"recipe": named}),
        ("POST", "/v1/why", {"recipe": named, "about": "a"}),
        ("POST", "/v1/lookup", {"recipe": named, "wanted": "x"}),
        ("GET", f"/v1/recipes/{quote(named, safe='')}", None),
        ("GET", f"/recipes/{quote(named, safe='')}", None),
    ]
    for method, target, body in asked:
        answer = address.ask(method, target, body)
        assert answer.status in (400, 403, 404), target
        assert TOKEN.encode() not in answer.body


def test_a_pipe_that_a_request_names_as_its_source_is_not_waited_for(
    address: Address, root: Path
) -> None:
    holding = os.open(root / "pipe.json", os.O_RDWR)  # somebody who writes, and never says anything
    try:
        body = {"recipe": "package", "purpose": "handoff", "source": "pipe.json"}
        assert address.ask("POST", "/v1/assemble", body).status == 400
    finally:
        os.close(holding)


def test_whether_a_file_outside_is_there_is_not_told(address: Address) -> None:
    body = {"recipe": "package", "purpose": "handoff", "source": {"items": [{"text": "a"}]}}
    answers = [
        address.ask("POST", "/v1/why", {**body, "about": path})
        for path in ("/etc/passwd", "/etc/passwd.not")
    ]
    assert [one.status for one in answers] == [404, 404]


def test_mcp_shows_no_more_than_the_others(root: Path) -> None:
    with over_stdio(root) as client:
        for name in NAMES:
            with pytest.raises(Exception, match="recipe") as refused:
                client.ask("read_resource", f"foreword://recipe/{name}")
            assert TOKEN not in str(refused.value)
            with pytest.raises(Refused) as wrong:
                client.call("assemble_context", recipe=name)
            assert TOKEN not in wrong.value.message
        for path in (
            "../outside/recipe.yaml",
            str(root.parent / "outside" / "recipe.yaml"),
            "link.yaml",
        ):
            with pytest.raises(Refused) as wrong:
                client.call("assemble_context", recipe=path)
            assert TOKEN not in wrong.value.message
