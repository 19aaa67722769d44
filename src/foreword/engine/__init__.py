"""The engine: sections in, a fitted and rendered package with its report out. Pure and
synchronous."""
