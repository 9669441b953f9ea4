"""The cluster as the demo knows its server: where it is found, and a worker that can be killed."""

import time

from hindwise.cli.exits import Ended
from hindwise.cli.running import Running
from tests.servers.cluster import WORKERS, Cluster


class ClusterServer:
    """What `hindwise.cli.demo` asks of its server. It was started by whoever made it, and is stopped there."""

    def __init__(self, cluster: Cluster, *, keep_with: str = "") -> None:
        self.data, self.keep, self.starts = cluster.data, False, False
        self.keep_with = keep_with
        self._cluster = cluster

    def start(self) -> None:
        """It runs already."""

    def look(self) -> Running:
        """Where it is found; a process that ended by itself is started again, as compose does."""
        self._cluster.revive()
        pids = self._cluster.pids()
        return Running(
            api_url=self._cluster.url,
            api_key=self._cluster.key,
            temporal_address="",
            temporal_ui_url=self._cluster.ui_url,
            pid=0,
            temporal_server_pid=pids.get("temporal"),
            worker_pid=pids.get(WORKERS[0]),
            api_pid=pids.get("api-1"),
        )

    def wait_ready(self) -> Running:
        """It is ready before the demo begins. Raises Ended when it is not."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if self._cluster.all_answer():
                return self.look()
            time.sleep(0.2)
        raise Ended("the cluster is not ready")

    def kill_worker(self) -> int:
        """Kill -9 the first worker; the second goes on, and the first is started again."""
        pid = self._cluster.pids()[WORKERS[0]]
        self._cluster.kill(WORKERS[0])
        self._cluster.again(WORKERS[0])
        return pid
