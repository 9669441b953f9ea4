"""`make cluster`: the cluster of deploy/compose.cluster.yaml as processes on this machine, the blows under load, and the demo.

python -m bench.cluster             kill -9 of each kind of process under load, then the demo; everything is stopped at the end
python -m bench.cluster --keep      the demo alone; it stays up until Ctrl-C and says where (make cluster KEEP=1)
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.cluster_show import ClusterServer
from hindwise.cli import console, demo_words
from hindwise.cli.demo import perform
from hindwise.cli.demo_stage import Stage
from hindwise.cli.interrupted import ended_like_ctrl_c
from hindwise.cli.running import workflows_page
from tests.chaos.blows import Felt, Outcome, strike_all
from tests.servers.cluster import NAMESPACE, Cluster
from tests.servers.places import Missing

KEEP = "make cluster KEEP=1"
"""How a person has the addresses: they are told only where they stay open."""
COLUMNS = ("killed", "answers", "task done", "recall whole", "requests", "not 2xx", "recalls", "slowest")


def main() -> int:
    """Run it; exit code 1 when a promise does not hold, 2 where a server is missing."""
    options = argparse.ArgumentParser(prog="python -m bench.cluster", description="The cluster as processes on this machine.")
    options.add_argument("--keep", action="store_true", help="leave it running after the demo, until Ctrl-C; no blows")
    options.add_argument("--no-demo", action="store_true", help="the blows alone")
    options.add_argument("--json", type=Path, help="write the figures there")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="hindwise-cluster-", ignore_cleanup_errors=True) as folder:
        try:
            return _run(Cluster(Path(folder)), asked)
        except Missing as error:
            print(error, file=sys.stderr)
            return 2


def _run(cluster: Cluster, asked: argparse.Namespace) -> int:
    figures: dict[str, Any] = {}
    promises: dict[str, bool] = {}
    began, holds = time.monotonic(), True
    print("Starting Temporal, Postgres, Weaviate, two workers, two APIs and a front …", flush=True)
    with ended_like_ctrl_c():
        try:
            cluster.start()
            print(f"Ready after {time.monotonic() - began:.0f} s, as processes of this machine.", flush=True)
            if not asked.keep:
                outcome = _blows(cluster)
                holds = _recall_held(outcome)
                figures["blows"] = asdict(outcome)
            if not asked.no_demo:
                server = ClusterServer(cluster, keep_with="" if asked.keep else KEEP)
                figures["demo"], promises, _ = perform(Stage(console.out(), demo_words.language("")), server)
                holds = holds and all(promises.values())
            print(f"\n{summary(figures.get('blows'), promises)}")
            if asked.keep:
                _keep(cluster)
        except KeyboardInterrupt:
            print("\nInterrupted.")
        finally:
            print("Stopping …", flush=True)
            left = cluster.close()
    print("Nothing is left running." if not left else f"Still running: {left}")
    if asked.json:
        asked.json.write_text(json.dumps(figures, indent=2, default=str) + "\n", encoding="utf-8")
    return 0 if holds and not left else 1


def summary(blows: Mapping[str, Any] | None, promises: Mapping[str, bool]) -> str:
    """What was done, in one sentence, from the figures of the blows and the promises of the demo; either may be missing."""
    done = []
    if blows:
        names = ", ".join(blow["name"] for blow in blows["blows"])
        done.append(f"killed {names} under load, one at a time, and counted the ledger afterwards")
    if promises:
        done.append(f"played the demo, {sum(promises.values())} of its {len(promises)} promises kept")
    return f"Done: {'; '.join(done)}." if done else "Done: started, and nothing more was asked for."


def _links(cluster: Cluster) -> None:
    for name, value in {
        "API, by the front": cluster.url,
        "docs": f"{cluster.url}/docs",
        "key": cluster.data / "api_key",
        "Temporal UI": workflows_page(cluster.ui_url, NAMESPACE),
        "Weaviate": cluster.weaviate.url,
        "Postgres": cluster.postgres.url,
        "pids": ", ".join(f"{name} {pid}" for name, pid in cluster.pids().items()),
    }.items():
        print(f"  {name:<18} {value}")


def _blows(cluster: Cluster) -> Outcome:
    print("\nKill -9 under load: 2 callers and a reader; each process stays away for 2 s.\n", flush=True)
    print("{:<10}{:>9}{:>11}{:>14}{:>10}  {:<34}{:<40}{:>8}".format(*COLUMNS))
    outcome = strike_all(cluster, tell=_row)
    print(
        f"\n{outcome.tasks} tasks accepted, {outcome.requests} requests, {outcome.repeated} of them repeated; "
        f"settled {outcome.settled_s:.1f} s after the load.\nOn the ledger: no turn, episode or memory lost, none doubled."
    )
    if outcome.wrong:
        print("Recalls that were answered wrongly:", *outcome.wrong, sep="\n  ")
    return outcome


def _recall_held(outcome: Outcome) -> bool:
    """Whether recall was answered all the time, or refused with a time to wait while the ledger itself was away; says where not."""
    holds = not outcome.wrong
    for felt in outcome.blows:
        fine = {"answered", "degraded", *(["refused"] if felt.name == "ledger" else [])}
        if bad := {result: number for result, number in felt.recalls.items() if result not in fine}:
            holds = False
            print(f"Not kept: recall was {bad} while {felt.name} was away.")
    return holds


def _row(felt: Felt) -> None:
    errors = ", ".join(f"{kind} {number}" for kind, number in felt.errors.items()) or "none"
    recalls = ", ".join(f"{result} {number}" for result, number in felt.recalls.items())
    restarted = f"  ended by themselves, started again: {felt.revived}" if felt.revived else ""
    print(
        f"{felt.name:<10}{felt.answers_s:>8.1f}s{felt.task_s:>10.1f}s{felt.whole_s:>13.1f}s{felt.requests:>10}  "
        f"{errors:<34}{recalls:<40}{felt.slowest_recall_s:>7.2f}s{restarted}",
        flush=True,
    )


def _keep(cluster: Cluster) -> None:
    print("\nIt stays up until Ctrl-C:")
    _links(cluster)
    print("Try:")
    print(f"  HINDWISE_API_URL={cluster.url} HINDWISE_API_KEY=$(cat {cluster.data / 'api_key'}) hindwise list --agent airline-support")
    while True:
        time.sleep(1)
        for name in cluster.revive():
            print(f"{name} had ended and was started again", flush=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
