"""A server that the tests of a file share, each with a session of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faces.http.running import Address, running, settings_for


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    folder = tmp_path_factory.mktemp("served")
    also = tmp_path_factory.mktemp("also")
    (also / "foreword" / "recipes").mkdir(parents=True)
    (also / "foreword" / "recipes" / "broken.yaml").write_text("sections: 7\n")
    (also / "foreword" / "recipes" / "fine.yaml").write_text("name: fine\nextends: workflow\n")
    with running(settings_for(folder, roots={"other": also})) as (where, _):
        yield where


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return str(request.node.name)[:180]
