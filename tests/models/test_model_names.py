"""From the name of a model to a model: what is missing is said in one line, and keys stay where
they belong."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from foreword.errors import ForewordError, ModelFailed, UsageError
from foreword.extras import install_command, pip_install
from foreword.models import ask
from foreword.testing import Reply, fake_provider

KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "FOREWORD_MODEL_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in KEYS:
        monkeypatch.delenv(variable, raising=False)


def refused(model: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        ask(model, "Be brief.", "Hello.")
    assert "\n" not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    ("model", "variable"),
    [("openai:gpt-4o", "OPENAI_API_KEY"), ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY")],
)
def test_without_a_key_the_variable_to_set_is_named(model: str, variable: str) -> None:
    error = refused(model)
    assert error.message == f"the model {model} needs a key: set {variable}"
    assert "test" in error.hint


@pytest.mark.parametrize(
    ("model", "guess"),
    [
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("gpt-4o", "'openai:gpt-4o'?"),
    ],
)
def test_a_name_that_is_nearly_right_gets_a_suggestion(model: str, guess: str) -> None:
    assert guess in refused(model).message


def test_the_built_in_model_takes_as_long_as_it_is_told_to() -> None:
    assert ask("test:0.01s", "", "Hello.").text == ask("test", "", "Hello.").text
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.1 s"):
        ask("test:600s", "", "Hello.", timeout_seconds=0.1)
    with pytest.raises(ModelFailed, match=r"did not answer within 0\.1 s"):
        ask("test:600s", "", "Hello.", timeout_seconds=0.1, on_text=lambda _: None)


@pytest.mark.parametrize(
    "model",
    [
        "",
        "  ",
        "tset",
        "test:soon",
        "openia:gpt-4o",
        "nosuch:model",
        "nonsense",
        "openai:a@http://",
        "openai:a@http://h:x/v1",
    ],
)
def test_a_name_that_means_nothing_gets_examples(model: str) -> None:
    assert "for example anthropic:" in refused(model).hint


@pytest.mark.parametrize("model", [None, 7, object(), ["test"]])
def test_what_is_no_model_at_all_is_refused(model: Any) -> None:
    assert "a model is a name or a pydantic-ai model" in refused(model).message


def test_without_pydantic_ai_the_package_to_install_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.models", raising=False)
    for model in ("openai:gpt-4o", "test"):
        assert refused(model).hint == install_command("models")


def test_without_a_providers_package_the_extra_to_install_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.delitem(sys.modules, "pydantic_ai.providers.anthropic", raising=False)
    error = refused("anthropic:claude-sonnet-4-5")
    assert (
        error.message
        == "the model anthropic:claude-sonnet-4-5 needs a package that is not installed"
    )
    assert error.hint == install_command("models")


def test_a_package_that_is_not_ours_to_install_is_named_too() -> None:
    assert refused("groq:llama-3.3-70b-versatile").hint == pip_install("pydantic-ai-slim[groq]")


@pytest.mark.parametrize("kind", ["openai", "openai_responses", "anthropic"])
def test_a_server_at_an_address_gets_the_key_that_is_meant_for_it_and_no_other(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fake_provider("hello") as provider:
        assert ask(getattr(provider, kind), "", "Hello.").text == "hello"
        monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-abcdefgh12345678")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-abcdefgh12345678")
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "tok-abcdefgh12345678")
        monkeypatch.setenv("FOREWORD_MODEL_KEY", "correct-horse")
        ask(getattr(provider, kind), "", "Hello.")
        assert "abcdefgh12345678" not in str(provider.headers)
        assert "correct-horse" not in str(provider.headers[0])
        assert "correct-horse" in str(provider.headers[1])


def test_a_key_in_an_address_is_refused_and_not_repeated() -> None:
    error = refused("openai:a@http://user:correct-horse@127.0.0.1/v1")
    assert "correct-horse" not in f"{error.message}{error.hint}"
    assert "FOREWORD_MODEL_KEY" in error.hint


@pytest.mark.parametrize(
    "key", ["sk-proj-abcdefgh12345678", "correct-horse-battery"], ids=["by shape", "by value"]
)
def test_a_key_that_a_provider_repeats_is_hidden(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with fake_provider(Reply(f"Incorrect API key provided: {key}.", status=401)) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        with pytest.raises(ForewordError) as caught:
            ask("openai-chat:gpt-4o", "", "Hello.")
        assert key in str(provider.headers)
    assert isinstance(caught.value, ModelFailed)
    assert key not in f"{caught.value!r} {caught.value.hint}"
    assert caught.value.hint == "check the key of this model"
