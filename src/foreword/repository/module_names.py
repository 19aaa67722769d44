"""Which files a path or a dotted name stands for: what a task or an import says, found in a tree.

People write paths from another folder (`site-packages/django/...`) and modules without their
suffix, so ends of paths are compared. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from foreword.repository.index import IndexedFile

_DEEPEST = 4  # folders that may be missing in front of a dotted name, as `src` is
# Files that a name may stand for: a name that more of them bear says nothing.
_MOST_MEANT = 2
_LIKELY = 0.3  # how surely a file is meant that only has the name of one in another folder


class ModuleNames:
    """The files of a tree, by the ends of their paths and by dotted names."""

    def __init__(self, files: Mapping[int, IndexedFile]) -> None:
        self._paths = {number: file.path for number, file in files.items()}
        self._by_name: dict[str, list[int]] = defaultdict(list)  # of the file, without folders
        self._by_last: dict[str, list[tuple[int, str]]] = defaultdict(list)  # of a dotted name
        for number, path in self._paths.items():
            self._by_name[path.rpartition("/")[2]].append(number)
            stem = path.rpartition(".")[0].removesuffix("/__init__").removesuffix("/index")
            self._by_last[stem.rpartition("/")[2]].append((number, stem))

    def _files_by_names(self, names: Sequence[str]) -> list[int]:
        """The files whose paths end in these names; few folders may be missing in front."""
        end = "/".join(names)
        found: list[int] = []
        for number, stem in self._by_last.get(names[-1], ()):
            is_same = f"/{stem}".endswith(f"/{end}")
            if is_same and stem.count("/") - end.count("/") < _DEEPEST:
                found.append(number)
        return found

    def files_at(self, wanted: str) -> list[tuple[int, float]]:
        """The files whose path ends as the one that was named, each with how surely it is
        meant."""
        names = [name for name in wanted.replace("\\", "/").split("/") if name.strip(".")]
        if not names:
            return []
        candidates = self._by_name.get(names[-1], ())
        for start in range(len(names)):
            end = "/".join(names[start:])
            found = [one for one in candidates if f"/{self._paths[one]}".endswith(f"/{end}")]
            if found:
                is_only_name = start == len(names) - 1 and len(names) > 1
                share = _LIKELY if is_only_name else 1.0
                return [(number, share / len(found)) for number in found]
        return []

    def nearest(self, module: str) -> Sequence[int]:
        """The files of a dotted name, or of the longest beginning of it with a dot."""
        names = module.split(".")
        for length in range(len(names), 1, -1):
            found = self._files_by_names(names[:length])
            if found:
                return found
        return ()

    def files_of_import(self, module: str, path: str) -> Sequence[int]:
        """The files that an import in the file at a path stands for."""
        if not module.startswith("."):
            found = self._files_by_names(module.replace("::", ".").replace("/", ".").split("."))
            return found if len(found) <= _MOST_MEANT else ()
        if "/" in module:  # ./part, ../part
            level = module.count("../") + 1
            rest = module.replace("../", "").removeprefix("./").replace("/", ".")
        else:
            level = len(module) - len(module.lstrip("."))
            rest = module.lstrip(".")
        folders = path.split("/")[:-level]
        names = [*folders, *(rest.split(".") if rest else [])]
        wanted = "/".join(names)
        candidates = self._by_last.get(names[-1], ()) if names else ()
        return [number for number, stem in candidates if stem == wanted][:1]
