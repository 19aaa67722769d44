"""Harbour Desk: a small office on loopback, for the director to work in; `with site() as desk:`."""

from foreword.demos.site.pages import NAME, PASSWORD, ROWS
from foreword.demos.site.server import Site, site

__all__ = ["NAME", "PASSWORD", "ROWS", "Site", "site"]
