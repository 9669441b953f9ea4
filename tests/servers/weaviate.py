"""A Weaviate server of our own on free ports of loopback, with a key; or one that the environment names."""

import os
import secrets
import shutil
import signal
from dataclasses import dataclass

import httpx2

from hindwise.cli.supervisor import ports
from tests.servers import places
from tests.servers.child import Child, NotReady, free_port_pairs, scratch

_READY_S = 90.0
_TRIES = 3


@dataclass(frozen=True)
class NamedWeaviate:
    """A running server: never stopped by us."""

    url: str
    grpc_url: str
    api_key: str

    def env(self) -> dict[str, str]:
        """The settings that lead Hindwise to it, by name."""
        return {"WEAVIATE_URL": self.url, "WEAVIATE_GRPC_URL": self.grpc_url, "WEAVIATE_API_KEY": self.api_key}

    def close(self) -> None:
        """Nothing of it is ours."""


class Weaviate:
    """A server of our own. Its ports and its key stay over restarts. `with Weaviate() as server:`

    extra: environment variables on top. REST listens on loopback alone; gRPC and the cluster's data port cannot be bound to an
    address, hence always a key.
    """

    def __init__(self, **extra: str) -> None:
        self._binary = places.weaviate_binary()
        self._extra = extra
        self.dir = scratch("wv")
        self.data = self.dir / "data"
        self.api_key = secrets.token_hex(16)
        self._ports: tuple[int, ...] = ()
        self.child = Child("Weaviate", self.dir / "log")

    @property
    def url(self) -> str:
        """Of REST."""
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def grpc_url(self) -> str:
        """Of gRPC."""
        return f"http://127.0.0.1:{self._ports[1]}"

    def env(self) -> dict[str, str]:
        """The settings that lead Hindwise to it, by name."""
        return {"WEAVIATE_URL": self.url, "WEAVIATE_GRPC_URL": self.grpc_url, "WEAVIATE_API_KEY": self.api_key}

    def start(self, *, wait: bool = True) -> "Weaviate":
        """Start it and wait until it is ready (6 to 8 s); wait=False returns at once. Raises NotReady."""
        for last in range(_TRIES):
            known = self._ports
            self._ports = known or (*ports.free_ports(4), *free_port_pairs(2))
            self._spawn()
            if not wait:
                return self
            try:
                self.child.wait_ready(self.ready, _READY_S, every=0.2)
            except NotReady:  # somebody else may have taken a port in between
                self.child.end(signal.SIGKILL)
                if known or last == _TRIES - 1:
                    raise
                self._ports = ()
                shutil.rmtree(self.data, ignore_errors=True)
            else:
                break
        return self

    def ready(self) -> bool:
        """Whether it says that it answers queries."""
        try:
            return httpx2.get(f"{self.url}/v1/.well-known/ready", timeout=2, trust_env=False).status_code == httpx2.codes.OK
        except httpx2.HTTPError:
            return False

    def wait_ready(self, seconds: float = _READY_S) -> None:
        """Wait after `start(wait=False)`. Raises NotReady."""
        self.child.wait_ready(self.ready, seconds, every=0.1)

    def _spawn(self) -> None:
        rest = self._ports[0]
        command = [str(self._binary), "--host", "127.0.0.1", "--port", str(rest), "--scheme", "http"]
        command += ["--read-timeout=600s", "--write-timeout=600s"]
        self.child.start(command, self._environment(), self.dir)

    def _environment(self) -> dict[str, str]:
        _, grpc, profiling, metrics, gossip, raft = self._ports
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.dir),
            "PERSISTENCE_DATA_PATH": str(self.data),
            "DEFAULT_VECTORIZER_MODULE": "none",
            "API_BASED_MODULES_DISABLED": "true",
            "AUTOSCHEMA_ENABLED": "false",
            "DISABLE_TELEMETRY": "true",
            "DISABLE_GRAPHQL": "true",
            "GO_PROFILING_DISABLE": "true",
            "GO_PROFILING_PORT": str(profiling),
            "PROMETHEUS_MONITORING_ENABLED": "false",
            "PROMETHEUS_MONITORING_PORT": str(metrics),
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "false",
            "AUTHENTICATION_APIKEY_ENABLED": "true",
            "AUTHENTICATION_APIKEY_ALLOWED_KEYS": self.api_key,
            "AUTHENTICATION_APIKEY_USERS": "hindwise",
            "CLUSTER_HOSTNAME": "node1",  # a changed name would be another node with lost data
            "CLUSTER_IN_LOCALHOST": "true",
            "CLUSTER_BIND_ADDR": "127.0.0.1",
            "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
            "CLUSTER_GOSSIP_BIND_PORT": str(gossip),
            "CLUSTER_DATA_BIND_PORT": str(gossip + 1),
            "RAFT_PORT": str(raft),
            "RAFT_INTERNAL_RPC_PORT": str(raft + 1),
            "RAFT_BOOTSTRAP_EXPECT": "1",
            "GRPC_PORT": str(grpc),
            "GOMEMLIMIT": "1GiB",
            "DISK_USE_WARNING_PERCENTAGE": "0",
            "DISK_USE_READONLY_PERCENTAGE": "0",  # a full disk of the machine is no matter of these tests
            "PERSISTENCE_LSM_SEGMENTS_CLEANUP_INTERVAL_HOURS": "1",
            "LOG_LEVEL": "warning",
            **self._extra,
        }

    def stop(self) -> None:
        """SIGTERM, and wait. Idempotent; `start` starts it again with what it held."""
        self.child.end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill -9."""
        self.child.end(signal.SIGKILL)

    def restart(self) -> "Weaviate":
        """Stop and start."""
        self.stop()
        return self.start()

    def close(self) -> None:
        """End it and remove its files."""
        self.child.end(signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self) -> "Weaviate":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()


def open_weaviate() -> Weaviate | NamedWeaviate:
    """The server of HINDWISE_TEST_WEAVIATE_URL, else one of our own, started. Raises Missing, NotReady."""
    if url := os.environ.get(places.WEAVIATE_URL):
        return NamedWeaviate(url, os.environ.get(places.WEAVIATE_GRPC_URL, ""), os.environ.get(places.WEAVIATE_API_KEY, ""))
    return Weaviate().start()
