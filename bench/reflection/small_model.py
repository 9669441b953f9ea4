"""A real small model through the whole product: nothing lost, nothing ungrounded kept? Needs a server; never part of CI.

    python -m bench.reflection.small_model --base-url http://127.0.0.1:8123/v1 --model NAME [--form short] [--runs 5]
        [--minutes 60] [--write]

Which model, and how to serve it: bench/README.md. `hindwise up` runs as users run it, with LLM_BASE_URL and LLM_MODEL set and
HINDWISE_EMBED=none. Short runs are posted one after the other, since such a server answers one question at a time: airline runs (English),
and own runs in pairs that say the same in English and Chinese. What was stored is then judged by checks of the bench's own. `--write`
puts the figures into `small_model.json`, from which `REPORT.md` is made; what the model said, word for word, goes to bench/results/.
"""

import argparse
import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.door import Door
from bench.reflection import airline, parallel, small_model_show
from bench.reflection.small_model_judge import GROUPS, Run, Stored, Told, judged
from bench.servers import RESULTS, Stand, stand
from hindwise.errors import AnswerUnusable
from hindwise.ledger import attempts, episodes, memories, reflections
from hindwise.ledger.engine import Ledger
from hindwise.model.episode import Outcome
from hindwise.model.turn import Turn
from hindwise.reflect.llm.ability import FORMATS
from hindwise.reflect.llm.client import ChatEndpoint
from hindwise.reflect.llm.prompt import PROMPT_VERSION
from hindwise.reflect.llm.schema import wire_schema
from hindwise.settings import Settings
from workflows.policies import GROUND_TRIES

KEPT = Path(__file__).with_name("small_model.json")
PAIRS = ("export-format", "aisle", "no-results", "fiscal-year", "rest-tomorrow", "bullet-points", "asks-again", "half-done")
"""Of the own runs, in this order: a recovery, a correction, a loop, standing orders, unmet requests."""
_FINAL = frozenset({"completed", "skipped", "failed"})
_EVERY_S = 1.0


def sample(runs: int, groups: Sequence[str] = GROUPS) -> list[Run]:
    """`runs` of each group, turn about, so that a measurement that is cut short has the same share of each.

    Airline: the shortest, each second one with the environment's verdict; more than half of all tokens would be policy otherwise.
    """
    data = airline.runs(airline.data_path())
    sized = sorted(data, key=lambda run: (sum(len(message["content"] or "") for message in run["messages"]), run["run_id"]))
    by_id = {run["id"]: run for run in parallel.runs()}
    chosen = []
    for number, (flight, pair) in enumerate(zip(sized[:runs], PAIRS[:runs], strict=False)):
        chosen.append(_airline(flight, with_verdict=number % 2 == 1))
        chosen += [own(by_id[f"{pair}-{lang}"]) for lang in ("en", "zh")]
    return [run for run in chosen if run.group in groups]


def _airline(run: dict[str, Any], *, with_verdict: bool) -> Run:
    episode = airline.episode_of(run, with_verdict=with_verdict)
    return Run(run["run_id"], "airline, English", "en", _body(run["run_id"], "airline", episode.turns, episode.outcome))


def own(run: dict[str, Any]) -> Run:
    """Its user is its own, so that no run is shown what another one's user said; the agent's lessons are shared, as in life."""
    episode = parallel.episode_of(run)
    group = "own, English" if run["lang"] == "en" else "own, Chinese"
    return Run(run["id"], group, run["lang"], _body(run["id"], f"own-{run['lang']}", episode.turns, episode.outcome))


def _body(name: str, agent: str, turns: Sequence[Turn], outcome: Outcome) -> dict[str, Any]:
    """A body of POST /v1/episodes."""
    return {
        "user_id": f"user-of-{name}",
        "agent_id": agent,
        "run_id": name,
        "turns": [_message(number, turn, turns) for number, turn in enumerate(turns)],
        "outcome": {"status": outcome.status, "source": outcome.source, "note": outcome.note},
    }


