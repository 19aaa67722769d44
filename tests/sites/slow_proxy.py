"""A relay on loopback in front of an application, which holds back the answers to what changes
something.

It passes on bytes and reads only how a request begins, so that WebSockets go through it as well;
there, what the application sends is held back once the page has sent something.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep

CHUNK = 65_536
CHANGES = (b"POST ", b"PATCH ", b"PUT ", b"DELETE ")
_UPGRADE = b"upgrade: websocket"


class SlowProxy:
    """Where it listens, how long an answer is held back, and how many were."""

    def __init__(self, target: int) -> None:
        self.seconds = 0.0
        self.holds = 0
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]

    def serve(self) -> None:
        """Take connections until it is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _relay(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            return
        free_at = [0.0]  # when the next answer on this connection may go
        up = threading.Thread(target=self._requests, args=(client, server, free_at), daemon=True)
        up.start()
        self._answers(server, client, free_at)
        up.join()
        client.close()
        server.close()

    def _requests(self, client: socket.socket, server: socket.socket, free_at: list[float]) -> None:
        is_web_socket = False
        with suppress(OSError):
            while chunk := client.recv(CHUNK):
                # One hold at a time: a page that sends again and again still gets its answers.
                is_free = monotonic() >= free_at[0]
                if self.seconds and is_free and (is_web_socket or chunk.startswith(CHANGES)):
                    free_at[0] = monotonic() + self.seconds
                    self.holds += 1
                is_web_socket = is_web_socket or _UPGRADE in chunk.lower()
                server.sendall(chunk)
        with suppress(OSError):
            server.shutdown(socket.SHUT_WR)

    def _answers(self, server: socket.socket, client: socket.socket, free_at: list[float]) -> None:
        with suppress(OSError):
            while chunk := server.recv(CHUNK):
                sleep(max(0.0, free_at[0] - monotonic()))
                client.sendall(chunk)
        with suppress(OSError):
            client.shutdown(socket.SHUT_WR)


@contextmanager
def slow_proxy(target: int) -> Iterator[SlowProxy]:
    """A relay to a port of this machine while it is needed."""
    proxy = SlowProxy(target)
    threading.Thread(target=proxy.serve, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.close()
