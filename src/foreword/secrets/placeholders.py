"""Which values give nothing away though they stand under a secret's name.

`null`, `${TOKEN}`, `<password>`, `str`: a value is either a placeholder, whatever surrounds it, or
code that stands for a value: a type, a call, a variable. Every pattern reads a bounded stretch.
Which names promise a secret says `secret_names`.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern
from foreword.secrets.secret_names import is_secret_name

HIDDEN = "[hidden]"
_MOST = 240  # characters: a longer value is no placeholder, and is not looked at for being one
_PUBLIC = ("-----BEGIN PUBLIC KEY", "-----BEGIN CERTIFICATE")
_PLACEHOLDER = lazy_pattern(
    r"""\s*(?:
      null | none | nil | undefined | true | false | yes | no | on | off | n/a
    | \W{0,3} | [*•.#_-]+ | (?:[\w-]{1,20}[_-])?x{3,}
    | required | optional | missing | invalid | incorrect | wrong | expired | empty | unset
    | not[ ]set | unknown
    | fail | failed
    | enabled | disabled | redacted | masked | hidden | removed | omitted | set | present | absent
    | read | write
    | basic | bearer | digest | oauth2? | jwt | api[_-]?key | default
    | str | string | bytes | text | int | integer | number | bool | boolean | object | any
    | \$?\{\{[\w .\[\]-]{1,200}\}\} | \$\{[\w.-]{1,200}(?::?\?[^{}]{0,80})?\}
    | \$\([^()]{1,200}\)? | \$env:\w{1,80}
    | \{[\w.]{1,80}\} | <[^<>]{1,120}> | %[dqsvw] | %\w{1,40}%
    | \[\ ?(?:hidden|redacted|masked|filtered|removed|secret)\ ?\]
    | (?:your|insert|replace)[-_ ][\w -]{1,80} | [\w-]{1,80}[-_]here
    | .{0,12}(?:…|\.\.\.)[(\[](?:masked|hidden|redacted)[)\]]
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
# A PIN is some digits. What mixes letters with digits like a password is one too; `GPIO17`,
# `release-2411` and the hash of a commit are not.
_PIN = lazy_pattern(
    r"\d{4,12}|(?![0-9a-f]+$)(?=[^\d]{1,40}\d{1,40}[A-Za-z])[\w!@#$%^&*+-]{8,64}", re.ASCII
)
# The name of an environment variable, with or without what reads it.
_VARIABLE = lazy_pattern(r"\[?\$?[A-Z]{2,40}(?:_[A-Z]{1,40}){1,8}\]?|\$[A-Z_]{3,80}|\$[a-z_]{1,80}")
_VARIABLE_ENDINGS = ("_ID", "_KEY", "_NAME", "_PASS", "_VAR")
_SHELL_VARIABLE = lazy_pattern(r"\$[A-Z][A-Z_]{2,}")

_TYPE = lazy_pattern(
    r"""[&*]?(?:typing\.)?(?:
      str|string|bytes|bytearray|int|integer|number|bool|boolean|object|any
      |float|unknown|never|void|Any|String
      |Secret(?:Str|Bytes)
      |(?:Optional|Union|List|Sequence|Annotated|Literal|Option|Promise|Array|list
        |dict|Dict|Mapping|Record|Callable)[\[<]
      [^\n\]>]{0,80}[\]>]{1,3}
    )(?:[ ]?\|[ ]?[\w"']{1,40}){0,4}\??(?=[\s,;=)\]}|"'`]|$)""",
    re.VERBOSE,
)
# The last one is a quote that closes: `print("token:", token)`, `"token=" + token`.
_STANDS_IN = lazy_pattern(
    r"""
      (?:await|new|not|lambda|function|async|return|if|else)[ ]
    | [!&*]?(?:[A-Za-z_]{1,40}(?:\?\.|\.|::|->)){1,6}\w{3,60}\(
    | [!&*]?[A-Za-z_]{3,60}(?:\d{1,3}[A-Za-z_]{1,20})?\((?=[^\s\d]|$)
    | (?:os\.environ|process\.env
      |[A-Za-z_]{0,40}(?:env|config|settings|secrets|params|args|data|headers|cookies))\[
    | <[A-Za-z][^<>\n]{0,80}> | \$\( | \[\^
    | ["'][ ]?(?:\+[ ]?[A-Za-z_]{3,60}(?=[,)\]}\s;]|$) | [,)](?=[\s;)]|$))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PATH = lazy_pattern(
    r"[!&*@]?(\$?[A-Za-z_]\w{0,60}(?:(?:\?\.|\.|->|::)[A-Za-z_]\w{0,60}){0,6})"
    r"(?=[\s,;:)\]}\"'`+]|\.?$|\.\s)"
)
_ROOTS = frozenset(
    """
    self this cls os process env settings config cfg conf ctx context args opts options req request
    res response data input secrets vars github session user params props state payload event node
    var local module app
    """.split()
)
_WORDS = lazy_pattern(r"[A-Za-z][a-z]+|[A-Z]+")


def is_placeholder(value: str) -> bool:
    """Whether the value stands for a secret, or for none, and is not one itself."""
    if value.startswith(_PUBLIC):
        return True
    if len(value) > _MOST:
        return False
    return _PLACEHOLDER.fullmatch(value) is not None or _is_variable(value.strip())


def is_pin(value: str) -> bool:
    """Whether a value under a name like `pin` is one."""
    return _PIN.fullmatch(value) is not None


def type_at(text: str, at: int) -> re.Match[str] | None:
    """The type annotation that begins here: `str`, `Optional[str]`, `string | null`."""
    return _TYPE.match(text, at)


def is_code_at(text: str, at: int, name: str) -> bool:
    """Whether what begins here is code that stands for a value: `getpass()`, `os.environ[...]`,
    `self.token`."""
    if _STANDS_IN.match(text, at):
        return True
    found = _PATH.match(text, at)
    return found is not None and _stands_for_a_value(found[1], name)


def _is_variable(value: str) -> bool:
    if not _VARIABLE.fullmatch(value):
        return False
    if value.rstrip("]").endswith(_VARIABLE_ENDINGS) or is_secret_name(value):
        return True
    return _SHELL_VARIABLE.fullmatch(value) is not None


def _stands_for_a_value(path: str, name: str) -> bool:
    parts = re.split(r"\?\.|\.|->|::", path)
    if len(parts) > 1:
        return parts[0].lstrip("$") in _ROOTS or is_secret_name(parts[-1])
    if any(character.isdigit() for character in path):
        return False
    if path == name.rpartition(".")[2]:  # `password=password`
        return True
    return len(_WORDS.findall(path)) > 1 and is_secret_name(path)
