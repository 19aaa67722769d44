"""Every error has an answer on every face."""

from __future__ import annotations

import inspect

from foreword import errors
from foreword.faces.cli.main import exit_code


def every_error() -> list[type[errors.ForewordError]]:
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
    return [
        kind
        for kind in kinds
        if issubclass(kind, errors.ForewordError) and kind is not errors.ForewordError
    ]


def test_every_error_has_an_exit_code() -> None:
    for kind in every_error():
        assert exit_code(kind.__new__(kind)) in (1, 2), kind


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in every_error()]
    assert len(set(codes)) == len(codes)


def test_every_error_stands_in_the_drawn_tree() -> None:
    for kind in every_error():
        assert kind.__name__ in (errors.__doc__ or "")
