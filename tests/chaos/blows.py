"""Kill -9 of one process of a cluster after another, under load, and what callers felt of it.

Callers that do not give up send tasks, a reader recalls all the time. After each blow a task of our own is sent: how long until it is
reflected on is how long the cluster needed.
"""

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.accounts import Accounts, check, is_settled
from tests.chaos.load import Callers, messages
from tests.processes import until
from tests.servers.cluster import Cluster

BLOWS = ("api-1", "worker-1", "weaviate", "ledger", "temporal")
DOWN_S = 2.0
"""How long a killed process stays away before it is started again."""
RECOVERY_S = 180.0
"""A limit for a machine that is busy with other things; what it takes is measured."""
RECALL_LIMIT_S = 10.0
_QUESTION = "refund the late order"


@dataclass
class Tally:
    """Every request of every caller: when it began, what came of it, how long it took. Safe from any thread."""

    rows: list[tuple[float, str, float]] = field(default_factory=list)

    def note(self, began: float, kind: str) -> None:
        """`kind`: a status, or the class of what broke."""
        self.rows.append((began, kind, time.monotonic() - began))

    def repeated(self) -> int:
        """How many requests were not answered as wanted, and sent again."""
        return sum(not kind.startswith("2") for _, kind, _ in self.rows)

    def between(self, start: float, end: float) -> Counter[str]:
        """Kinds of the requests that began in that time."""
        return Counter(kind for began, kind, _ in self.rows if start <= began < end)


class CountingClient(httpx2.Client):
    """Notes every request."""

    def __init__(self, tally: Tally, **given: Any) -> None:
        super().__init__(**given)
        self._tally = tally

    def request(self, *given: Any, **named: Any) -> httpx2.Response:
        began = time.monotonic()
        try:
            answer = super().request(*given, **named)
        except httpx2.HTTPError as error:
            self._tally.note(began, type(error).__name__)
            raise
        self._tally.note(began, str(answer.status_code))
        return answer


_LONGEST_PAUSE_S = 4.0


class SteadyCallers(Callers):
    """Sends task after task until `enough`; between two it waits until the first is reflected on, but not for long: a steady load,
    and no pile behind a process that is away."""

    def __init__(self, name: str, client: Callable[[], httpx2.Client], accounts: Accounts, pause_s: float, most: int) -> None:
        super().__init__(name, most, client, accounts)
        self._pause_s, self._enough = pause_s, threading.Event()
        self._last = ""

    def enough(self) -> None:
        """No further task; the present one is seen through."""
        self._enough.set()

    def run(self) -> None:
        try:
            for number in range(self.tasks):
                if self._paused():
                    return
                (self._by_session, self._by_episode, self._by_dify)[number % 3](number)
        except AssertionError as error:
            self.failed = str(error)
        finally:
            self._drop()

    def _post(self, path: str, body: dict[str, Any], expected: int) -> dict[str, Any]:
        told = super()._post(path, body, expected)
        self._last = told.get("reflection_id", self._last)
        return told

    def _paused(self) -> bool:
        """Wait between two tasks; whether it was the last."""
        end = time.monotonic() + _LONGEST_PAUSE_S
        while time.monotonic() < end:
            if self._enough.wait(self._pause_s):
                return True
            if self._http is None:
                return False
            with contextlib.suppress(httpx2.HTTPError, ValueError):
                if self._last and self._http.get(f"/v1/reflections/{self._last}").json().get("status") == "completed":
                    return False
        return self._enough.is_set()


@dataclass(frozen=True)
class Recalled:
    """One recall as its caller saw it: when, `answered`, degraded, `refused` (503 with a time to wait), else `broken`; and how long."""

    began: float
    result: str
    seconds: float


class Reader(threading.Thread):
    """Recalls all the time. A connection that broke is tried once more at once, as any client does; then it counts as broken."""

    def __init__(self, client: Callable[[], httpx2.Client]) -> None:
        super().__init__(name="reader", daemon=True)
        self.seen: list[Recalled] = []
        self.wrong: list[str] = []
        self._client, self._over = client, threading.Event()

    def run(self) -> None:
        http = self._client()
        while not self._over.wait(0.1):
            began = time.monotonic()
            result = self._ask(http)
            if result == "broken":
                result = self._ask(http)
            self.seen.append(Recalled(began, result, time.monotonic() - began))
        http.close()

    def _ask(self, http: httpx2.Client) -> str:
        try:
            answer = http.post("/v1/recall", json={"user_id": "user-0", "agent_id": "desk", "query": _QUESTION})
        except httpx2.HTTPError:
            return "broken"
        if answer.status_code == 200:
            return "degraded" if answer.json()["degraded"] else "answered"
        if answer.status_code == 503 and int(answer.headers.get("retry-after", 0)) > 0:
            return "refused"
        self.wrong.append(f"{answer.status_code} {answer.text[:200]}")
        return "broken"

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()
        self.join(60)

    def between(self, start: float, end: float) -> list[Recalled]:
        """Recalls that began in that time."""
        return [row for row in self.seen if start <= row.began < end]


