"""Certificates are loaded once for calls that follow each other, and never shared by calls side
by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx2
import pytest

from foreword.models import ask, connections
from foreword.testing import fake_provider
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The TLS contexts that were made."""
    made: list[object] = []
    make = httpx2.create_ssl_context

    def counting() -> object:
        made.append(make())
        return made[-1]

    monkeypatch.setattr(httpx2, "create_ssl_context", counting)
    connections._idle.clear()
    return made


def test_calls_that_follow_each_other_load_the_certificates_once(
    loaded: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with fake_provider("hello") as provider:
        for name in (provider.openai, provider.anthropic, provider.openai_responses):
            assert ask(name, "", "Hello.").text == "hello"
        assert len(loaded) == 1
        monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
        ask(provider.openai, "", "Hello.")
    assert len(loaded) == 2


def test_calls_side_by_side_have_a_context_each(loaded: list[object]) -> None:
    meet = Barrier(3, timeout=PATIENCE_SECONDS)
    with (
        fake_provider(lambda _: f"{meet.wait() * 0}") as provider,
        ThreadPoolExecutor(3) as threads,
    ):
        list(
            threads.map(
                lambda _: ask(provider.openai, "", "Hello.", timeout_seconds=PATIENCE_SECONDS),
                range(3),
            )
        )
        assert len(loaded) == 3
        list(
            threads.map(
                lambda _: ask(provider.openai, "", "Hello.", timeout_seconds=PATIENCE_SECONDS),
                range(3),
            )
        )
    assert len(loaded) == 3
