"""Harbour Desk: a small office on loopback, for the director to work in; `with site() as desk:`."""

from foreword.demos.site.site_pages import NAME, PASSWORD, ROWS
from foreword.demos.site.site_server import Site, site

__all__ = ["NAME", "PASSWORD", "ROWS", "Site", "site"]
