"""A throw-away PostgreSQL cluster, or one that the environment names; and fresh databases in it by copying a template."""

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.engine import URL, make_url

from hindwise.cli.supervisor import ports
from tests.servers import places
from tests.servers.child import Child, NotReady, scratch

_USER = "hindwise"
_READY_S = 30.0
_TRIES = 3
_FAST = ("fsync=off", "full_page_writes=off")
"""What was committed outlives the server's process, but not the machine."""


def _connect(url: URL, **options: Any) -> Any:
    import psycopg

    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(plain, autocommit=True, connect_timeout=5, **options)


class Databases:
    """Makes and drops databases of one server. Names carry our pid, so several test processes may share a server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._numbers = itertools.count(1)
        self._templates: set[str] = set()
        self._made: set[str] = set()

    def run(self, *statements: str) -> None:
        """Run statements outside a transaction, on the server's own database."""
        with contextlib.closing(_connect(make_url(self.url))) as connection:
            for statement in statements:
                connection.execute(statement)

    def new(self, template: str = "") -> str:
        """Make an empty database, or a copy of `template` (about 30 ms), and return its URL."""
        name = f"hindwise_test_{os.getpid()}_{next(self._numbers)}"
        self.run(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""))
        self._made.add(name)
        return self.url_of(name)

    def template(self, name: str, fill: Callable[[str], None]) -> str:
        """Make a database once by `fill(url)`, and return its name for `new(template=…)`. Nobody may stay connected to it."""
        full = f"hindwise_test_{os.getpid()}_{name}"
        if full not in self._templates:
            self.run(f'CREATE DATABASE "{full}"')
            fill(self.url_of(full))
            self._templates.add(full)
        return full

    def wiped(self, url: str, tables: Sequence[str]) -> None:
        """Empty a database again, in the given order: a tenth of what a new one costs. Who is still connected is thrown out."""
        everybody = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with contextlib.closing(_connect(make_url(url))) as connection:
            connection.execute(";".join([everybody, *(f"DELETE FROM {name}" for name in tables)]))

    def drop(self, url: str) -> None:
        """Drop a database, whoever is connected."""
        name = make_url(url).database
        self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        self._made.discard(str(name))

    def drop_all(self) -> None:
        """Drop everything that was made here."""
        for name in (*self._made, *self._templates):
            self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        self._made.clear()
        self._templates.clear()

    def url_of(self, database: str) -> str:
        """The URL of a database of this server."""
        return make_url(self.url).set(drivername="postgresql+psycopg", database=database).render_as_string(hide_password=False)


class Postgres:
    """A cluster of our own on loopback; `with Postgres() as server:`.

    By default it survives kill -9 and no power cut; durable=True: both.
    """

    def __init__(self, *, durable: bool = False, settings: tuple[str, ...] = ()) -> None:
        self.bin = places.postgres_bin()
        self._settings = (() if durable else _FAST) + settings
        self.dir = scratch("pg")
        self.log = self.dir / "log"
        self.port = 0
        account = pwd.getpwnam("postgres") if os.getuid() == 0 else None  # the server refuses to run as root
        self._as: dict[str, Any] = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        if account:
            os.chown(self.dir, account.pw_uid, account.pw_gid)
        # SIGQUIT ends it at once and gives its shared memory back, which kill -9 would leave behind.
        user = (account.pw_uid, account.pw_gid) if account else (0, 0)
        self.child = Child("PostgreSQL", self.log, user=user, end_with=signal.SIGQUIT)
        self.databases = Databases("")

    @property
    def url(self) -> str:
        """Of the maintenance database, for SQLAlchemy."""
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self.port}/postgres"

    def start(self) -> "Postgres":
        """Make the cluster where there is none, start it, and wait until it answers. Raises NotReady. A restart keeps the port."""
        if not (self.dir / "data").exists():
            self._make()
        for last in range(_TRIES):
            (port,) = (self.port,) if self.port else ports.free_ports(1)
            try:
                self._run(port)
            except NotReady:  # somebody else may have taken the port in between
                self.child.end(signal.SIGQUIT)
                if self.port or last == _TRIES - 1:
                    raise
            else:
                break
        self.databases.url = self.url
        return self

    def _make(self) -> None:
        command = [str(self.bin / "initdb"), "-D", str(self.dir / "data"), "-U", _USER, "-A", "trust", "-E", "UTF8"]
        options = ["--locale=C.UTF-8", "--no-sync", "--no-instructions"]
        subprocess.run([*command, *options], cwd=self.dir, check=True, stdout=subprocess.DEVNULL, timeout=60, **self._as)

    def _run(self, port: int) -> None:
        listening = ("listen_addresses=127.0.0.1", f"unix_socket_directories={self.dir}", "shared_buffers=32MB", "max_connections=200")
        options = [word for setting in (*listening, *self._settings) for word in ("-c", setting)]
        command = [str(self.bin / "postgres"), "-D", str(self.dir / "data"), "-p", str(port), *options]
        self.child.start(command, {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"}, self.dir)
        self.child.wait_ready(lambda: self._answers(port), _READY_S)
        self.port = port

    def _answers(self, port: int) -> bool:
        import psycopg

        with contextlib.suppress(psycopg.OperationalError):
            _connect(make_url(f"postgresql://{_USER}@127.0.0.1:{port}/postgres")).close()
            return True
        return False

    def stop(self) -> None:
        """End it in order, without waiting for clients. Idempotent; `start` starts it again with what it held."""
        self.child.end(signal.SIGINT)

    def kill(self) -> None:
        """Kill -9 the server; its helpers notice and go."""
        self.child.end(signal.SIGKILL)
        time.sleep(0.1)

    def restart(self) -> "Postgres":
        """Stop and start."""
        self.stop()
        return self.start()

    def close(self) -> None:
        """End it and remove its files."""
        self.child.end(signal.SIGQUIT)
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self) -> "Postgres":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


class NamedPostgres:
    """A running server that the environment names: never stopped by us, and only our own databases are touched."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.databases = Databases(url)

    def close(self) -> None:
        """Drop what we made."""
        self.databases.drop_all()


def open_postgres() -> Postgres | NamedPostgres:
    """The server of HINDWISE_TEST_POSTGRES_URL, else one of our own, started. Raises Missing, NotReady."""
    if url := os.environ.get(places.POSTGRES_URL):
        return NamedPostgres(url)
    return Postgres().start()
