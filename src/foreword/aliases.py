"""The one table of other names that a field may be given by.

A key that is no field is looked up in three steps: in the other case (`tokenBudget` is
`token_budget`), without an ending that says nothing (`tabName` is `tab`), and in the table of
synonyms. Whoever reads data names the fields it takes; what is still unknown then is its error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from foreword.errors import UsageError
from foreword.pattern import lazy_pattern

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

ENDINGS = ("name", "id", "type")  # of arguments; in data of other programs an id is a field itself
# By the name in snake case. A synonym counts only where a key is not itself a field.
SYNONYMS = {
    "code": "implementation",
    "design_doc": "design_document",
    "design_doc_content": "design_document",
    "error_message": "error",
    "feature_description": "feature",
    "file_path": "file",
    "recent_messages": "messages",
    "relevant_tests": "tests",
    "source_context": "source",
    "tab": "name",
    "tests_content": "tests",
    "token_budget": "budget",
    "type_definitions": "types",
    "types_content": "types",
    "variable": "name",
}
_BETWEEN_WORDS = lazy_pattern(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def field_name(key: str, fields: Collection[str]) -> str | None:
    """Return the one of `fields` that a key means, or None."""
    if key in fields:
        return key
    spellings = _spellings(frozenset(fields))
    words = _snake_case(key)
    noun, _, ending = words.rpartition("_")
    candidates = [words, noun] if ending in ENDINGS else [words]
    candidates += [SYNONYMS.get(name, "") for name in candidates]
    for name in candidates:
        if name in spellings:
            return spellings[name]
    return None


def other_keys(data: Mapping[Any, Any], fields: Collection[str]) -> dict[str, Any]:
    """Return the key of each field that data of another program has under another name alone.

    The same name in another case comes first, then the one with the ending `name`, then the
    synonyms in the order of the table. A key without a value does not count.
    """
    by_words = dict[str, Any]()
    for key, value in data.items():
        if isinstance(key, str) and key not in fields and value is not None:
            by_words.setdefault(_snake_case(key), key)
    keys = dict[str, Any]()
    for field, names in _names_of(frozenset(fields)).items():
        named = [by_words[name] for name in names if name in by_words]
        if named and data.get(field) is None:
            keys[field] = named[0]
    return keys


def by_any_name(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Let a function take its keyword arguments under any of their names."""
    fields = signature(function).parameters

    @wraps(function)
    def call(*args: Given.args, **given: Given.kwargs) -> Answer:
        try:
            renamed = rename(given, fields)
        except ValueError as two_names:
            raise UsageError(str(two_names)) from None
        return function(*args, **renamed)

    return call


def rename(given: Mapping[Any, Any], fields: Collection[str]) -> dict[Any, Any]:
    """Return the mapping with each key that means a field under that field's name; others stay.

    Raises ValueError where two keys mean the same field.
    """
    renamed = dict[Any, Any]()
    keys = dict[Any, Any]()
    for key, value in given.items():
        name = (field_name(key, fields) if isinstance(key, str) else None) or key
        if name in renamed:
            raise ValueError(f"{keys[name]!r} and {key!r} both mean {name!r}; give one of them")
        keys[name] = key
        renamed[name] = value
    return renamed


@cache
def _names_of(fields: frozenset[str]) -> dict[str, list[str]]:
    """The names in snake case that each field may have in data of another program."""
    spellings = _spellings(fields)
    names = {field: [words, f"{words}_name"] for words, field in spellings.items()}
    for synonym, words in SYNONYMS.items():
        if words in spellings and synonym not in spellings:
            names[spellings[words]] += [synonym, f"{synonym}_name"]
    return names


@cache
def _spellings(fields: frozenset[str]) -> dict[str, str]:
    """The fields by their names in snake case."""
    return {_snake_case(name): name for name in fields}


def _snake_case(name: str) -> str:
    return "_".join(word for word in _BETWEEN_WORDS.split(name) if word).lower()
