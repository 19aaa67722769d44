"""Which git commands only read: an allow-list of verbs and, for each, of the options that are
understood.

Pure. An option that is not listed is refused, also in a spelling that git would complete by itself
(`--outp`). None that is listed writes a file, starts a program, reaches the network or reads a file
by its path; `git_command` runs what passes, and sees to it that a repository's configuration does
none of that either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_GLOBAL = """
    --no-pager -P --no-replace-objects --no-optional-locks --no-lazy-fetch --no-advice
    --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs
""".split()
_SHOWN_CHARS = 30  # of a word in a reason, which is one line
_VERSION = ("--version", "-v", "version")
_SIGNATURE = re.compile(r"%[-+ ]?G|%\(\*?signature")  # in a format, both start a signature program

# In the lists below, a name that ends in `=` may have a value, and one with a value may have only
# that.
_COMMITS = """
    all branches= tags= remotes= glob= exclude= exclude-hidden= reflog not merge boundary
    max-count= skip= since= after= until= before= since-as-filter= max-age= min-age=
    author= committer= grep= grep-reflog= all-match invert-grep regexp-ignore-case basic-regexp extended-regexp
    fixed-strings perl-regexp merges no-merges min-parents= max-parents= no-min-parents no-max-parents
    first-parent exclude-first-parent-only cherry cherry-pick cherry-mark left-only right-only left-right
    walk-reflogs simplify-by-decoration simplify-merges show-pulls full-history dense sparse ancestry-path=
    remove-empty ignore-missing date-order author-date-order topo-order reverse graph no-graph show-linear-break=
    oneline pretty= format= abbrev-commit no-abbrev-commit encoding= expand-tabs= no-expand-tabs
    notes= no-notes show-notes= no-standard-notes standard-notes date= relative-date parents children
    decorate= no-decorate decorate-refs= decorate-refs-exclude= clear-decorations source use-mailmap mailmap
    no-use-mailmap no-mailmap no-show-signature no-walk= do-walk log-size follow no-follow
    color= no-color quiet abbrev= no-abbrev
"""
_CHANGES = """
    patch no-patch raw unified= patch-with-raw patch-with-stat stat= numstat shortstat compact-summary
    no-compact-summary dirstat= dirstat-by-file= cumulative summary name-only name-status full-index binary
    abbrev= no-abbrev break-rewrites= find-renames= no-renames rename-empty no-rename-empty find-copies=
    find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex find-object= text
    color= no-color color-moved= no-color-moved color-moved-ws= no-color-moved-ws word-diff= word-diff-regex=
    color-words= ws-error-highlight= no-ext-diff no-textconv submodule=short ignore-submodules
    ignore-submodules=all ignore-submodules=dirty ignore-space-at-eol ignore-cr-at-eol ignore-space-change
    ignore-all-space ignore-blank-lines ignore-matching-lines= inter-hunk-context= function-context
    no-function-context exit-code quiet check relative= no-relative src-prefix= dst-prefix= no-prefix
    default-prefix line-prefix= ita-invisible-in-index ita-visible-in-index minimal patience histogram
    anchored= diff-algorithm= indent-heuristic no-indent-heuristic stat-width= stat-name-width= stat-count=
    stat-graph-width= rotate-to= skip-to= merge-base cc combined-all-paths diff-merges= no-diff-merges dd root
    no-commit-id always output-indicator-new= output-indicator-old= output-indicator-context=
"""
_REFS = """
    contains= no-contains= merged= no-merged= points-at= sort= format= color= no-color ignore-case omit-empty
    column= no-column abbrev= no-abbrev
