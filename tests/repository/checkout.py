"""A small code base to ask questions about: a shop with prices, a cart, and their tests."""

from __future__ import annotations

from pathlib import Path

PRICES = '''"""What things cost."""

from decimal import Decimal

RATES = {"de": Decimal("0.19"), "fr": Decimal("0.20")}


class PriceList:
    """Prices by article."""

    def __init__(self, prices):
        self.prices = dict(prices)

    def lookup(self, article):
        """The price of one article."""
        return self.prices[article]


def apply_discount(price, percent):
    """The price less so many percent."""
    if percent < 0:
        raise ValueError(percent)
    return price - price * percent / 100


def with_tax(price, country):
    return price * (1 + RATES[country])
'''

CART = '''"""What somebody wants to buy."""

from shop.prices import PriceList, apply_discount


class Cart:
    def __init__(self, prices: PriceList):
        self.prices = prices
        self.lines = []

    def add(self, article, count=1):
        self.lines.append((article, count))

    def total(self, percent=0):
        full = sum(self.prices.lookup(article) * count for article, count in self.lines)
        return apply_discount(full, percent)
'''

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
