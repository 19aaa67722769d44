"""From the name of a model to a model of pydantic-ai's, or one line that says what is missing.

A name may carry the address of a server: `openai:NAME@URL` (chat completions),
`openai-responses:NAME@URL`, `anthropic:NAME@URL`. Such a server is sent `FOREWORD_MODEL_KEY` if
that is set, and never a provider's own key: a name can come from anywhere, and must not be able to
send a key there.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foreword.errors import UsageError
from foreword.extras import extra, install_command, pip_install
from foreword.models.model_errors import one_line
from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

KEY_VARIABLE = "FOREWORD_MODEL_KEY"
NO_KEY = "no-key"  # the clients want one, whether the server does or not
KEYLESS = "or use the model `test`, which needs no key"
EXAMPLES = (
    "for example anthropic:claude-sonnet-5-5, openai:gpt-5, openai:NAME@http://127.0.0.1:8080/v1,"
    " or test"
)
OURS = ("openai", "openai-chat", "openai-responses", "anthropic")  # that take a connection of ours
AT_URL = lazy_pattern(rf"(?P<kind>{'|'.join(OURS)}):(?P<name>.+?)@(?P<url>https?://.*)")
VARIABLE = lazy_pattern(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`")
# test:2s takes two seconds to answer
TEST = lazy_pattern(r"test(?::(?P<seconds>\d{1,4}(?:\.\d{1,3})?)s)?")
EXTRA = lazy_pattern(r"pydantic-ai-slim\[([\w-]+)\]")


def find_model(name: str, client: httpx2.AsyncClient | None = None) -> Model:
    """The model of that name, over a client of the caller's where it takes one.

    The built-in one is `test`, or `test:2s` if it is to take two seconds.
    """
    built_in = TEST.fullmatch(name)
    if built_in:
        from foreword.models.test_model import rule_based_model

        with extra("models"):
            return rule_based_model(float(built_in["seconds"] or 0))
    if not name.strip():
        raise UsageError("the model has no name", hint=EXAMPLES)
    at_url = AT_URL.fullmatch(name)
    try:
        with extra("models"):
            if at_url:
                return _model_at_url(at_url, client)
            return _known_model(name, client)
    except ImportError as missing:
        raise UsageError(
            f"the model {name} needs a package that is not installed", hint=_install(missing)
        ) from None


def _known_model(name: str, client: httpx2.AsyncClient | None) -> Model:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    kind = name.partition(":")[0]
    try:
        if client is not None and kind in OURS:
            return infer_model(name, provider_factory=lambda _: _provider(kind, client))
        return infer_model(name)
    except UserError as error:
        variable = VARIABLE.search(str(error))
        if variable:
            raise UsageError(
                f"the model {name} needs a key: set {variable[1]}", hint=KEYLESS
            ) from None
        said = one_line(error).replace("'openai-chat:", "'openai:")  # as our pages spell it
        raise UsageError(f"the model can't be asked: {said}", hint=EXAMPLES) from None


def _model_at_url(found: re.Match[str], client: httpx2.AsyncClient | None) -> Model:
    """A model on a server of that address."""
    kind = found["kind"]
    name = found["name"]
    url = _checked_url(found["url"])
    key = os.environ.get(KEY_VARIABLE) or NO_KEY
    provider = _provider(kind, client, api_key=key, base_url=url)
    if kind == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel

        return AnthropicModel(name, provider=provider)
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.profiles import ModelProfile

    if kind == "openai-responses":
        return OpenAIResponsesModel(name, provider=provider)
    # what serves other models in OpenAI's format (llama.cpp, vLLM, Ollama) enforces a schema
    native = ModelProfile(default_structured_output_mode="native")
    return OpenAIChatModel(name, provider=provider, profile=native)


def _provider(kind: str, client: httpx2.AsyncClient | None, **access: str) -> Any:
    """The provider of a kind; without an address and a key it has its own."""
    from pydantic_ai.providers import infer_provider_class

    provider_class: Any = infer_provider_class(kind)
    return provider_class(**access, http_client=client)


def _checked_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise UsageError(
            "the address of a model must not hold a key", hint=f"set {KEY_VARIABLE} instead"
        )
    try:
        usable = bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", url)
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        raise UsageError(f"{url!r} is not the address of a model's server", hint=EXAMPLES)
    return url


def _install(missing: ImportError) -> str:
    """The command that installs what pydantic-ai says is missing."""
    group = EXTRA.search(str(missing))
    if not group or group[1] in ("anthropic", "openai"):  # ours brings both
        return install_command("models")
    return pip_install(group[0])
