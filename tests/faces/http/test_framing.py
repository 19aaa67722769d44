"""Requests that two readers may see ending in two places: each is refused, and nothing that is
hidden in it is done."""

from __future__ import annotations

import pytest

from tests.attacks import sample
from tests.faces.http.running import Address

pytestmark = pytest.mark.attack

INSIDE = b'{"name": "smuggled"}'
START = b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SMUGGLED = START + b"Content-Length: %d\r\n\r\n" % len(INSIDE) + INSIDE
CHUNKED = b"Transfer-Encoding: chunked\r\n"
EMPTY = b"0\r\n\r\n"
HEADS = {  # the rest of the head, and a body
    "a length and a coding": (b"Content-Length: 4\r\n" + CHUNKED, EMPTY),
    "a coding and a length": (CHUNKED + b"Content-Length: 4\r\n", EMPTY),
    "a coding and no length to speak of": (CHUNKED + b"Content-Length: 0\r\n", EMPTY),
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3\r\n", b"{} "),
    "two lengths in one": (b"Content-Length: 2, 3\r\n", b"{} "),
    "a length with a sign": (b"Content-Length: +2\r\n", b"{}"),
    "a length below nothing": (b"Content-Length: -2\r\n", b"{}"),
    "a length in another base": (b"Content-Length: 0x2\r\n", b"{}"),
    "a length as Python writes it": (b"Content-Length: 1_0\r\n", b"{}        "),
    "a length that is empty": (b"Content-Length:\r\n", b"{}"),
    "a space before the colon of a length": (b"Content-Length : 2\r\n", b"{}"),
    "a space before the colon of a coding": (b"Transfer-Encoding : chunked\r\n", EMPTY),
    "a length without a colon": (b"Content-Length 2\r\n", b"{}"),
    "another coding": (b"Transfer-Encoding: gzip\r\n", EMPTY),
    "no coding": (b"Transfer-Encoding: identity\r\n", EMPTY),
    "a coding twice": (b"Transfer-Encoding: chunked, chunked\r\n", EMPTY),
    "a coding twice in two lines": (CHUNKED + CHUNKED, EMPTY),
    "two codings": (b"Transfer-Encoding: gzip, chunked\r\n", EMPTY),
    "two codings in two lines": (CHUNKED + b"Transfer-Encoding: identity\r\n", EMPTY),
    "a coding that is nearly one": (b"Transfer-Encoding: xchunked\r\n", EMPTY),
    "a coding behind a tabulator that goes down": (b"Transfer-Encoding: \x0bchunked\r\n", EMPTY),
    "a coding on a folded line": (b"Transfer-Encoding:\r\n chunked\r\n", EMPTY),
    "a coding inside a folded line": (
        b"X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        b"{}",
    ),
    "a line that ends with LF": (b"X: y\nContent-Length: 2\r\n", b"{}"),
    "a line that ends with CR": (b"X: y\rContent-Length: 9\r\nContent-Length: 2\r\n", b"{}"),
    "a head that ends with LF": (b"Content-Length: 2\r\nX: y\n", b"{}"),
    "a NUL in a name": (b"X\0: y\r\nContent-Length: 2\r\n", b"{}"),
    "a NUL in a value": (b"X: a\0b\r\nContent-Length: 2\r\n", b"{}"),
    "a chunk whose size ends with LF": (CHUNKED, b"2\n{}\r\n0\r\n\r\n"),
    "a chunk whose extension ends with LF": (CHUNKED, b"2;a\n{}\r\n0\r\n\r\n"),
    "a chunk with a sign": (CHUNKED, b"+2\r\n{}\r\n0\r\n\r\n"),
    "a chunk in another notation": (CHUNKED, b"0x2\r\n{}\r\n0\r\n\r\n"),
    "a chunk that does not end": (CHUNKED, b"2\r\n{}XX0\r\n\r\n"),
    "a chunk with an endless extension": (CHUNKED, b"2;" + b"a" * 100_000),
    "trailers that end with LF": (CHUNKED, b"2\r\n{}\r\n0\r\nX: y\n\r\n"),
}


@pytest.mark.parametrize("case", sample(list(HEADS), 40))
def test_a_request_whose_end_is_not_plain_is_refused_and_what_follows_is_not_read(
    address: Address, case: str
) -> None:
    more, body = HEADS[case]
    answer = address.send_until_dropped(START + more + b"\r\n" + body + SMUGGLED)
    assert answer.split()[:2] == [b"HTTP/1.1", b"400"]
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()
    assert address.ask("GET", "/v1/sessions").json["items"] == []


def test_chunks_in_the_protocol_that_has_none_are_refused(address: Address) -> None:
    answer = address.send_until_dropped(
        START.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n" + EMPTY + SMUGGLED
    )
    assert answer.split()[1] == b"400"
    assert address.ask("GET", "/v1/sessions").json["items"] == []


@pytest.mark.parametrize(
    "lines",
    [
        b"POST /v1/sessions HTTP/1.1\nHost: localhost\n\n",
        b" POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_a_first_line_that_is_odd_is_refused(address: Address, lines: bytes) -> None:
    assert address.send_until_dropped(lines + SMUGGLED).split()[1] == b"400"
    assert address.ask("GET", "/v1/sessions").json["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        b"2\r\n{}\r\n0\r\n\r\n",
        b"1\r\n{\r\n1\r\n}\r\n0\r\n\r\n",
        b'2;a="b"\r\n{}\r\n0\r\nX: y\r\n\r\n',
    ],
)
def test_chunks_as_programs_send_them_are_read(address: Address, body: bytes) -> None:
    answer = address.send_until_dropped(START + CHUNKED + b"Connection: close\r\n\r\n" + body)
    assert b"name: missing" in answer


def test_two_requests_one_after_another_are_both_answered(address: Address) -> None:
    last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = address.send_until_dropped(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + last)
    assert answer.count(b"HTTP/1.1 200") == 2
