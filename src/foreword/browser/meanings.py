"""Words that mean the same on a page: who asks for the login finds "Sign in".

Pure. Pages and people use different words for one thing, and write one word in several ways; each
group here becomes a word of its own, which is added to a text that has any of them.
"""

from __future__ import annotations

from functools import cache

from foreword.pattern import lazy_pattern

# What people do and see in most applications, as it is written on buttons, links and fields. The
# first of each group stands for it. Words that mean two things (post, enter) are in the group in
# which a button has them.
GROUPS = (
    ("login", "log in", "log on", "logon", "sign in", "signin", "authenticate"),
    ("logout", "log out", "log off", "logoff", "sign out", "signout", "sign off"),
    ("signup", "sign up", "register", "registration", "create account", "join"),
    ("save", "create", "add", "submit", "insert", "new", "apply", "store", "update", "ok", "plus"),
    ("send", "submit", "post", "publish", "deploy", "share"),
    ("delete", "remove", "trash", "discard", "erase", "bin", "destroy"),
    ("edit", "change", "modify", "update", "rename", "alter"),
    ("search", "find", "filter", "look up", "lookup", "query"),
    ("next", "following", "older", "forward", "load more", "show more", "more results"),
    ("previous", "prev", "back", "newer", "earlier"),
    ("cancel", "close", "dismiss", "abort"),
    ("confirm", "ok", "yes", "accept", "agree", "continue", "proceed", "done", "finish"),
    ("upload", "attach", "import", "choose file", "browse files"),
    ("download", "export", "save as"),
    ("open", "show", "view", "details", "display"),
    ("settings", "preferences", "options", "configuration", "configure", "setup"),
    ("username", "user name", "login name", "account name", "e-mail", "email", "user id"),
    ("password", "passphrase", "pass word", "passcode", "pin"),
    ("user", "account", "member", "person", "people", "profile"),
    ("run", "execute", "start", "launch", "play"),
    ("stop", "interrupt", "halt", "pause"),
    ("copy", "duplicate", "clone"),
    ("sort", "order by", "order"),
    ("refresh", "reload"),
    ("menu", "navigation"),
    ("message", "comment", "note", "text"),
    # roles, in the words of people
    ("field", "textbox", "searchbox", "spinbutton", "input", "text box"),
    ("list", "combobox", "listbox", "dropdown", "drop-down", "select", "choose", "choice"),
    ("checkbox", "switch", "tick", "toggle", "check box"),
    ("button", "press", "click"),
    ("tab", "tabs"),
)
_WORD = lazy_pattern(r"[^\W_]+")
_CAMEL = lazy_pattern(r"(?<=[a-z])(?=[A-Z])")


def with_meanings(text: str) -> str:
    """The text, and for each meaning that it has a word that no page writes."""
    words = _WORD.findall(_CAMEL.sub(" ", text).lower())
    meanings: list[str] = []
    for length in (1, 2):
        for at in range(len(words) - length + 1):
            meanings += _meanings().get(tuple(words[at : at + length]), ())
    return " ".join([text, *dict.fromkeys(meanings)])


@cache
def _meanings() -> dict[tuple[str, ...], list[str]]:
    """The meanings of each word and pair of words."""
    found: dict[tuple[str, ...], list[str]] = {}
    for group in GROUPS:
        for written in group:
            found.setdefault(tuple(_WORD.findall(written)), []).append(f"meaning{group[0]}")
    # Words are written with endings as well: adds, added, adding.
    for words in list(found):
        if len(words) == 1:
            for form in _forms(words[0]):
                found.setdefault((form,), found[words])
    return found


def _forms(word: str) -> tuple[str, ...]:
    stem = word.removesuffix("e")
    return (f"{word}s", f"{word}es", f"{stem}ed", f"{stem}ing")
