"""A model that writes the summaries, over real HTTP: a server on loopback speaks each provider's
wire format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import foreword
from foreword.errors import UsageError
from foreword.testing import FakeProvider, fake_provider

SUMMARY = (
    "## Decisions\nServe on port 8443, because the proxy expects it. Files: src/kiln.py, node_17."
)
MODELS = ["openai:gpt-4o", "openai-chat:gpt-4o", "anthropic:claude-next"]


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "not-a-key")


def use(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)


def long_session(tmp_path: Path, **options: Any) -> foreword.Session:
    session = foreword.Session.open(
        f"sqlite:///{tmp_path}/state.db",
        "kiln",
        window=8_000,
        compress_at=6_000,
        compress_to=900,
        **options,
    )
    session.append(
        {"role": "user", "content": "Build the reservation page. Never touch the main branch."}
    )
    task = {
        "task_id": 1,
        "description": "Build node_17",
        "status": "in_progress",
        "node_ids": ["node_17"],
    }
    phase = {"phase_name": "Build", "status": "in_progress", "tasks": [task]}
    session.update_plan({"overall_goal": "Reservations", "phases": [phase]}, "first")
    session.extend(
        {"role": "assistant", "content": f"Step {n}: changed src/kiln.py for node_17. " * 6}
        for n in range(60)
    )
    return session


@pytest.mark.parametrize("model", MODELS)
def test_every_provider_is_asked_in_its_own_words_and_its_answer_is_the_summary(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_provider(lambda body: SUMMARY) as provider, long_session(tmp_path) as session:
        use(provider, monkeypatch)
        made = session.compress(model=model)
        by_the_model = f"<said_by_assistant>\n{SUMMARY}\n</said_by_assistant>"
        assert (made.notes, made.method, made.summary) == ((), model, by_the_model)
        asked = str(provider.requests[-1])
    assert all(f"{rule}. " in asked for rule in range(1, 9))
    for words in (
        "Step 3: changed src/kiln.py",
        "no browser attached",
        "survive by themselves",
        "node_17",
    ):
        assert words in asked
    assert SUMMARY in session_text(tmp_path)


def session_text(tmp_path: Path) -> str:
    with foreword.Session.open(f"sqlite:///{tmp_path}/state.db", "kiln", window=8_000) as session:
        return session.context().text


def test_a_provider_that_fails_costs_a_note_and_not_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(body: Mapping[str, Any]) -> str:
        raise RuntimeError("overloaded")

    with (
        fake_provider(fail) as provider,
        long_session(tmp_path, compress_with="openai-chat:gpt-4o") as session,
    ):
        use(provider, monkeypatch)
        done = session.append({"role": "user", "content": "Go on."})
    assert done.compaction
    assert done.compaction.method == "extract"
    assert any("the model failed" in warning for warning in done.warnings)


def test_a_model_nobody_knows_is_an_error_that_changes_nothing_unless_nobody_asked(
    tmp_path: Path,
) -> None:
    with long_session(tmp_path, compress_with="nosuch:model") as session:
        with pytest.raises(UsageError, match="the model can't be asked"):
            session.compress()
        assert session.compressions() == []
        done = session.append({"role": "user", "content": "Go on."})
    assert done.compaction
    assert any("the model can't be asked" in warning for warning in done.warnings)
