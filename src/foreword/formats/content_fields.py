"""Tell the fields that hold what a message says from those that are about it.

Every provider and framework adds fields: ids, sizes, times, marks of its own. Those are known by
name and carried along unread. Under any other name a number and a flag are carried, too. Text, a
call or a picture is not: it would never reach a context. A single word is text: nobody can tell the
`auto` of a setting from the `no` of an answer but by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from foreword.pattern import lazy_pattern

# Names under which some provider or framework keeps what was said, without `_`, `-` and capitals:
# there a number is said, too.
_CONTENT = frozenset(
    (
        "additionalkwargs answer answers args arguments attachment attachments audio block"
        " blocks body caption code comment comments content contents data description document"
        " documents explanation file files functioncall functioncalls functionresponse html"
        " image images input inputs instruction instructions kwargs markdown media message"
        " messages note notes output outputs part parts prompt query question quote reasoning"
        " reasoningcontent refusal remark remarks response result results script speech"
        " summary text texts thinking thought thoughts toolcall toolcalls toolinvocation"
        " toolinvocations toolplan toolresult toolresults tooluse transcript utterance value"
        " values video words"
    ).split()
)
# Names of fields that are about a message, whatever stands in them: quotations that a citation
# repeats, why a reply ended, what a provider or a framework keeps for itself.
_ABOUT = frozenset(
    (
        "annotations artifact cachecontrol citations container contextmanagement cost diagnostics"
        " extracontent internal logprobs parsed performance providerdetails reasoningdetails"
        " stopdetails stopsequence thinkingblocks tokens transformations usage"
    ).split()
)
_ABOUT_ENDING = lazy_pattern(
    r"(?:(?:_|^)(?:metadata|metadata_passthrough|usage|options|signatures?_*)"
    r"|[mM]etadata|Usage|Options|Signatures?)$"
)
# Names of fields with one word about a message: no spaces.
_WORD = frozenset(
    (
        "canonicalsystem channel created detail flags index lang language level locale mode model"
        " namespace object openairole outcome phase priority provider providerurl scheduling scope"
        " sender severity source speaker state status tags time ttl type url verbosity version"
        " visibility"
    ).split()
)
_WORD_ENDING = lazy_pattern(
    r"(?:(?:_|^)(?:ref|digests?|hash|fingerprint|type|kind|status|state|mode|level|tier|effort"
    r"|format|reason|version|language)"
    r"|Ref|Digests?|Hash|Fingerprint|Type|Kind|Status|State|Mode|Level|Tier|Effort"
    r"|Format|Reason|Version|Language)$"
)
# Names and times are written with spaces, and some ids are long.
_LABEL_ENDING = lazy_pattern(
    r"(?:(?:_|^)(?:u?u?ids?|identifier|names?|title|author|by|at|time|timestamp|date)"
    r"|I[Dd]s?|Identifier|Names?|Title|By|At|Time|Timestamp|Date)$"
)
# `experimental_attachments`, `userImages`: with anything in front, they are what was handed over.
_FILES = ("attachment", "attachments", "images", "files", "documents")
_DATA_URL = "data:"
_SPACE = lazy_pattern(r"\s")
LONGEST_LABEL = 100  # characters: a name or a time is shorter
# From this length on, text without a space is data: base64 of the smallest picture has more, and
# the longest words, paths and links that people write have fewer.
SHORTEST_DATA = 400
_NOT_WORDS = frozenset(
    ("type", "role", "status", "signature", "mimetype", "mediatype", "format", "blocktype", "kind")
)


def field_says_something(name: str, value: object) -> bool:
    """Whether a field that nobody reads holds what was said."""
    if value is None or isinstance(value, bool):
        return False
    plain_name = _plain(name)
    if isinstance(value, int | float):
        return plain_name in _CONTENT
    if not value:
        return False
    if isinstance(value, str) and value.startswith(_DATA_URL):
        return True  # a file, also under `url`
    if plain_name in _ABOUT or plain_name.startswith("encrypted") or _ABOUT_ENDING.search(name):
        return False
    if plain_name in _WORD or _WORD_ENDING.search(name):
        return _says_more(value, _is_word)
    if _LABEL_ENDING.search(name):
        return _says_more(value, _is_label)
    if plain_name in _CONTENT or plain_name.endswith(_FILES):
        return True
    return _says_more(value, _is_nothing)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _says_more(value: object, is_about: Callable[[str], bool]) -> bool:
    """Whether there is text in a value besides what is only about a message."""
    if isinstance(value, str):
        return not is_about(value)
    if isinstance(value, Mapping):
        return any(field_says_something(str(name), member) for name, member in value.items())
    if isinstance(value, list | tuple):
        return any(_says_more(member, is_about) for member in value)
    return False


def _is_word(text: str) -> bool:
    return _SPACE.search(text) is None and not text.startswith(_DATA_URL)


def _is_label(text: str) -> bool:
    return len(text) <= LONGEST_LABEL or _is_word(text)


def _is_nothing(text: str) -> bool:
    return not text.strip()


def words_in(value: object) -> str:
    """All words in a block that nobody here reads, one a line: no ids, no data."""
    return "\n".join(_words(value))


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value.strip() and not is_data(value):
            yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            if not _is_about(str(name), value):
                yield from _words(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _words(member)


def _is_about(name: str, value: Mapping[str, Any]) -> bool:
    """Whether a field of a block is about it: its type, an id, bytes in base64."""
    plain_name = _plain(name)
    if plain_name in ("cachecontrol", "base64") or plain_name.startswith("encrypted"):
        return True
    if plain_name in ("data", "bytes") and (value.get("type") == "base64" or "format" in value):
        return True
    field = value[name]
    is_word = isinstance(field, str) and _is_word(field)
    is_named = plain_name in _NOT_WORDS or plain_name == "id" or name.endswith(("_id", "Id"))
    return is_word and is_named


def is_data(text: str) -> bool:
    """Whether a text is bytes in base64 rather than words."""
    if text.startswith(_DATA_URL):
        return True
    return len(text) >= SHORTEST_DATA and text.isascii() and _SPACE.search(text) is None
