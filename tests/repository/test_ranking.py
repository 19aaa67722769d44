"""What tells sources from tests, and which files a name stands for."""

from __future__ import annotations

import pytest

from foreword.repository.file_ranking import is_test
from foreword.repository.index import IndexedFile
from foreword.repository.module_names import ModuleNames
from tests.corpus import rows


@pytest.mark.parametrize(("path", "expected"), rows("repository/test_paths.jsonl"))
def test_tests_are_told_by_where_they_are_and_what_they_are_called(
    path: str, expected: bool
) -> None:
    assert is_test(path) is expected


def test_a_name_stands_for_the_files_whose_paths_end_so() -> None:
    paths = ["src/shop/__init__.py", "src/shop/cart.py", "src/shop/pay/cart.py", "web/cart.ts"]
    names = ModuleNames(
        {
            number: IndexedFile(number=number, path=path, language="python", lines=1, words=1)
            for number, path in enumerate(paths)
        }
    )

    assert names.files_at("/usr/lib/site-packages/shop/cart.py") == [(1, 1.0)]
    assert names.files_at("elsewhere/cart.ts") == [(3, 0.3)]
    assert names.files_at("nothing.py") == []
    assert list(names.nearest("shop.pay.cart.Cart.total")) == [2]
    assert list(names.files_of_import(".cart", "src/shop/pay/money.py")) == [2]
    assert list(names.files_of_import("..cart", "src/shop/pay/money.py")) == [1]
    assert list(names.files_of_import("./cart", "web/page.ts")) == [3]
    assert list(names.files_of_import("shop", "src/shop/cart.py")) == [0]
