"""The `foreword` command. `--version` answers before anything heavy is imported."""

from __future__ import annotations

import gc
import sys

# Objects that are made before the collector looks for garbage. Importing makes as many and none of
# it is garbage: at Python's 700, looking takes a tenth of a short command; at 50,000, half of that;
# at 200,000, a long one holds some megabytes more.
COLLECT_AFTER = 100_000


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        from foreword import __version__

        if sys.stdout is not None:
            sys.stdout.write(f"foreword {__version__}\n")
        return
    gc.set_threshold(COLLECT_AFTER)
    from foreword.faces.cli.main import run

    run()


if __name__ == "__main__":
    main()
