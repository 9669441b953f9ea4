"""A wire that can be cut: it passes bytes to a server on this machine, loses one answer, or falls silent when it is told to."""

import contextlib
import socket
import threading
from collections.abc import Iterator


class LossyWire:
    """Listens on `port`. `with LossyWire(server_port) as wire: … wire.lose_answer_to(b"COMMIT")`"""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._words = b""
        self._open: list[socket.socket] = []
        self._passes = threading.Event()
        self._passes.set()
        self.lost = 0
        """How many answers went missing."""
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer_to(self, words: bytes) -> None:
        """The next request that holds `words` still reaches the server; before its answer comes the connection breaks. Once."""
        self._words = words

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Within it nothing comes through, and nobody is told so; what was sent meanwhile arrives afterwards."""
        self._passes.clear()
        try:
            yield
        finally:
            self._passes.set()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port), timeout=10)
                server.settimeout(None)
                self._open += [client, server]
                deaf = threading.Event()
                threading.Thread(target=self._to_server, args=(client, server, deaf), daemon=True).start()
                threading.Thread(target=self._to_client, args=(server, client, deaf), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket, deaf: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while sent := client.recv(65536):
                if self._words and self._words in sent:
                    self._words = b""
                    deaf.set()
                self._passes.wait()
                server.sendall(sent)
        self._end(client, server)

    def _to_client(self, server: socket.socket, client: socket.socket, deaf: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while answer := server.recv(65536):
                if deaf.is_set():
                    self.lost += 1
                    break
                self._passes.wait()
                client.sendall(answer)
        self._end(client, server)

    @staticmethod
    def _end(*both: socket.socket) -> None:
        for one in both:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> "LossyWire":
        return self

    def __exit__(self, *_: object) -> None:
        self._passes.set()
        # A listening socket in accept() is woken by shutdown, not by close.
        self._end(self._listening, *self._open)
        for one in (self._listening, *self._open):
            one.close()
