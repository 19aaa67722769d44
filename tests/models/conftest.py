"""Models that are asked in each of the formats that a provider may speak."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from foreword.testing import FakeProvider


@pytest.fixture(params=["openai", "openai_responses", "anthropic"])
def speaks(request: pytest.FixtureRequest) -> Callable[[FakeProvider], str]:
    """From a provider to the name of a model that is asked in one of the formats."""
    return lambda provider: str(getattr(provider, request.param))
