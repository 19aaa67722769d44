"""A small code base to ask questions about: a shop with prices, a cart, and their tests."""

from __future__ import annotations

from pathlib import Path

from tests.corpus import text_of

PRICES = text_of("repository/prices.py.txt")

CART = text_of("repository/cart.py.txt")

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/cart.py": CART,
    "shop/greeting.py": 'def greet(name):\n    return f"Hello {name}"\n',
    "shop/colours.py": "".join(f"def colour_{n}():\n    return {n}\n\n\n" for n in range(90)),
    "tests/test_prices.py": "from shop import prices\n\n\ndef test_it():\n    pass\n",
    "README.md": "# Shop\n\nA shop with prices and a cart.\n",
}
TASK = """apply_discount takes more than the whole price

`apply_discount(10, 150)` returns -5. A discount over 100 percent should be an error.
"""
TRACE = """It fails when I pay

Traceback (most recent call last):
  File "/home/me/app.py", line 3, in <module>
    cart.total()
  File "/usr/lib/python3/site-packages/shop/cart.py", line 15, in total
    full = sum(...)
KeyError: 'pear'
"""


def write(root: Path, files: dict[str, str] | None = None) -> Path:
    """Write the files below a root."""
    for path, text in (FILES if files is None else files).items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root
