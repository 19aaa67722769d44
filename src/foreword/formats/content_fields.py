"""Tell the fields that hold what a message says from those that are about it.

Every provider and framework adds fields: ids, sizes, times, marks of its own. They are carried
along unread. A field that holds words, a call or a picture must not be: what it says would never
reach a context. Its name tells, or else what stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foreword.pattern import lazy_pattern

# Names under which some provider or framework keeps what was said, without `_`, `-` and capitals.
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
# repeats, the reason for which a reply ended, what a framework keeps for itself.
_ABOUT = frozenset(
    (
        "annotations artifact author cachecontrol citations container contextmanagement cost"
        " created date diagnostics error extracontent finishreason id ids index internal logprobs"
        " model object performance phase provider providerdetails reasoningdetails"
        " signature status stopdetails stopreason stopsequence systemfingerprint time timestamp"
        " tokens url usage uuid version"
    ).split()
)
_ABOUT_ENDING = lazy_pattern(
    r"(?:(?:_|^)(?:ids?|names?|at|time|timestamp|date|metadata|usage|options|digests?)"
    r"|IDs?|Ids?|Names?|At|Time|Timestamp|Date|[mM]etadata|Usage|Options)$"
)
# `experimental_attachments`, `userImages`: with anything in front, they are what was handed over.
_FILES = ("attachment", "attachments", "images", "files", "documents")
_DATA_URL = "data:"
_SPACE = lazy_pattern(r"\s")
LONGEST_WORD = 100  # characters: ids and digests are shorter, and without a space
# From this length on, text without a space is data: base64 of the smallest picture has more, and
# the longest words, paths and links that people write have fewer.
SHORTEST_DATA = 400
_NOT_WORDS = frozenset(
    ("type", "role", "status", "signature", "mimetype", "mediatype", "format", "blocktype", "kind")
)


def field_says_something(name: str, value: object) -> bool:
    """Whether a field that nobody reads holds what was said."""
    if value is None or isinstance(value, bool | int | float) or not value:
        return False
    if isinstance(value, str) and value.startswith(_DATA_URL):
        return True  # a file, also under `url`
    plain_name = _plain(name)
    if plain_name in _ABOUT or _ABOUT_ENDING.search(name):
        return False
    return plain_name in _CONTENT or plain_name.endswith(_FILES) or _holds_words(value)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _holds_words(value: object) -> bool:
    if isinstance(value, str):
        if value.startswith(_DATA_URL):
            return True
        return len(value) > LONGEST_WORD or _SPACE.search(value) is not None
    if isinstance(value, Mapping):
        return any(field_says_something(str(name), member) for name, member in value.items())
    if isinstance(value, list | tuple):
        return any(map(_holds_words, value))
    return False


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
    if plain_name in _NOT_WORDS or plain_name in ("cachecontrol", "id"):
        return True
    if plain_name.startswith("encrypted") or name.endswith(("_id", "Id")):
        return True
    return plain_name in ("data", "bytes") and value.get("type") == "base64"


def is_data(text: str) -> bool:
    """Whether a text is bytes in base64 rather than words."""
    if text.startswith(_DATA_URL):
        return True
    return len(text) >= SHORTEST_DATA and _SPACE.search(text) is None
