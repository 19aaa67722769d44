"""The git commands that only read, and for each the options that are understood: one table.

Data only. In a list of options, a name that ends in `=` may have a value, and one with a value may
have only that (`submodule=short`). None that is listed writes a file, starts a program, reaches the
network or reads a file by its path. Whether words of a command line are among them is
`git_options`' business.
"""

from __future__ import annotations

from dataclasses import dataclass

# --- options that several verbs share -------------------------------------------------------------

_STARTING_POINTS = """
    all branches= tags= remotes= glob= exclude= exclude-hidden= reflog not merge boundary
"""
_COMMIT_FILTERS = """
    max-count= skip= since= after= until= before= since-as-filter= max-age= min-age=
    author= committer= grep= grep-reflog= all-match invert-grep regexp-ignore-case
    basic-regexp extended-regexp fixed-strings perl-regexp
    merges no-merges min-parents= max-parents= no-min-parents no-max-parents
    first-parent exclude-first-parent-only
    cherry cherry-pick cherry-mark left-only right-only left-right
"""
_HISTORY = """
    walk-reflogs simplify-by-decoration simplify-merges show-pulls full-history dense sparse
    ancestry-path= remove-empty ignore-missing no-walk= do-walk follow no-follow
    date-order author-date-order topo-order reverse graph no-graph show-linear-break=
"""
_COMMIT_FORMAT = """
    oneline pretty= format= abbrev-commit no-abbrev-commit abbrev= no-abbrev
    encoding= expand-tabs= no-expand-tabs color= no-color quiet log-size source
    notes= no-notes show-notes= no-standard-notes standard-notes
    date= relative-date parents children
    decorate= no-decorate decorate-refs= decorate-refs-exclude= clear-decorations
    use-mailmap mailmap no-use-mailmap no-mailmap no-show-signature
"""
_COMMITS = _STARTING_POINTS + _COMMIT_FILTERS + _HISTORY + _COMMIT_FORMAT

_DIFF_FORMAT = """
    patch no-patch raw unified= patch-with-raw patch-with-stat
    stat= stat-width= stat-name-width= stat-count= stat-graph-width= numstat shortstat
    compact-summary no-compact-summary dirstat= dirstat-by-file= cumulative summary
    name-only name-status full-index binary text abbrev= no-abbrev
    color= no-color color-moved= no-color-moved color-moved-ws= no-color-moved-ws
    word-diff= word-diff-regex= color-words= ws-error-highlight=
    inter-hunk-context= function-context no-function-context
    src-prefix= dst-prefix= no-prefix default-prefix line-prefix=
    output-indicator-new= output-indicator-old= output-indicator-context=
"""
_DIFF_CONTENT = """
    break-rewrites= find-renames= no-renames rename-empty no-rename-empty
    find-copies= find-copies-harder irreversible-delete
    diff-filter= pickaxe-all pickaxe-regex find-object=
    ignore-space-at-eol ignore-cr-at-eol ignore-space-change ignore-all-space
    ignore-blank-lines ignore-matching-lines=
    minimal patience histogram anchored= diff-algorithm= indent-heuristic no-indent-heuristic
    relative= no-relative rotate-to= skip-to= ita-invisible-in-index ita-visible-in-index
"""
_DIFF_MERGES = """
    merge-base cc combined-all-paths diff-merges= no-diff-merges dd root no-commit-id always
    exit-code quiet check
"""
_DIFF_PROGRAMS = """
    no-ext-diff no-textconv submodule=short
    ignore-submodules ignore-submodules=all ignore-submodules=dirty
"""
_CHANGES = _DIFF_FORMAT + _DIFF_CONTENT + _DIFF_MERGES + _DIFF_PROGRAMS

_REFS = """
    contains= no-contains= merged= no-merged= points-at= sort= format= color= no-color
    ignore-case omit-empty column= no-column abbrev= no-abbrev
"""

# what git is told before any word of the user's, so that no diff starts a program
_SAFE_DIFF = ("--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty")


# --- verbs ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What is understood of a verb, and how git is called for it."""

    start: tuple[str, ...]
    options: str = ""
    letters: str = ""  # short options that take no value; they may stand together
    valued: str = ""  # short options whose value is the rest of the word, or the next word
    numbers: bool = False  # `-5`
    end: tuple[str, ...] = ()
    most: int | None = None  # how many words that are no options it may have: one more would write
    listing: bool = False  # names only behind an option that lists; without one they are made


def _log(*start: str, end: tuple[str, ...] = ()) -> Verb:
    return Verb(
        start=(*start, *_SAFE_DIFF),
        options=_COMMITS + _CHANGES,
        letters="pusziEFPgmctqabwRWDr",
        valued="nLSGUMCBlXI",
        numbers=True,
        end=end,
    )


def _diff(*start: str, letters: str = "", options: str = "") -> Verb:
    return Verb(
        start=(*start, *_SAFE_DIFF),
        options=_CHANGES + options,
        letters="puszaqbwRWDmct" + letters,
        valued="SGUMCBlXIn",
        numbers=True,
    )


