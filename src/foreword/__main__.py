"""The `foreword` command. `--version` answers before anything heavy is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        from foreword import __version__

        if sys.stdout is not None:
            sys.stdout.write(f"foreword {__version__}\n")
        return
    from foreword.faces.cli.main import run

    run()


if __name__ == "__main__":
    main()