def _message(number: int, turn: Turn, turns: Sequence[Turn]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": turn.content, "turn_id": turn.turn_id}
    if turn.tool_calls:
        message["tool_calls"] = [
            {"id": f"call-{number}-{place}", "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}}
            for place, call in enumerate(turn.tool_calls)
        ]
    if turn.role == "tool":
        caller = max(before for before in range(number) if turns[before].tool_calls)
        message |= {"name": turn.name, "tool_call_id": f"call-{caller}-0"}
    return message


async def format_of(base_url: str, model: str, timeout_s: float) -> str:
    """Which answer format the endpoint takes, found as the product finds it. Raises ModelUnavailable, ModelRefused where none serves."""
    endpoint = ChatEndpoint(Settings(_env_file=None, llm_base_url=base_url, llm_model=model, llm_timeout_s=timeout_s))
    try:
        await endpoint.complete([{"role": "user", "content": 'Answer with {"event": "none"}.'}], wire_schema(), 8)
    except AnswerUnusable:  # eight tokens may be blanks: it took the format all the same
        return FORMATS[endpoint.ability.format]
    finally:
        await endpoint.close()
    return FORMATS[endpoint.ability.format]


async def reflect(place: Stand, door: Door, run: Run, limit_s: float) -> Told:
    """Post one run, wait until its reflection is final (or `limit_s` is over), and judge what the ledger then holds."""
    began = time.perf_counter()
    accepted = await door.post("/v1/episodes", run.body)
    path = f"/v1/reflections/{accepted['reflection_id']}"
    shown = await door.get(path)
    while shown["status"] not in _FINAL and time.perf_counter() - began < limit_s:
        await asyncio.sleep(_EVERY_S)
        shown = await door.get(path)
    return judged(run, await _stored(place, shown), time.perf_counter() - began)


async def _stored(place: Stand, shown: dict[str, Any]) -> Stored:
    ledger = Ledger.of(Settings(_env_file=None, data=place.data))
    try:
        return await ledger.read(lambda conn: _read(conn, shown))
    finally:
        await ledger.close()


def _read(conn: Any, shown: dict[str, Any]) -> Stored:
    row = reflections.row_of(conn, shown["reflection_id"])
    wrote = [memory.id for memory, _ in memories.of_reflection(conn, row.id)]
    return Stored(
        shown=shown,
        episode=episodes.load(conn, row.tenant_id, row.episode_id),
        attempts=tuple(attempts.all_of(conn, row.id)),
        memories=tuple(memories.load(conn, row.tenant_id, memory)[0] for memory in wrote),
    )


async def measure(args: argparse.Namespace, note: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Run the sample until it or the time is at its end. Raises NotStarted, ModelUnavailable, ModelRefused.

    note: told the result so far after each run, since hours of a slow model must not be lost either.
    """
    taken = await format_of(args.base_url, args.model, args.timeout_s)
    settings = {
        "HINDWISE_REFLECTOR": "llm",
        "LLM_BASE_URL": args.base_url,
        "LLM_MODEL": args.model,
        "HINDWISE_LLM_TIMEOUT_S": str(args.timeout_s),
        "HINDWISE_LLM_BUDGET_S": str(args.budget_s),
        "HINDWISE_LLM_FORM": args.form,
    }
    chosen, told, ends = sample(args.runs, args.group or GROUPS), [], time.monotonic() + 60 * args.minutes
    result = {
        "model": args.title or args.model,
        "served_by": args.served_by,
        "format": taken,
        "prompt": PROMPT_VERSION,
        "form": args.form,
        "timeout_s": args.timeout_s,
        "budget_s": args.budget_s,
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "sampled": dict(Counter(run.group for run in chosen)),
        "runs": [],
    }
    limit_s = GROUND_TRIES * (args.budget_s + args.timeout_s) + 120
    async with stand(settings) as place, Door(place.up.api_url, place.up.api_key) as door:
        for run in chosen:
            if time.monotonic() > ends:
                break
            told.append(await reflect(place, door, run, limit_s))
            print(f"{time.strftime('%H:%M:%S')} {small_model_show.line(told[-1])}", flush=True)
            result = result | {"runs": [one.model_dump(mode="json") for one in told]}
            await asyncio.to_thread(note, result)
    return result


def without_words(result: dict[str, Any]) -> dict[str, Any]:
    """The result without what the model said word for word: what is kept with the repository."""
    runs = [run | {"attempts": [attempt | {"raw": ""} for attempt in run["attempts"]]} for run in result["runs"]]
    return result | {"runs": runs}


def keep(result: dict[str, Any], path: Path = KEPT) -> None:
    """Put the result in the place of this model's last one in the same form, or beside the others'.

    What was measured of other groups under the same prompts stays, and so does what a reader noted.
    """
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    same = next((one for one in before if _asked(one) == _asked(result) and one["prompt"] == result["prompt"]), None)
    others = [one for one in before if _asked(one) != _asked(result)]
    _write(path, [*others, _with_earlier(without_words(result), same) if same else without_words(result)])


def _asked(result: dict[str, Any]) -> tuple[str, str]:
    """Who was asked, and in which form: the short one is another question."""
    return result["model"], result.get("form", "long")


def _with_earlier(result: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    rest = [run for run in earlier["runs"] if run["group"] not in result["sampled"]]
    noted = {name: earlier[name] for name in ("read",) if name in earlier}
    return result | {"sampled": earlier["sampled"] | result["sampled"], "runs": [*rest, *result["runs"]]} | noted


def _write(path: Path, told: object) -> None:
    path.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.reflection.small_model", description=__doc__.splitlines()[0])
    parser.add_argument("--base-url", required=True, help="of an OpenAI-compatible server, e.g. http://127.0.0.1:8123/v1")
    parser.add_argument("--model", required=True, help="as the server calls it")
    parser.add_argument("--title", default="", help="the model's full name, for the report")
    parser.add_argument("--served-by", default="", help="server and version, for the report")
    parser.add_argument("--form", choices=("auto", "long", "short"), default="auto", help="HINDWISE_LLM_FORM: what the model fills in")
    parser.add_argument("--runs", type=int, default=5, choices=range(1, len(PAIRS) + 1), help="of each group")
    parser.add_argument("--group", choices=GROUPS, action="append", help="of these alone; else of all")
    parser.add_argument("--minutes", type=float, default=60.0, help="no run begins after that")
    parser.add_argument("--timeout-s", type=float, default=170.0, help="LLM_TIMEOUT_S: one question")
    parser.add_argument("--budget-s", type=float, default=400.0, help="LLM_BUDGET_S: how long one question is asked again")
    parser.add_argument("--write", action="store_true", help=f"keep the figures in {KEPT.name}")
    return parser.parse_args()


def main() -> None:
    """Run, print, and keep."""
    args = _arguments()
    RESULTS.mkdir(exist_ok=True)
    whole = RESULTS / f"small-model-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json"
    result = asyncio.run(measure(args, lambda so_far: _write(whole, so_far)))
    if args.write:
        keep(result)
    print("\n".join(small_model_show.section(result)))
    print(f"\nword for word: {whole.name}")


if __name__ == "__main__":
    main()