_HISTORY_VERBS = {
    "log": _log("log"),
    "show": _log("show"),
    "whatchanged": _log("whatchanged"),
    "reflog": _log("reflog", "show"),
    "reflog show": _log("reflog", "show"),
    # `git stash list` would start another git, which does just this
    "stash list": _log(
        "log", "--walk-reflogs", "--first-parent", "--format=%gd: %gs", end=("--glob=refs/stas[h]",)
    ),
    "shortlog": Verb(
        start=("shortlog",),
        options=_COMMITS + "committer numbered summary email group=",
        letters="nsecgiEFP",
        valued="w",
        numbers=True,
    ),
    "rev-list": Verb(
        start=("rev-list",),
        options=_COMMITS
        + """
            count objects objects-edge header timestamp no-commit-header commit-header
            object-names no-object-names disk-usage= unpacked
        """,
        letters="giEFPmcrt",
        valued="n",
        numbers=True,
    ),
    "cherry": Verb(start=("cherry",), options="verbose abbrev=", letters="v"),
    "merge-base": Verb(
        start=("merge-base",), options="all octopus independent is-ancestor fork-point", letters="a"
    ),
}
_CHANGE_VERBS = {
    "stash show": _diff("stash", "show"),
    "diff": _diff("diff", options="cached staged base ours theirs"),
    "diff-tree": _diff(
        "diff-tree", letters="rv", options="pretty= format= oneline notes= no-notes"
    ),
    "diff-index": _diff("diff-index", letters="r", options="cached"),
    "diff-files": _diff("diff-files", letters="r", options="base ours theirs"),
    "status": Verb(
        start=("status", "--ignore-submodules=dirty"),
        options="""
            short branch show-stash ahead-behind no-ahead-behind porcelain= long verbose null
            untracked-files= ignored=
            ignore-submodules ignore-submodules=all ignore-submodules=dirty
            column= no-column renames no-renames find-renames=
        """,
        letters="sbvz",
        valued="uM",
    ),
}
_NAME_VERBS = {
    "rev-parse": Verb(
        start=("rev-parse",),
        options="""
            verify quiet short= abbrev-ref= symbolic symbolic-full-name
            all branches= tags= remotes= glob= exclude= not revs-only no-revs flags no-flags
            default= disambiguate= since= after= until= before=
            show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir
            git-path= path-format= is-inside-work-tree is-inside-git-dir
            is-bare-repository is-shallow-repository
            show-object-format= show-ref-format local-env-vars
        """,
        letters="q",
    ),
    "describe": Verb(
        start=("describe",),
        options="""
            contains debug all tags long first-parent abbrev= exact-match candidates=
            match= exclude= always dirty=
        """,
    ),
    "name-rev": Verb(
        start=("name-rev",),
        options="name-only tags refs= exclude= all no-undefined always undefined",
    ),
    "branch": Verb(
        start=("branch",),
        options=_REFS + "list all remotes verbose show-current",
        letters="lavrqi",
        listing=True,
    ),
    "tag": Verb(start=("tag",), options=_REFS + "list", letters="li", valued="n", listing=True),
    "for-each-ref": Verb(
        start=("for-each-ref",),
        options=_REFS + "count= shell perl python tcl exclude=",
        letters="sp",
    ),
    "show-ref": Verb(
        start=("show-ref",),
        options="head heads branches tags dereference hash= abbrev= verify quiet exists",
        letters="dq",
        valued="s",
    ),
    "symbolic-ref": Verb(
        start=("symbolic-ref",), options="quiet short no-recurse", letters="q", most=1
    ),
    "remote": Verb(start=("remote",), options="verbose", letters="v", most=0),
    "remote get-url": Verb(start=("remote", "get-url"), options="push all", most=1),
    "worktree list": Verb(
        start=("worktree", "list"), options="porcelain verbose", letters="vz", most=0
    ),
}
_CONTENT_VERBS = {
    "blame": Verb(
        start=("blame", "--no-textconv"),
        options="""
            incremental root show-stats score-debug show-name show-number porcelain
            line-porcelain show-email ignore-rev= color-lines color-by-age minimal
            abbrev= no-abbrev date= since= after= first-parent reverse
            no-progress no-textconv encoding=
        """,
        letters="bfnpctlsew",
        valued="LCM",
    ),
    "grep": Verb(
        start=("grep", "--no-textconv", "--no-recurse-submodules"),
        options="""
            cached untracked exclude-standard no-exclude-standard
            invert-match ignore-case word-regexp text recursive no-recursive max-depth=
            extended-regexp basic-regexp fixed-strings perl-regexp
            line-number column full-name files-with-matches name-only files-without-match
            null only-matching count color= no-color break heading
            context= before-context= after-context= show-function function-context
            and or not quiet all-match max-count= no-textconv threads=
        """,
        letters="viwaIrEGFPnhHlLzocpWq",
        valued="ABCem",
        numbers=True,
    ),
    "ls-files": Verb(
        start=("ls-files",),
        options="""
            cached deleted modified others ignored stage killed unmerged
            directory no-empty-directory eol exclude-standard exclude= error-unmatch
            full-name with-tree= abbrev= deduplicate sparse format=
        """,
        letters="ztvfcdmoisku",
        valued="x",
    ),
    "ls-tree": Verb(
        start=("ls-tree",),
        options="long name-only name-status object-only full-name full-tree format= abbrev=",
        letters="drtzl",
    ),
    "cat-file": Verb(
        start=("cat-file",),
        options="batch= batch-check= batch-all-objects buffer unordered use-mailmap",
        letters="teps",
    ),
    "count-objects": Verb(start=("count-objects",), options="verbose human-readable", letters="vH"),
    "check-ignore": Verb(
        start=("check-ignore",), options="quiet verbose non-matching no-index", letters="qvnz"
    ),
    "config": Verb(
        start=("config",),
        options="""
            get get-all get-regexp list null name-only type= bool int show-origin show-scope
            default= local includes no-includes
        """,
        letters="lz",
        most=1,
    ),
}
VERBS: dict[str, Verb] = {**_HISTORY_VERBS, **_CHANGE_VERBS, **_NAME_VERBS, **_CONTENT_VERBS}
