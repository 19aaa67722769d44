"""Hide secrets in a text that are told by the name before them.

`password: X`, `{"Name": "DB_PASSWORD", "Value": "X"}`, `--api-key X`, `curl -u me:X`, `the password
is X`. Every pattern takes time in proportion to the text, whatever the text. Which names count says
`secret_names`, what gives nothing away `placeholders`; secrets without a name are those of
`patterns`.
"""

from __future__ import annotations

import re
from functools import partial

from foreword.pattern import lazy_pattern
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
    name_by_label,
)
from foreword.secrets.text_search import change_lines, compile_once

# Atomic groups: Python before 3.11.4 keeps what the last, failed round of a possessive group has
# read.
_BARE = r"""(?>(?:[^\s"'`,;&]|["'`](?=\w)|[,;&](?!\s|$|["'\w.-]{1,40}\s?[=:]))+)"""
_NAMED = lazy_pattern(
    r"""
    (?<![\w.-])(?P<name>[\w.-]++)
    (?:\\{0,8}["'`]|\*\*|["']\])?[ \t]{0,40}(?P<sign>:=|=>|==?|:\*\*|:)[ \t]{0,40}
    (?:
        (?:bearer|basic|token|digest|api-?key|ssws|geniekey|splunk|bot|hmac|ntlm|negotiate|macaroon
        |aws4-hmac-sha256)[ \t]{1,8}(?=\S)
        | (?:\w{0,20}\.)?(?:Secret\w{0,8}|str|bytes|\[\]byte|String)\((?=["'`])
    )?
    (?:[bfru]{1,2}(?=["']))?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_VALUE = lazy_pattern(
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
_PARAMETER_SIGNS = ("?", "&", "#", "&amp;")
_BEFORE_PARAMETER = frozenset("?&#;\\")  # the last character of each, and of one written in JSON
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
_LOGIN = (
    r"(?i)callback|oauth|openid|/auth|[/.]sso|login|log-in|signin|sign-in|verif|magic"
    r"|[?&;#]state=|redirect_uri="
)
_MOST_ADDRESS = 400  # characters that are looked at on either side: what says so is near
# Characters: `?code=404`, `?code=DE` and `?code=EUR` let nobody in, nor does a word without a digit
# (`?code=summer`), unless it is as long as a code that came without one by chance.
_LEAST_PARAMETER = 6
_LONG_PARAMETER = 20
_ASSIGNED_TO_TYPE = lazy_pattern(r"[ \t]{0,8}=(?!=)[ \t]{0,8}")
_LABEL = lazy_pattern(r"""(?:\\{0,8}["'`])?(?P<label>[^"'`\\\n,{}<>;]{1,80})""")
_OTHER_OBJECT = lazy_pattern(r"[{}<>]|\n[ \t]*(?:\n|-[ \t])")
# Characters between a field that names a value and the value: further away, it is another object's.
_MOST_BETWEEN = 200

_FLAG = rf"""(?x)(?<![\w.-])(?P<name>--[\w-]++)(?:
      (?P<sign>[ \t]{{1,8}}["']?)(?!-)(?P<value>(?<=["'])[^"'\n]++|{_BARE})
    | (?P<listed>["'],\s{{0,40}}["'])(?P<item>[^"'\n]++))"""
_USER = r"""(?x)(?<![\w-])
    (?P<before>
        (?:-u|-U|--user|--proxy-user)(?:[ \t]{1,8}|=|["'],\s{0,40}|(?<=-u))["']?
        (?P<user>[A-Za-z0-9_][\w.@%\\-]{0,80}):
    )
    (?!//)(?P<value>[^\s"'`]++)"""
_SHORT = r"""(?x)(?<![\w-])
    (?P<before>(?P<flag>-[pPa])(?P<gap>[ \t]{1,8}|["'],\s{0,40}(?=["']))?["']?)
    (?P<value>[^\s"'`-][^\s"'`]*+)"""
# `page.fill("#password", "X")`
_FILLED = r"""(?x)
    (?P<before>
        \b(?:fill|type)\(
        (?P<quote>["'`])(?P<label>(?:(?!(?P=quote))[^\n]){1,120})(?P=quote),
        \s{0,8}["'`]
    )
    (?P<value>[^"'`\n]++)"""
_NO_LOGIN = lazy_pattern(
    r"\b(?:docker|podman|nerdctl|kubectl|compose|buildah|chown|rsync|install|date)\b"
)
# What takes a password after a short flag: joined to it, or apart. For `mysql -p x`, x is a
# database.
_JOINED = {"-p": lazy_pattern(r"\b(?:mysql|mariadb|sshpass)")}
_APART = {
    "-p": lazy_pattern(r"\b(?:sshpass|mongo\w{0,10}|(?:docker|podman|helm)\b.{0,40}\blogin)\b"),
    "-P": lazy_pattern(r"\b(?:un)?zip\b"),
    "-a": lazy_pattern(r"\bredis-cli\b"),
}
_COMMAND_ENDS = lazy_pattern(r"[\n;|&]")
_LOOK_BACK = 200  # characters in front of a flag that its command is looked for in

_SENTENCE_SECRET = r"""(?ix)(?<![\w.-])(?P<before>
    (?P<name>
        pass(?:word|phrase|code)|pwd|secret|token|otp|(?:api|secret|access|private)[ ](?:key|token)
    )
    (?:[ ](?:for|of|to)[ ][\w@.-]{1,60}(?:[ ][\w@.-]{1,60})?)?
    (?:
        [ ]{0,4}[=:]
        | [ ]{1,4}(?:is|was|will[ ]be|set[ ]to)(?:[ ](?:now|still|currently|set[ ]to))?:?
    )[ ]{1,4})
    (?:(?P<quote>["'`])(?P<quoted>[^"'`\n]{1,400})(?P=quote)|(?P<word>(?>[^\s"'`,;]+)))"""
_SENTENCE_WORDS = ("pass", "pwd", "secret", "token", "otp", " key")
_CLAUSE_ENDS = lazy_pattern(r"\s*(?:$|\n|[,;](?=\s))|\s(?:and|but|so)\b")
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_ABOUT = lazy_pattern(r"\w+(?:ed|ing|able|ible|ly|ful|less|ive|al|ent|ous)", re.IGNORECASE)
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
_SENTENCE = lazy_pattern(r"(?<=: )[A-Z]?[a-z]{1,14} (?=[a-z`(])")
_PASSWORD = lazy_pattern(r"pass|pwd|secret|cred", re.IGNORECASE)
_FIRST_WORD = lazy_pattern(r"[A-Za-z]+(?= )")
_COUNT = lazy_pattern(r"[\d.,]{1,11}")
# A session of a login has a long random name; that of a conversation is a UUID or is chosen by
# someone.
_IDENTIFIER = lazy_pattern(r"""[\\"'`\[]{0,10}[\w%.+/-]{1,200}""", re.ASCII)
_RANDOM = lazy_pattern(r"(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{16}")
_WORD_ALONE = lazy_pattern(r"\S{1,80}[ \t]{0,8}(?:\n|$)")
_MIXED = lazy_pattern(r"(?=[^\s\d`]{0,40}\d)(?=[^\sA-Za-z`]{0,40}[A-Za-z])\S{6}")
_DIGIT = lazy_pattern(r"\d")
_CLOSING = ".,;)}]"  # what may end a sentence or an object behind a value
_MOST_CLOSING = 2  # of them are left standing: more are part of the value


def hide_assignments(text: str) -> str:
    """The text with every value that stands under a secret's name replaced with `[hidden]`."""
    if ":" in text or "=" in text:
        text = _hide_named_values(text)
    if "%" in text and ("3D" in text or "3d" in text):
        text = compile_once(_ENCODED).sub(_hide_encoded_parameter, text)
    if "-" in text:
        text = compile_once(_FLAG).sub(_hide_flag_value, text)
        text = compile_once(_USER).sub(_hide_user_password, text)
        text = compile_once(_SHORT).sub(_hide_short_flag, text)
    hide_sentences = partial(compile_once(_SENTENCE_SECRET).sub, _hide_in_sentence)
    text = change_lines(text, _SENTENCE_WORDS, hide_sentences)
    if "fill(" in text or "type(" in text:
        text = compile_once(_FILLED).sub(_hide_typed, text)
    return text


def argument_without_secret(command: str, flag: str, argument: str) -> str:
    """An argument from a list, hidden if the flag before it or the command, which is how the
    list begins, says so."""
    if flag.startswith("--") and _names_a_secret(flag) and not argument.startswith("--"):
        return argument if is_placeholder(argument) else HIDDEN
    whole = f"{command} {flag} {argument}"
    begins = len(whole) - len(argument)
    for pattern, hide_in in ((_USER, _hide_user_password), (_SHORT, _hide_short_flag)):
        found = compile_once(pattern).search(whole, len(command))
        if found and found.start("value") >= begins and hide_in(found) != found[0]:
            return whole[begins : found.start("value")] + HIDDEN
    return argument


def _hide_named_values(text: str) -> str:
    # What stands after a harmless name is searched in its turn: `url=https://host/?token=...`.
    pieces: list[str] = []
    done = 0
    at = 0
    label_end = -_MOST_BETWEEN  # of the last field that names the value in another
    label_name = ""
    while found := _NAMED.search(text, at):
        at = found.end()
        name = found["name"]
        label = _LABEL.match(text, at)
        named = name_by_label(name, label["label"]) if label else ""
        if label and named:
            label_end = label.end()
            label_name = named
        elif is_labelled_field(name) and _is_same_object(text, label_end, found.start()):
            name = label_name
        value = _value_of(text, name, found)
        if value is None:
            continue
        kind = value.lastgroup or ""
        replacement = _replacement(name, value[kind], quoted=kind != "bare")
        pieces += [text[done : value.start(kind)], replacement]
        at = value.end()
        if replacement == HIDDEN and compile_once(_GROUPED).fullmatch(value[kind]):
            more = compile_once(_GROUPS).match(text, at)
            if more:
                at = more.end()
        done = at
    return "".join(pieces) + text[done:]


def _value_of(text: str, name: str, found: re.Match[str]) -> re.Match[str] | None:
    """What is assigned, if the name promises a secret and what follows could be one."""
    at = found.end()
    if not _names_a_secret(name):
        return _pin_at(text, name, at) or _parameter_at(text, found)
    if is_file_name(name) or _goes_on_as_a_sentence(text, name, at):
        return None
    annotation = type_at(text, at)
    if annotation:
        assigned = _ASSIGNED_TO_TYPE.match(text, annotation.end())
        if assigned is None:
            return None
        at = assigned.end()
    if is_code_at(text, at, name) or _is_open_session(text, name, at):
        return None
    if text.startswith("{", at) and not is_secret_name(name):
        return None
    if name.lower() == "pass" and not _is_password_under_pass(text, found):
        return None
    return _VALUE.match(text, at)


def _pin_at(text: str, name: str, at: int) -> re.Match[str] | None:
    value = _VALUE.match(text, at) if is_pin_name(name) else None
    if value is None or not is_pin(value[value.lastgroup or 0].rstrip(_CLOSING)):
        return None
    return value


def _parameter_at(text: str, found: re.Match[str]) -> re.Match[str] | None:
    """The value of a parameter of an address that lets somebody in: `?code=...`, `&sig=...`,
    `\\u0026sig=...`."""
    name = found["name"]
    start = found.start()
    if found["sign"] != "=" or text[start - 1 : start] not in _BEFORE_PARAMETER:
        return None
    written_sign = None
    if text.startswith("\\", start - 1):
        written_sign = compile_once(_WRITTEN_SIGN).match(name)
    if written_sign:
        name = name[written_sign.end() :]
    elif not text.endswith(_PARAMETER_SIGNS, max(0, start - 5), start):
        return None
    value = compile_once(_PARAMETER).match(text, found.end())
    if value is None:
        return None
    before = text[max(0, start - _MOST_ADDRESS) : start]
    after = text[value.end() : value.end() + _MOST_ADDRESS]
    return value if _lets_in(name, value[0], before=before, after=after) else None


def _lets_in(name: str, value: str, *, before: str, after: str) -> bool:
    """Whether a parameter of an address is a secret though its name alone does not say so."""
    if len(value) < _LEAST_PARAMETER:
        return False
    if _DIGIT.search(value) is None and len(value) < _LONG_PARAMETER:
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
    """Whether this is the name of a session that is no login's: it does not look like chance."""
    if not is_session_name(name):
        return False
    identifier = _IDENTIFIER.match(text, at)
    return identifier is None or _RANDOM.search(identifier[0]) is None


def _names_a_secret(name: str) -> bool:
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
    if not before.strip(" \t-") and _WORD_ALONE.match(text, found.end()):
        return True
    return _MIXED.match(text, found.end()) is not None


def _is_same_object(text: str, label_end: int, field: int) -> bool:
    if field - label_end >= _MOST_BETWEEN:
        return False
    return _OTHER_OBJECT.search(text, label_end, field) is None


def _replacement(name: str, value: str, *, quoted: bool) -> str:
    """What is written in place of a value under this name."""
    if is_placeholder(value):
        return value
    if is_guarded_name(name) and not is_secret_name(name) and _COUNT.fullmatch(value):
        return value
    if quoted:
        return HIDDEN
    bare = value.rstrip(_CLOSING)
    closing = value[len(bare) :]
    if value in (HIDDEN + closing, HIDDEN + closing[1:]) or is_placeholder(bare):
        return value
    return HIDDEN + (closing if len(closing) <= _MOST_CLOSING else "")


def _hide_flag_value(found: re.Match[str]) -> str:
    name = found["name"]
    value = found["value"] or found["item"]
    if not _names_a_secret(name) or is_code_at(value, 0, name):
        return found[0]
    if value.lower().rstrip(_CLOSING) in _PLAIN:
        return found[0]
    between = found["sign"] or found["listed"]
    return name + between + _replacement(name, value, quoted=found["value"] is None)


def _hide_encoded_parameter(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _MOST_NAME) : found.start()]
    named = compile_once(_ENCODED_NAME).search(before)
    value = found["value"]
    if named is None or is_placeholder(value):
        return found[0]
    name = named["name"]
    after = found.string[found.end() : found.end() + _MOST_ADDRESS]
    if _names_a_secret(name) or _lets_in(name, value, before=before, after=after):
        return found[0][: -len(value)] + HIDDEN
    return found[0]


def _hide_typed(found: re.Match[str]) -> str:
    is_secret = name_by_label("selector", found["label"]) == "password"
    if not is_secret or is_placeholder(found["value"]):
        return found[0]
    return found["before"] + HIDDEN


def _hide_user_password(found: re.Match[str]) -> str:
    user = found["user"]
    value = found["value"]
    are_numbers = user.isdigit() and value.isdigit()  # `docker run -u 1000:1000`
    if value == user or are_numbers or is_placeholder(value):
        return found[0]
    if _NO_LOGIN.search(_command_before(found)):
        return found[0]
    return found["before"] + HIDDEN


def _hide_short_flag(found: re.Match[str]) -> str:
    programs = (_APART if found["gap"] else _JOINED).get(found["flag"])
    if programs is None or is_placeholder(found["value"]):
        return found[0]
    if not programs.search(_command_before(found)):
        return found[0]
    return found["before"] + HIDDEN


def _command_before(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - _LOOK_BACK) : found.start()].replace("\\\n", " ")
    return _COMMAND_ENDS.split(before)[-1]


def _hide_in_sentence(found: re.Match[str]) -> str:
    if found["quoted"] is not None:
        if is_placeholder(found["quoted"]):
            return found[0]
        return found["before"] + found["quote"] + HIDDEN + found["quote"]
    word = found["word"].rstrip(".!?)")
    if not _could_be_secret_word(found, word):
        return found[0]
    return found["before"] + HIDDEN + found["word"][len(word) :]


def _could_be_secret_word(found: re.Match[str], word: str) -> bool:
    """Whether a word that follows `the password is` is one, and does not tell about it."""
    if is_placeholder(word) or word.startswith(HIDDEN) or is_code_at(word, 0, found["name"]):
        return False
    has_digit = _DIGIT.search(word) is not None
    if not _PASSWORD.match(found["name"]):
        return len(word) >= 8 and has_digit and not _COUNT.fullmatch(word)
    if _LETTERS.fullmatch(word):
        is_last = len(word) < len(found["word"]) or _CLAUSE_ENDS.match(found.string, found.end())
        return bool(is_last) and word.lower() not in _PLAIN and _ABOUT.fullmatch(word) is None
    return len(word) > 3 and (has_digit or len(word) > 5)