"""
_LISTING = ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
# the next word, where there is no `=`
_TAKES_NEXT = ("--sort", "--format", "--points-at", "--type", "--default")
_OURS = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verb:
    """What is understood of a verb, and how git is called for it."""

    start: tuple[str, ...]
    options: str = ""
    letters: str = ""  # short options that take no value; they may stand together
    valued: str = ""  # short options whose value is the rest of the word, or the next word
    numbers: bool = False  # `-5`
    end: tuple[str, ...] = ()
    most: int | None = None  # how many words that are no options it may have: one more would write
    listing: bool = False  # names only behind an option that lists; without one they are made


@dataclass(frozen=True, slots=True)
class GitCommand:
    """A git command that only reads: the folders of its `-C`, and its words from the verb on."""

    folders: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def verb(self) -> str:
        """The command of git that is run."""
        return self.words[0]


def _log(*start: str, letters: str = "", options: str = "", end: tuple[str, ...] = ()) -> _Verb:
    return _Verb(
        start=(*start, *_OURS),
        options=_COMMITS + _CHANGES + options,
        letters="pusziEFPgmctqabwRWDr" + letters,
        valued="nLSGUMCBlXI",
        numbers=True,
        end=end,
    )


def _diff(*start: str, letters: str = "", options: str = "") -> _Verb:
    return _Verb(
        start=(*start, *_OURS),
        options=_CHANGES + options,
        letters="puszaqbwRWDmct" + letters,
        valued="SGUMCBlXIn",
        numbers=True,
    )


_VERBS = {
    "log": _log("log"),
    "show": _log("show"),
    "whatchanged": _log("whatchanged"),
    "reflog": _log("reflog", "show"),
    "reflog show": _log("reflog", "show"),
    # `git stash list` would start another git, which does just this
    "stash list": _log(
        "log", "--walk-reflogs", "--first-parent", "--format=%gd: %gs", end=("--glob=refs/stas[h]",)
    ),
    "stash show": _diff("stash", "show"),
    "diff": _diff("diff", options="cached staged base ours theirs"),
    "diff-tree": _diff(
        "diff-tree", letters="rv", options="pretty= format= oneline notes= no-notes"
    ),
    "diff-index": _diff("diff-index", letters="r", options="cached"),
    "diff-files": _diff("diff-files", letters="r", options="base ours theirs"),
    "status": _Verb(
        start=("status", "--ignore-submodules=dirty"),
        options="""short branch show-stash ahead-behind no-ahead-behind porcelain= long verbose null
            untracked-files= ignored= ignore-submodules ignore-submodules=all ignore-submodules=dirty
            column= no-column renames no-renames find-renames=""",
        letters="sbvz",
        valued="uM",
    ),
    "shortlog": _Verb(
        start=("shortlog",),
        options=_COMMITS + "committer numbered summary email group=",
        letters="nsecgiEFP",
        valued="w",
        numbers=True,
    ),
    "rev-list": _Verb(
        start=("rev-list",),
        options=_COMMITS
        + """count objects objects-edge header timestamp no-commit-header commit-header
            object-names no-object-names disk-usage= unpacked""",
        letters="giEFPmcrt",
        valued="n",
        numbers=True,
    ),
    "rev-parse": _Verb(
        start=("rev-parse",),
        options="""verify quiet short= abbrev-ref= symbolic symbolic-full-name all branches= tags= remotes=
            glob= exclude= not revs-only no-revs flags no-flags default= disambiguate= since= after= until=
            before= show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir git-path=
            path-format= is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository
            show-object-format= show-ref-format local-env-vars""",
        letters="q",
    ),
    "blame": _Verb(
        start=("blame", "--no-textconv"),
        options="""incremental root show-stats score-debug show-name show-number porcelain line-porcelain
            show-email ignore-rev= color-lines color-by-age minimal abbrev= no-abbrev date= since= after=
            first-parent reverse no-progress no-textconv encoding=""",
        letters="bfnpctlsew",
        valued="LCM",
    ),
    "describe": _Verb(
        start=("describe",),
        options="""contains debug all tags long first-parent abbrev= exact-match candidates= match= exclude=
            always dirty=""",
    ),
    "branch": _Verb(
        start=("branch",),
        options=_REFS + "list all remotes verbose show-current",
        letters="lavrqi",
        listing=True,
    ),
    "tag": _Verb(start=("tag",), options=_REFS + "list", letters="li", valued="n", listing=True),
    "for-each-ref": _Verb(
        start=("for-each-ref",),
        options=_REFS + "count= shell perl python tcl exclude=",
        letters="sp",
    ),
    "show-ref": _Verb(
        start=("show-ref",),
        options="head heads branches tags dereference hash= abbrev= verify quiet exists",
        letters="dq",
        valued="s",
    ),
    "ls-files": _Verb(
        start=("ls-files",),
        options="""cached deleted modified others ignored stage killed unmerged directory no-empty-directory eol
            exclude-standard exclude= error-unmatch full-name with-tree= abbrev= deduplicate sparse format=""",
        letters="ztvfcdmoisku",
        valued="x",
    ),
    "ls-tree": _Verb(
        start=("ls-tree",),
        options="long name-only name-status object-only full-name full-tree format= abbrev=",
        letters="drtzl",
    ),
    "grep": _Verb(
        start=("grep", "--no-textconv", "--no-recurse-submodules"),
        options="""cached untracked exclude-standard no-exclude-standard invert-match ignore-case word-regexp
            text recursive no-recursive max-depth= extended-regexp basic-regexp fixed-strings perl-regexp
            line-number column full-name files-with-matches name-only files-without-match null only-matching
            count color= no-color break heading context= before-context= after-context= show-function
            function-context and or not quiet all-match max-count= no-textconv threads=""",
        letters="viwaIrEGFPnhHlLzocpWq",
        valued="ABCem",
        numbers=True,
    ),
    "cat-file": _Verb(
        start=("cat-file",),
        options="batch= batch-check= batch-all-objects buffer unordered use-mailmap",
        letters="teps",
    ),
    "name-rev": _Verb(
        start=("name-rev",),
        options="name-only tags refs= exclude= all no-undefined always undefined",
    ),
    "merge-base": _Verb(
        start=("merge-base",), options="all octopus independent is-ancestor fork-point", letters="a"
    ),
    "cherry": _Verb(start=("cherry",), options="verbose abbrev=", letters="v"),
    "count-objects": _Verb(
        start=("count-objects",), options="verbose human-readable", letters="vH"
    ),
    "check-ignore": _Verb(
        start=("check-ignore",), options="quiet verbose non-matching no-index", letters="qvnz"
    ),
    "symbolic-ref": _Verb(
        start=("symbolic-ref",), options="quiet short no-recurse", letters="q", most=1
    ),
    "remote": _Verb(start=("remote",), options="verbose", letters="v", most=0),
    "remote get-url": _Verb(start=("remote", "get-url"), options="push all", most=1),
    "worktree list": _Verb(
        start=("worktree", "list"), options="porcelain verbose", letters="vz", most=0
    ),
    "config": _Verb(
        start=("config",),
        options="""get get-all get-regexp list null name-only type= bool int show-origin show-scope default=
            local includes no-includes""",
        letters="lz",
        most=1,
    ),
}
KNOWN = tuple(sorted({name.split()[0] for name in _VERBS}))


def parse_git_command(words: Sequence[str]) -> GitCommand | str:
    """The words behind `git` as a command that only reads, or the reason why they are not one."""
    found = _behind_global(words)
    if isinstance(found, str):
        return found
    folders, rest = found
    if not rest:
        return "git needs a verb, as in git log"
    if rest in ([word] for word in _VERSION):
        return GitCommand(folders, ("version",))
    name = " ".join(rest[:2]) if " ".join(rest[:2]) in _VERBS else rest[0]
    verb = _VERBS.get(name)
    if verb is None:
        return f"git {_short(name)} is not among git's commands that only read"
    given = rest[len(name.split()) :]
    reason = _unknown_option(given, verb) or _writing(given, verb)
    if reason:
        return f"git {name} {reason}"
    return GitCommand(folders, (*verb.start, *_arguments(given, verb.end)))


def names_a_verb(words: Sequence[str]) -> bool:
    """Whether the words behind `git` say what it is to do."""
    found = _behind_global(words)
    return isinstance(found, str) or bool(found[1])


def _behind_global(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]] | str:
    """The folders of every `-C`, and what is behind git's own options; or the one that is
    refused."""
    folders: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in _VERSION:
        option = rest.pop(0)
        if option == "-C" and rest:
            folders.append(rest.pop(0))
        elif option not in _GLOBAL:
            return f"git {_short(option)} is not among the options that only read"
    return tuple(folders), rest


def _unknown_option(given: Sequence[str], verb: _Verb) -> str:
    """The first word that looks like an option and is not understood, as a reason.

    Every such word counts, whether it is an option or the value of the one before it: git alone
    knows which it is.
    """
    for word in _before_paths(given):
        if word.startswith("-") and not _is_known(word, verb):
            return f"{_short(word)} is not among the options that only read"
        if "format=" in verb.options and _SIGNATURE.search(word.replace("%%", "")):
            return f"{_short(word)} would start a program that checks signatures"
    return ""


def _is_known(word: str, verb: _Verb) -> bool:
    if word.startswith("--"):
        name, equals, _ = word[2:].partition("=")
        known = {*verb.options.split(), "end-of-options"}
        return word[2:] in known or f"{name}=" in known or (not equals and name in known)
    if word[1:].isdigit():
        return verb.numbers
    for letter in word[1:]:
        if letter in verb.valued:
            return True  # the rest is its value
        if letter not in verb.letters:
            return False
    return len(word) > 1


def _writing(given: Sequence[str], verb: _Verb) -> str:
    """Why these words would not only read, though every option is known."""
    options = _before_paths(given)
    names = list(given)[len(options) + 1 :]
    for before, word in zip(["", *options], options, strict=False):
        if not word.startswith("-") and before not in _TAKES_NEXT:
            names.append(word)
    if verb.most is not None and len(names) > verb.most:
        return f"with {_short(names[verb.most])} does more than read"
    lists = any(word.split("=")[0] in _LISTING or re.match(r"-\w*[ln]", word) for word in options)
    if verb.listing and names and not lists:
        return f"{_short(names[0])} would make one; --list lists"
    return ""


def _short(word: str) -> str:
    return word if len(word) <= _SHOWN_CHARS else f"{word[: _SHOWN_CHARS - 3]}..."


def _before_paths(given: Sequence[str]) -> list[str]:
    words = list(given)
    return words[: words.index("--")] if "--" in words else words


def _arguments(given: Sequence[str], end: tuple[str, ...]) -> list[str]:
    """The words as git gets them.

    Behind `--` there are only paths, unless that was the value of an option (`git grep -e --
    -Oprogram`). So a path there that begins with a dash is written as one.
    """
    options = _before_paths(given)
    paths = [
        f"./{word}" if word.startswith("-") else word for word in list(given)[len(options) + 1 :]
    ]
    return [*options, *end, *(["--", *paths] if len(options) < len(given) else [])]
