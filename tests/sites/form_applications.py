"""Applications of lists and forms for `make sites`: Django's admin over a table of orders, and
Gradio with a list to choose from and a slow function."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.sites.application import (
    LARGE,
    Application,
    Page,
    Start,
    clicking,
    finish,
    free_port,
    opening,
    reading,
    running,
    typing,
    waiting,
)
from tests.sites.small_applications import PASSWORD

KIND = 'role=listbox[name="Kind"]'
WEIGH = 'role=button[name="Weigh"]'
ORDERS = [f"Order {number}" for number in range(1, 16)]
_MODELS = """\
from django.db import models

class Order(models.Model):
    name = models.CharField(max_length=40)
    amount = models.IntegerField(default=1)
    language = models.CharField(choices=[('en', 'English'), ('de', 'Deutsch')], default='en')
    class Meta:
        ordering = ['id']
    def __str__(self):
        return self.name
"""
_ADMIN = """\
from django.contrib import admin
from shop.models import Order

@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):
    list_display = ['name', 'amount', 'language']
    list_filter = ['language']
    search_fields = ['name']
"""
# As pgAdmin has it: a list without a label of its own beside the link for a lost password.
_LOGIN = """\
{% extends "admin/login.html" %}{% block content %}{{ block.super }}
<a href="/lost">Forgotten your password?</a>
<select name="language"><option selected>English</option><option>Deutsch</option></select>
{% endblock %}
"""
_SETTINGS = """
INSTALLED_APPS += ['shop']
DEFAULT_AUTO_FIELD = 'django.db.models.BigAutoField'
TEMPLATES[0]['DIRS'] = [BASE_DIR / 'templates']
"""
_MAKE_USER = f"""\
from django.contrib.auth import get_user_model
get_user_model().objects.create_superuser('ada', 'ada@example.org', {PASSWORD!r})
"""


def enter_orders(folder: Path) -> None:
    """Make the orders of Django's admin those fifteen and no others."""
    with closing(sqlite3.connect(folder / "db.sqlite3", timeout=30)) as db, db:
        db.execute("DELETE FROM shop_order")
        new = "INSERT INTO shop_order (id, name, amount, language) VALUES (?, ?, 1, 'en')"
        db.executemany(new, enumerate(ORDERS, 1))


def names_in(folder: Path, table: str) -> list[str]:
    """What the rows of an application's own table are called."""
    with closing(sqlite3.connect(folder / "db.sqlite3", timeout=30)) as db:
        return [name for (name,) in db.execute(f"SELECT name FROM {table} ORDER BY rowid")]


@contextmanager
def django(folder: Path) -> Iterator[Application]:
    """Django's admin over fifteen orders: the list of them, and a new one by a form."""
    finish([LARGE / "django-admin", "startproject", "mysite", "."], folder)
    (folder / "shop").mkdir()
    (folder / "templates" / "admin").mkdir(parents=True)
    (folder / "shop" / "__init__.py").touch()
    (folder / "shop" / "models.py").write_text(_MODELS)
    (folder / "shop" / "admin.py").write_text(_ADMIN)
    (folder / "templates" / "admin" / "login.html").write_text(_LOGIN)
    with (folder / "mysite" / "settings.py").open("a") as settings:
        settings.write(_SETTINGS)
    manage: list[str | Path] = [LARGE / "python", "manage.py"]
    finish([*manage, "makemigrations", "shop", "-v", "0"], folder)
    finish([*manage, "migrate", "-v", "0"], folder)
    finish([*manage, "shell", "-c", _MAKE_USER], folder)
    enter_orders(folder)
    added = ("Hex nut M8", "Carriage bolt", "Spring washer")
    port = free_port()
    with running([*manage, "runserver", "--noreload", f"127.0.0.1:{port}"], folder, port):
        listing, form = "/admin/shop/order/", "/admin/shop/order/add/"
        yield Application(
            name="django",
            port=port,
            login=[
                opening(f"/admin/login/?next={listing}"),
                typing('role=textbox[name="Username:"]', "ada"),
                typing('role=textbox[name="Password:"]', "{{creds.password}}"),
                clicking('role=button[name="Log in"]'),
            ],
            listing=[opening(listing), reading("#result_list .field-name")],
            form=[
                opening(form),
                typing('role=textbox[name="Name:"]', "{{row.name}}"),
                typing('role=spinbutton[name="Amount:"]', "7"),
                typing('role=combobox[name="Language:"]', "Deutsch"),
                clicking('role=button[name="Save"]'),
            ],
            rows=tuple({"name": name} for name in added),
            pages=[
                Page(path=listing, instruction="delete Order 1"),
                Page(path=form, instruction="save the order"),
                Page(path=f"{listing}15/change/", instruction="delete the order"),
                Page(path="/admin/auth/user/1/change/", instruction="save the user"),
            ],
            effects=lambda: Counter([n for n in names_in(folder, "shop_order") if n in added]),
            expected=lambda: names_in(folder, "shop_order"),
            sends_by_page=True,
            folder=folder,
        )


_PAGE = """\
import sqlite3, time
import gradio

def weigh(kind, name):
    with sqlite3.connect('db.sqlite3', timeout=30) as db:
        db.execute('INSERT INTO item VALUES (?, ?)', (name, kind))
    time.sleep(2)
    return f'{name} is a {kind}'

with gradio.Blocks() as page:
    kind = gradio.Dropdown(['nut', 'bolt', 'nutmeg', 'washer'], label='Kind', value='bolt')
    name = gradio.Textbox(label='Name')
    button = gradio.Button('Weigh')
    result = gradio.Textbox(label='Result')
    gradio.Markdown(SHELVES)
    button.click(weigh, [kind, name], result)
page.launch(server_name='127.0.0.1', server_port=PORT, quiet=True, ssr_mode=False)
"""


@contextmanager
def gradio(folder: Path) -> Iterator[Application]:
    """Gradio, which has no login: a list to choose from, and a function that takes two seconds."""
    shelves = [f"shelf {number}" for number in range(1, 11)]
    port = free_port()
    written = "\n".join(f"- {shelf}" for shelf in shelves)
    (folder / "app.py").write_text(
        _PAGE.replace("SHELVES", repr(written)).replace("PORT", str(port))
    )
    with closing(sqlite3.connect(folder / "db.sqlite3")) as db, db:
        db.execute("CREATE TABLE item (name TEXT, kind TEXT)")
    added = ("hex nut M8", "carriage bolt", "spring washer")
    options = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    with running([LARGE / "python", "app.py"], folder, port, **options):
        yield Application(
            name="gradio",
            port=port,
            login=[],
            listing=[opening("/"), waiting(WEIGH), reading(".prose li")],
            form=[
                opening("/"),
                waiting(WEIGH),
                ("select", {"selector": KIND, "choices": ["washer"]}, {}),
                typing('role=textbox[name="Name"]', "{{row.name}}"),
                clicking(WEIGH),
            ],
            rows=tuple({"name": name} for name in added),
            pages=[Page(path="/", instruction="weigh a nut", ready=WEIGH)],
            effects=lambda: Counter(names_in(folder, "item")),
            expected=lambda: shelves,
            folder=folder,
        )


FORM_APPLICATIONS: dict[str, Start] = {"django": django, "gradio": gradio}
