"""Secrets in a text that are told by the name before them: assignments, fields, flags and
sentences.

`password: X`, `{"Name": "DB_PASSWORD", "Value": "X"}`, `--api-key X`, `curl -u me:X`, `the password
is X`. Every pattern takes time in proportion to the text, whatever the text. Which names count is
told by `names`, and what gives nothing away by `placeholders`.
"""

from __future__ import annotations

import re
from functools import partial

from foreword.secrets.placeholders import HIDDEN, is_code_at, is_pin, is_placeholder, type_at
from foreword.secrets.secret_names import (
    is_address_code,
    is_address_key,
    is_address_parameter,
    is_file_name,
    is_guarded_name,
    is_labelled_field,
    is_pin_name,
    is_secret_name,
    is_session_name,
    labels_a_secret,
    name_by_label,
)
from foreword.secrets.text_search import change_lines, compile_once

# Atomic groups: Python before 3.11.4 keeps what the last, failed round of a possessive group has
# read.
_BARE = r"""(?>(?:[^\s"'`,;&]|["'`](?=\w)|[,;&](?!\s|$|["'\w.-]{1,40}\s?[=:]))+)"""
_NAMED = re.compile(
    r"""
    (?<![\w.-])(?P<name>[\w.-]++) (?:\\{0,8}["'`]|\*\*|["']\])?[ \t]{0,40}(?P<sign>:=|=>|==?|:\*\*|:)[ \t]{0,40}
    (?:(?:bearer|basic|token|digest|api-?key|ssws|geniekey|splunk|bot|hmac|ntlm|negotiate|macaroon|aws4-hmac-sha256)
    [ \t]{1,8}(?=\S) | (?:\w{0,20}\.)?(?:Secret\w{0,8}|str|bytes|\[\]byte|String)\((?=["'`]) )?
    (?:[bfru]{1,2}(?=["']))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = re.compile(
    rf"""
      \\{{1,8}}" (?P<in_escaped>(?>(?:[^"\\\n]|\\(?!"))*))
    | " (?P<in_double>(?>(?:[^"\\\n]|\\.)*)) | (?:\\{{1,8}})?' (?P<in_single>(?>(?:[^'\\\n]|\\.)*))
    | ` (?P<in_ticks>[^`\n]*+)
    | (?P<brackets>\[[^\[\]]*+\](?=[\s,;&\])}}]|$) | \{{[^{{}}]*+\}}(?=[\s,;&\])}}]|$))
    | [|>][+-]?[ \t]{{0,8}}\n[ \t]{{1,40}}(?P<block>[^\n]++)
    | (?P<bare>{_BARE})
    """,
    re.VERBOSE,
)
# A number that is written in groups: `DE89 3704 0044 0532 0130 00`, `4111 1111 1111 1111`, `123
# 456`.
_GROUPED = r"[A-Z]{2}\d{2}|\d{3,6}"
_GROUPS = r"(?: [A-Z]{4}(?= \d))?(?: [A-Z]{0,2}\d{2,6}(?!\w))+"
# A parameter of an address, after `?` or `&` however that is written, up to the next one.
_PARAMETER_SIGNS, _BEFORE_PARAMETER = ("?", "&", "#", "&amp;"), frozenset("?&#;\\")
_WRITTEN_SIGN = r"u00(?:26|3[Ff]|23)"
_PARAMETER = r"""(?P<bare>(?!\[)[^\s"'`<>&#:;,()\]}|\\]++)"""
# In an address inside another, the signs are encoded, once or more:
# `next=https%3A%2F%2Fhost%2F%3Fcode%3D...`.
_ENCODED = (
    r"%(?:25){0,4}3[Dd](?P<value>(?>(?:[\w.~+/-]|%(?!(?:25){0,4}2[36]|2[02C])[0-9A-Fa-f]{2})+))"
)
_ENCODED_NAME = r"(?:%(?:25){0,4}(?:3[Ff]|26|23)|(?<![\w%.-]))(?P<name>[\w.-]+)\Z"
# characters that are looked at in front of the sign: no parameter of an address has a longer name
_MOST_NAME = 80
# In the address of a login, in any case: `/oauth/callback?state=...`.
_LOGIN = r"(?i)callback|oauth|openid|/auth|[/.]sso|login|log-in|signin|sign-in|verif|magic|[?&;#]state=|redirect_uri="
_MOST_ADDRESS = 400  # characters that are looked at on either side: what says so is near
# Characters: `?code=404`, `?code=DE` and `?code=EUR` let nobody in, nor does a word without a digit
# (`?code=summer`), unless it is as long as a code that came without one by chance.
_LEAST_PARAMETER, _LONG_PARAMETER = 6, 20
_ASSIGNED_TO_TYPE = re.compile(r"[ \t]{0,8}=(?!=)[ \t]{0,8}")
_LABEL = re.compile(r"""(?:\\{0,8}["'`])?(?P<label>[^"'`\\\n,{}<>;]{1,80})""")
_OTHER_OBJECT = re.compile(r"[{}<>]|\n[ \t]*(?:\n|-[ \t])")
_MOST_BETWEEN = 200

_FLAG = rf"""(?x)(?<![\w.-])(?P<name>--[\w-]++)(?:
      (?P<sign>[ \t]{{1,8}}["']?)(?!-)(?P<value>(?<=["'])[^"'\n]++|{_BARE})
    | (?P<listed>["'],\s{{0,40}}["'])(?P<item>[^"'\n]++))"""
_USER = r"""(?x)(?<![\w-])(?P<before>(?:-u|-U|--user|--proxy-user)(?:[ \t]{1,8}|=|["'],\s{0,40}|(?<=-u))["']?
    (?P<user>[A-Za-z0-9_][\w.@%\\-]{0,80}):)(?!//)(?P<value>[^\s"'`]++)"""
_SHORT = r"""(?x)(?<![\w-])(?P<before>(?P<flag>-[pPa])(?P<gap>[ \t]{1,8}|["'],\s{0,40}(?=["']))?["']?)
    (?P<value>[^\s"'`-][^\s"'`]*+)"""
# `page.fill("#password", "X")`
_FILLED = r"""(?x)(?P<before>\b(?:fill|type)\((?P<quote>["'`])(?P<label>(?:(?!(?P=quote))[^\n]){1,120})(?P=quote),
    \s{0,8}["'`])(?P<value>[^"'`\n]++)"""
_NO_LOGIN = re.compile(
    r"\b(?:docker|podman|nerdctl|kubectl|compose|buildah|chown|rsync|install|date)\b"
)
# What takes a password after a short flag: joined to it, or apart. For `mysql -p x`, x is a
# database.
_JOINED = {"-p": re.compile(r"\b(?:mysql|mariadb|sshpass)")}
_APART = {
    "-p": re.compile(r"\b(?:sshpass|mongo\w{0,10}|(?:docker|podman|helm)\b.{0,40}\blogin)\b"),
    "-P": re.compile(r"\b(?:un)?zip\b"),
    "-a": re.compile(r"\bredis-cli\b"),
}
_COMMAND_ENDS = re.compile(r"[\n;|&]")
_LOOK_BACK = 200

_SAID = r"""(?ix)(?<![\w.-])(?P<before>
    (?P<name>pass(?:word|phrase|code)|pwd|secret|token|otp|(?:api|secret|access|private)[ ](?:key|token))
    (?:[ ](?:for|of|to)[ ][\w@.-]{1,60}(?:[ ][\w@.-]{1,60})?)?
    (?:[ ]{0,4}[=:] | [ ]{1,4}(?:is|was|will[ ]be|set[ ]to)(?:[ ](?:now|still|currently|set[ ]to))?:?)[ ]{1,4})
    (?:(?P<quote>["'`])(?P<quoted>[^"'`\n]{1,400})(?P=quote)|(?P<word>(?>[^\s"'`,;]+)))"""
_SAID_WORDS = ("pass", "pwd", "secret", "token", "otp", " key")
_CLAUSE_ENDS = re.compile(r"\s*(?:$|\n|[,;](?=\s))|\s(?:and|but|so)\b")
_LETTERS = re.compile(r"[^\W\d_]+")
_ABOUT = re.compile(r"\w+(?:ed|ing|able|ible|ly|ful|less|ive|al|ent|ous)", re.IGNORECASE)
_PLAIN = frozenset(
    """
    a an the this that these those it is are was be must should can cannot may will would not never
    no none only also to for from in on at with by of as or and but if when then than too very so
    via your my our their his her its use uses see set get enter type choose provide pass add any
    all each one same flag option argument parameter value field value values string default empty
    required optional missing invalid valid incorrect correct wrong right expired weak strong short
    long safe secure unsafe insecure ok okay fine good bad new old known unknown hidden shown here
    there gone lost stolen broken written given taken seen sent kept unset null true false minimum
    maximum at least support instead where what which how why who plain encrypted hashed stored both
    still now just already always chosen
    """.split()
)
# `Auth: click the button` goes on as a sentence. Only passwords are ever plain words, so only they
# are hidden there.
_SENTENCE = re.compile(r"(?<=: )[A-Z]?[a-z]{1,14} (?=[a-z`(])")
_PASSWORD = re.compile(r"pass|pwd|secret|cred", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[A-Za-z]+(?= )")
_COUNT = re.compile(r"[\d.,]{1,11}")
# A session of a login has a long random name; that of a conversation is a UUID or is chosen by
# someone.
_IDENTIFIER = re.compile(r"""[\\"'`\[]{0,10}[\w%.+/-]{1,200}""", re.ASCII)
_RANDOM = re.compile(r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{16}")
_WORD_ALONE = re.compile(r"\S{1,80}[ \t]{0,8}(?:\n|$)")
_MIXED = re.compile(r"(?=[^\s\d`]{0,40}\d)(?=[^\sA-Za-z`]{0,40}[A-Za-z])\S{6}")
_DIGIT = re.compile(r"\d")
_CLOSING = ".,;)}]"
_MOST_CLOSING = 2


def hide_assignments(text: str) -> str:
    """The text with every value that stands under a secret's name replaced with `[hidden]`."""
    if ":" in text or "=" in text:
        text = _without_named(text)
    if "%" in text and ("3D" in text or "3d" in text):
        text = compile_once(_ENCODED).sub(_without_encoded, text)
    if "-" in text:
        for pattern, without in (
            (_FLAG, _without_flag),
            (_USER, _without_user),
            (_SHORT, _without_short),
        ):
            text = compile_once(pattern).sub(without, text)
    text = change_lines(text, _SAID_WORDS, partial(compile_once(_SAID).sub, _without_said))
    if "fill(" in text or "type(" in text:
        text = compile_once(_FILLED).sub(_without_filled, text)
    return text


def argument_without_secret(command: str, flag: str, argument: str) -> str:
    """An argument from a list, hidden if the flag before it or the command, which is how the
    list begins, says so."""
    if flag.startswith("--") and _promises(flag) and not argument.startswith("--"):
        return argument if is_placeholder(argument) else HIDDEN
    whole = f"{command} {flag} {argument}"
    begins = len(whole) - len(argument)
    for pattern, without in ((_USER, _without_user), (_SHORT, _without_short)):
        found = compile_once(pattern).search(whole, len(command))
        if found and found.start("value") >= begins and without(found) != found[0]:
            return whole[begins : found.start("value")] + HIDDEN
    return argument


def _without_named(text: str) -> str:
    # What stands after a harmless name is searched in its turn: `url=https://host/?token=...`.
    pieces, done, at, labelled, labelled_as = [], 0, 0, -_MOST_BETWEEN, ""
    while found := _NAMED.search(text, at):
        at, name = found.end(), found["name"]
        label = _LABEL.match(text, at)
        if label and (named := name_by_label(name, label["label"])):
            labelled, labelled_as = label.end(), named
        elif is_labelled_field(name) and _are_beside(text, labelled, found.start()):
            name = labelled_as
        value = _value_of(text, name, found)
        if value is None:
            continue
        kind = value.lastgroup or ""
        shown = _replacement(name, value[kind], quoted=kind != "bare")
        pieces += [text[done : value.start(kind)], shown]
        done = at = value.end()
        if (
            shown == HIDDEN
            and compile_once(_GROUPED).fullmatch(value[kind])
            and (more := compile_once(_GROUPS).match(text, at))
        ):
            done = at = more.end()
    return "".join(pieces) + text[done:]


def _value_of(text: str, name: str, found: re.Match[str]) -> re.Match[str] | None:
    """What is assigned, if the name promises a secret and what follows could be one."""
    at = found.end()
    if not _promises(name):
        return _pin_at(text, name, at) or _parameter_at(text, found)
    if is_file_name(name) or _goes_on_as_a_sentence(text, name, at):
        return None
    if kind := type_at(text, at):
        assigned = _ASSIGNED_TO_TYPE.match(text, kind.end())
        if assigned is None:
            return None
        at = assigned.end()
    if (
        is_code_at(text, at, name)
        or (text.startswith("{", at) and not is_secret_name(name))
        or _is_open_session(text, name, at)
    ):
        return None
    if name.lower() == "pass" and not _is_password_under_pass(text, found):
        return None
    return _VALUE.match(text, at)


def _pin_at(text: str, name: str, at: int) -> re.Match[str] | None:
    value = _VALUE.match(text, at) if is_pin_name(name) else None
    return value if value and is_pin(value[value.lastgroup or 0].rstrip(_CLOSING)) else None


def _parameter_at(text: str, found: re.Match[str]) -> re.Match[str] | None:
    """The value of a parameter of an address that lets somebody in: `?code=...`, `&sig=...`,
    `\\u0026sig=...`."""
    name, start = found["name"], found.start()
    if text[start - 1 : start] not in _BEFORE_PARAMETER:
        return None
    sign = compile_once(_WRITTEN_SIGN).match(name) if text.startswith("\\", start - 1) else None
    if sign:
        name = name[sign.end() :]
    if found["sign"] != "=" or not (
        sign or text.endswith(_PARAMETER_SIGNS, max(0, start - 5), start)
    ):
        return None
    value = compile_once(_PARAMETER).match(text, found.end())
    before = text[max(0, start - _MOST_ADDRESS) : start]
    return (
        value
        if value
        and _lets_in(name, value[0], before, text[value.end() : value.end() + _MOST_ADDRESS])
        else None
    )


def _lets_in(name: str, value: str, before: str, after: str) -> bool:
    """Whether a parameter of an address is a secret though its name alone does not say so."""
    if len(value) < _LEAST_PARAMETER or (
        _DIGIT.search(value) is None and len(value) < _LONG_PARAMETER
    ):
        return False
    if is_address_parameter(name):
        return True
    if not is_address_code(name) and not is_address_key(name):
        return False
    if _RANDOM.search(value) or len(value) >= _LONG_PARAMETER:
        return True
    front = before.rsplit(maxsplit=1)[-1] if before else ""
    rest = after.split(maxsplit=1)[0] if after and not after[0].isspace() else ""
    return is_address_code(name) and compile_once(_LOGIN).search(front + rest) is not None


def _is_open_session(text: str, name: str, at: int) -> bool:
    return is_session_name(name) and not (
        (start := _IDENTIFIER.match(text, at)) and _RANDOM.search(start[0])
    )


def _promises(name: str) -> bool:
    return is_secret_name(name) or is_guarded_name(name)


def _goes_on_as_a_sentence(text: str, name: str, at: int) -> bool:
    if not _PASSWORD.search(name):
        return _SENTENCE.match(text, at) is not None
    word = _FIRST_WORD.match(text, at)
    return word is not None and word[0].lower() in _PLAIN


def _is_password_under_pass(text: str, found: re.Match[str]) -> bool:
    """`PASS: test_login` and `first pass: collect` are no passwords; `pass: hunter2` and
    `pass=x` are."""
    if not found["sign"].startswith(":") or text[found.end("name")] in "\"'":
        return True
    if found["name"].isupper():
        return False
    before = text[max(0, found.start() - _LOOK_BACK) : found.start()].rpartition("\n")[2]
    alone = not before.strip(" \t-") and _WORD_ALONE.match(text, found.end())
    return bool(alone or _MIXED.match(text, found.end()))


def _are_beside(text: str, labelled: int, field: int) -> bool:
    return field - labelled < _MOST_BETWEEN and _OTHER_OBJECT.search(text, labelled, field) is None


def _replacement(name: str, value: str, quoted: bool) -> str:
    if is_placeholder(value) or (
        is_guarded_name(name) and not is_secret_name(name) and _COUNT.fullmatch(value)
    ):
        return value
    if quoted:
        return HIDDEN
    closing = value[len(value.rstrip(_CLOSING)) :]
    if value in {HIDDEN + closing, HIDDEN + closing[1:]} or is_placeholder(value.rstrip(_CLOSING)):
        return value
    return HIDDEN + (closing if len(closing) <= _MOST_CLOSING else "")


def _without_flag(found: re.Match[str]) -> str:
    name, value = found["name"], found["value"] or found["item"]
    if (
        not _promises(name)
        or value.lower().rstrip(_CLOSING) in _PLAIN
        or is_code_at(value, 0, name)
    ):
        return found[0]
    return (
        name
        + (found["sign"] or found["listed"])
        + _replacement(name, value, quoted=found["value"] is None)
    )


def _without_encoded(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _MOST_NAME) : found.start()]
    named, value = compile_once(_ENCODED_NAME).search(before), found["value"]
    if named is None or is_placeholder(value):
        return found[0]
    after = found.string[found.end() : found.end() + _MOST_ADDRESS]
    secret = _promises(named["name"]) or _lets_in(named["name"], value, before, after)
    return found[0][: -len(value)] + HIDDEN if secret else found[0]


def _without_filled(found: re.Match[str]) -> str:
    secret = labels_a_secret("selector", found["label"]) and not is_placeholder(found["value"])
    return found["before"] + HIDDEN if secret else found[0]


def _without_user(found: re.Match[str]) -> str:
    user, value = found["user"], found["value"]
    plain = value == user or (user.isdigit() and value.isdigit()) or is_placeholder(value)
    return (
        found[0] if plain or _NO_LOGIN.search(_command_before(found)) else found["before"] + HIDDEN
    )


def _without_short(found: re.Match[str]) -> str:
    programs = (_APART if found["gap"] else _JOINED).get(found["flag"])
    if (
        programs is None
        or is_placeholder(found["value"])
        or not programs.search(_command_before(found))
    ):
        return found[0]
    return found["before"] + HIDDEN


def _command_before(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _LOOK_BACK) : found.start()].replace("\\\n", " ")
    return _COMMAND_ENDS.split(before)[-1]


def _without_said(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        quote = found["quote"]
        return (
            found[0]
            if is_placeholder(found["quoted"])
            else found["before"] + quote + HIDDEN + quote
        )
    word = found["word"].rstrip(".!?)")
    if not _could_be_said(found, word):
        return found[0]
    return found["before"] + HIDDEN + found["word"][len(word) :]


def _could_be_said(found: re.Match[str], word: str) -> bool:
    if is_placeholder(word) or word.startswith(HIDDEN) or is_code_at(word, 0, found["name"]):
        return False
    if not _PASSWORD.match(found["name"]):
        return len(word) >= 8 and _DIGIT.search(word) is not None and not _COUNT.fullmatch(word)
    if _LETTERS.fullmatch(word):
        ends = len(word) < len(found["word"]) or _CLAUSE_ENDS.match(found.string, found.end())
        return bool(ends) and word.lower() not in _PLAIN and _ABOUT.fullmatch(word) is None
    return len(word) > 3 and (_DIGIT.search(word) is not None or len(word) > 5)
