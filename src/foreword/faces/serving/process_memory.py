"""Keep what a server process holds near what it uses, however long it runs.

Two things make it grow that no cache of ours does: the C library keeps what threads have freed in a
heap for each of them, and the collector waits the longer the more there is. Measured with
`benchmarks.serve_soak`: without this 6 MB a minute in the first ten, nearly all of it free.
"""

from __future__ import annotations

import ctypes
import gc

COLLECT_AFTER = 700  # objects, as Python has it: a server that runs for days collects often
M_ARENA_MAX = -8  # of malloc.h
MOST_HEAPS = 2  # threads wait for one another in malloc far less than for the interpreter


def freeze_loaded_objects() -> None:
    """To be called when everything is loaded: what is there now is not looked at by the
    collector again."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # of the GNU C library; others have one heap
        mallopt(M_ARENA_MAX, MOST_HEAPS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def give_back() -> None:
    """Give free pages back to the system; takes milliseconds, and holds the interpreter for none
    of them."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
