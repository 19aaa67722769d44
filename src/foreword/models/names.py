"""From the name of a model to a model of pydantic-ai's, or one line that says what is missing.

A name may carry the address of a server: `openai:NAME@URL` (chat completions), `openai-responses:NAME@URL`,
`anthropic:NAME@URL`. Such a server is sent `FOREWORD_MODEL_KEY` if that is set, and never a provider's own key: a name
can come from anywhere, and must not be able to send a key there.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from foreword.errors import UsageError
from foreword.models.failures import one_line

if TYPE_CHECKING:
    from pydantic_ai.models import Model

KEY_VARIABLE = "FOREWORD_MODEL_KEY"
NO_KEY = "no-key"  # the clients want one, whether the server does or not
KEYLESS = "or use the model `test`, which needs no key"
INSTALL = "pip install 'foreword[models]'"
EXAMPLES = "for example anthropic:claude-sonnet-4-5, openai:gpt-4o, openai:NAME@http://127.0.0.1:8080/v1, or test"
AT_URL = re.compile(r"(?P<kind>openai|openai-chat|openai-responses|anthropic):(?P<name>.+?)@(?P<url>https?://.*)")
VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`")
EXTRA = re.compile(r"pydantic-ai-slim\[([\w-]+)\]")


def model_named(name: str) -> Model:
    """The model of that name; the built-in one is `test`."""
    if name == "test":
        from foreword.models.rules import rule_based_model

        return rule_based_model()
    if not name.strip():
        raise UsageError("the model has no name", hint=EXAMPLES)
    try:
        return _at_url(found) if (found := AT_URL.fullmatch(name)) else _known(name)
    except ImportError as missing:
        raise UsageError(f"the model {name} needs a package that is not installed", hint=_install(missing)) from None


def _known(name: str) -> Model:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    try:
        return infer_model(name)
    except UserError as error:
        if variable := VARIABLE.search(str(error)):
            raise UsageError(f"the model {name} needs a key: set {variable[1]}", hint=KEYLESS) from None
        raise UsageError(f"the model can't be asked: {one_line(error)}", hint=EXAMPLES) from None


def _at_url(found: re.Match[str]) -> Model:
    """A model on a server of that address."""
    kind, name, url = found["kind"], found["name"], _checked(found["url"])
    key = os.environ.get(KEY_VARIABLE) or NO_KEY
    if kind == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=url))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    speaks: Any = OpenAIResponsesModel if kind == "openai-responses" else OpenAIChatModel
    model: Model = speaks(name, provider=OpenAIProvider(api_key=key, base_url=url))
    return model


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise UsageError("the address of a model must not hold a key", hint=f"set {KEY_VARIABLE} instead")
    try:
        usable = bool(parts.hostname) and parts.port != 0 and not re.search(r"\s", url)
    except ValueError:  # a port that is no number
        usable = False
    if not usable:
        raise UsageError(f"{url!r} is not the address of a model's server", hint=EXAMPLES)
    return url


def _install(missing: ImportError) -> str:
    extra = EXTRA.search(str(missing))
    return INSTALL if not extra or extra[1] in ("anthropic", "openai") else f"pip install '{extra[0]}'"
