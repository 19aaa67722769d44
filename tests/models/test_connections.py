"""Certificates are loaded once for calls of one setting."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from foreword.models import ask, connections
from foreword.testing import fake_provider


def test_the_certificates_are_loaded_once_for_each_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded: list[object] = []
    make = httpx2.create_ssl_context

    def counting() -> object:
        loaded.append(make())
        return loaded[-1]

    monkeypatch.setattr(httpx2, "create_ssl_context", counting)
    connections._tls_context.cache_clear()
    with fake_provider("hello") as provider:
        for name in (provider.openai, provider.anthropic, provider.openai_responses):
            assert ask(name, "", "Hello.").text == "hello"
        assert len(loaded) == 1
        monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
        ask(provider.openai, "", "Hello.")
    assert len(loaded) == 2
