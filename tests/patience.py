"""How long tests wait for what is to come: what is waited for comes in a moment, and whoever waits
so long on a machine under heavy load waits for something that hangs."""

from __future__ import annotations

PATIENCE_SECONDS = 300.0