@dataclass(frozen=True)
class Felt:
    """One blow: seconds until a killed process answers again, and until a task sent after the blow was reflected on and recall whole."""

    name: str
    answers_s: float
    task_s: float
    whole_s: float
    requests: int
    errors: dict[str, int]
    recalls: dict[str, int]
    slowest_recall_s: float
    revived: list[str]


@dataclass
class Outcome:
    """All blows, and what the ledger held afterwards."""

    blows: list[Felt]
    tasks: int
    requests: int
    repeated: int
    settled_s: float
    wrong: list[str]


def strike_all(cluster: Cluster, *, callers: int = 2, pause_s: float = 0.5, tell: Callable[[Felt], None] = lambda _: None) -> Outcome:
    """Load, every blow in turn, calm; then assert on the ledger that nothing is lost or doubled. Call from the main thread."""
    accounts, tally = Accounts(), Tally()

    def client() -> httpx2.Client:
        headers = {"Authorization": f"Bearer {cluster.key}"}
        return CountingClient(tally, base_url=cluster.url, headers=headers, timeout=RECALL_LIMIT_S, trust_env=False)

    sending = [SteadyCallers(str(number), client, accounts, pause_s, most=400) for number in range(callers)]
    reader = Reader(lambda: CountingClient(Tally(), **_plain(cluster)))
    for thread in (*sending, reader):
        thread.start()
    try:
        felt = []
        for number, name in enumerate(BLOWS):
            before = accounts.count()
            until(lambda before=before: accounts.count() >= before + 2 * callers or _failed(sending), "load", 60)
            assert not _failed(sending), _failed(sending)
            felt.append(_strike(cluster, name, number, tally, reader, accounts))
            tell(felt[-1])
    finally:
        for caller in sending:
            caller.enough()
        reader.stop()
    for caller in sending:
        caller.join(120)
        assert not caller.is_alive(), f"{caller.name} still waits for an answer"
    assert not _failed(sending), _failed(sending)
    calm = time.monotonic()
    until(
        lambda: cluster.revive() or cluster.read(lambda conn: is_settled(conn, accounts.count())),
        "every reflection final and indexed",
        120,
        every=0.5,
    )
    cluster.read(lambda conn: check(conn, accounts))
    return Outcome(felt, accounts.count(), len(tally.rows), tally.repeated(), time.monotonic() - calm, reader.wrong)


def _plain(cluster: Cluster) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {cluster.key}"}
    return {"base_url": cluster.url, "headers": headers, "timeout": RECALL_LIMIT_S, "trust_env": False}


def _failed(callers: list[SteadyCallers]) -> list[str]:
    return [caller.failed for caller in callers if caller.failed]


def _strike(cluster: Cluster, name: str, number: int, tally: Tally, reader: Reader, accounts: Accounts) -> Felt:
    struck = time.monotonic()
    cluster.kill(name)
    time.sleep(DOWN_S)
    cluster.again(name)
    revived: list[str] = []
    back = time.monotonic()
    probe = _Probe(cluster, number, accounts)
    answers_s = task_s = whole_s = 0.0
    while not (answers_s and task_s and whole_s):
        now = time.monotonic()
        state = f"answers {answers_s:.1f}, task {task_s:.1f}, whole {whole_s:.1f}"
        assert now - struck < RECOVERY_S, f"{name}: not recovered after {RECOVERY_S:.0f} s ({state})\n{cluster.tails()}"
        revived += cluster.revive()
        if not answers_s and cluster.answers(name):
            answers_s = now - back
        if not task_s and probe.done():
            task_s = now - struck
        if not whole_s and answers_s and reader.seen and reader.seen[-1].began > back and reader.seen[-1].result == "answered":
            whole_s = now - struck
        time.sleep(0.05)
    until(cluster.all_answer, f"every process ready after {name}", RECOVERY_S, every=0.2)
    end = time.monotonic()
    recalls = reader.between(struck, end)
    kinds = tally.between(struck, end)
    return Felt(
        name,
        answers_s,
        task_s,
        whole_s,
        sum(kinds.values()),
        {kind: count for kind, count in sorted(kinds.items()) if not kind.startswith("2")},
        dict(Counter(row.result for row in recalls)),
        max((row.seconds for row in recalls), default=0.0),
        revived,
    )


class _Probe:
    """One task sent after the blow, asked after until it is final."""

    def __init__(self, cluster: Cluster, number: int, accounts: Accounts) -> None:
        self._cluster, self._accounts = cluster, accounts
        self._run = f"probe-{number}"
        self._turns = messages(number, random.Random(self._run))
        self._body = {
            "user_id": "user-probe",
            "agent_id": "desk",
            "run_id": self._run,
            "turns": self._turns,
            "outcome": {"status": "failure"},
        }
        self._reflection = ""

    def done(self) -> bool:
        """Send it, or ask after it; True once it is reflected on."""
        try:
            with self._cluster.http(timeout=5) as http:
                if not self._reflection:
                    answer = http.post("/v1/episodes", json=self._body)
                    if answer.status_code == 202:
                        told = answer.json()
                        self._accounts.accepted(self._run, told, self._turns)
                        self._reflection = told["reflection_id"]
                    return False
                return bool(http.get(f"/v1/reflections/{self._reflection}").json().get("status") == "completed")
        except httpx2.HTTPError:
            return False
