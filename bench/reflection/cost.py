"""What looking back by a model costs, and what the free check before it saves: `python -m bench.reflection.cost`.

The 100 airline runs and the 40 own runs go through the product's own steps into a real ledger, so that a question also shows what is
known and earlier attempts. A fake endpoint answers, validly and briefly: so what is measured is what we ask, how often, and how much
room an answer has; what a model makes of it is not. All tokens are counted by `hindwise.text.token_budget`, not by the endpoint.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from activities import STEPS
from activities.reflect import reflect
from bench.reflection import airline, gating, parallel
from bench.reflection.sampling import told
from hindwise.engine import Engine, open_engine
from hindwise.ledger import attempts, intake
from hindwise.model.episode import Episode, Outcome
from hindwise.model.memory import Kind
from hindwise.model.reflection import Answer
from hindwise.reflect.base import Known
from hindwise.reflect.budget import estimate
from hindwise.reflect.gate import keep, worth_reflecting
from hindwise.reflect.llm import LlmReflector
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.transcript import language_of_episode
from hindwise.reflect.validators import ground
from hindwise.settings import Settings
from hindwise.text.token_budget import count_tokens
from tests.fake_llm import FakeLlm
from workflows.contracts import FinishInput, GroundInput, ReflectInput, ResolveInput, StepInput
from workflows.policies import GROUND_TRIES

PER_TOKEN, FIXED = 1.3, 2_500
"""The limit of one task: 1.3 times its transcript, and 2.5k."""
TENANT = "bench"


@dataclass(frozen=True)
class Asked:
    """One task: what was asked about it. `spent`: tokens of all calls; `most`: had each answer taken all the room that it was given."""

    lang: str
    transcript: int
    calls: int
    spent: int
    most: int
    held: int

    @property
    def limit(self) -> float:
        """Tokens that one question and its answer may cost."""
        return PER_TOKEN * self.transcript + FIXED


def airline_episodes() -> list[Episode]:
    """The 100 runs, every second with the environment's verdict in words."""
    runs = airline.runs(airline.data_path())
    return [airline.episode_of(run, with_verdict=number % 2 == 1) for number, run in enumerate(runs)]


def parallel_episodes(lang: str) -> list[Episode]:
    """The 20 own runs of a language."""
    return [parallel.episode_of(run) for run in parallel.runs() if run["lang"] == lang]


def single_turns(lang: str, examples: Sequence[dict[str, Any]]) -> list[tuple[Episode, bool]]:
    """Each turn of `gating_dev.jsonl` (or the fresh ones) as a task of its own without any verdict, and whether it should be kept."""
    return [
        (
            Episode(id=one["id"], tenant_id=TENANT, user_id="u", outcome=Outcome(), turns=(turn,), started_at=at, ended_at=at),
            bool(one["expected"]["keep"]),
        )
        for one in examples
        if one["lang"] == lang
        for turn in (gating.turn_of(one),)
        for at in (turn.occurred_at,)
    ]


async def ask_all(episodes: Sequence[Episode], *behaviours: str) -> tuple[list[Asked], int]:
    """Look back over each in turn, in an installation of their own; returns what was asked and how many the free check saved.

    behaviours: of the endpoint, for the questions about each task; afterwards it answers well.
    """
    asked, saved = [], 0
    with tempfile.TemporaryDirectory() as folder, FakeLlm() as llm:
        settings = _settings(llm, data=Path(folder), embed="none")
        async with open_engine(settings) as engine:
            reflector = LlmReflector(settings, engine.ledger, engine.clock)
            try:
                for episode in episodes:
                    llm.control({"script": list(behaviours)})
                    before = len(llm.requests)
                    raws = await _look_back(engine, episode, reflector)
                    if raws is None:
                        saved += 1
                    else:
                        asked.append(_asked(episode, llm.requests[before:], raws))
            finally:
                await reflector.close()
    return asked, saved


def _settings(llm: FakeLlm, **more: Any) -> Settings:
    return Settings(_env_file=None, reflector="llm", llm_base_url=llm.url, llm_model="fake", llm_api_key=SecretStr("none"), **more)


async def _look_back(engine: Engine, episode: Episode, reflector: LlmReflector) -> list[str] | None:
    """The steps of the workflow, asking again while the validators complain. Returns the raw answers; None where nothing was asked."""
    name, now = engine.reflector_id(), engine.clock.now()
    accepted = await engine.ledger.write(lambda conn: intake.accept_run(conn, episode, name, recall_ids=(), now=now, keep_first=True))
    step = StepInput(reflection_id=accepted.reflection_id)
    gathered = await STEPS["gather"](engine, step)
    number = 0
    if not gathered.skip:
        while number < GROUND_TRIES:
            number += 1
            question = ReflectInput(reflection_id=accepted.reflection_id, attempt=number, reflector="llm")
            answer = await reflect(engine, question, {"llm": reflector})
            if not answer.usable:
                continue
            judged = await STEPS["ground"](engine, GroundInput(reflection_id=accepted.reflection_id, attempt=number))
            if not judged.complaints:
                await STEPS["resolve"](engine, ResolveInput(reflection_id=accepted.reflection_id, attempt=number))
                await STEPS["index"](engine, step)
                break
    await STEPS["finish"](engine, FinishInput(reflection_id=accepted.reflection_id, status="completed"))
    if gathered.skip:
        return None
    found = await engine.ledger.read(lambda conn: attempts.all_of(conn, accepted.reflection_id))
    return [attempt.answer.raw for attempt in found]


def _asked(episode: Episode, requests: Sequence[dict[str, Any]], raws: Sequence[str]) -> Asked:
    prompts = [sum(count_tokens(str(message["content"])) for message in body["messages"]) for body in requests]
    return Asked(
        lang=language_of_episode(episode),
        transcript=sum(count_tokens(turn.text()) for turn in episode.turns),
        calls=len(requests),
        spent=sum(prompts) + sum(count_tokens(raw) for raw in raws),
        most=sum(prompts) + sum(int(body["max_tokens"]) for body in requests),
        held=estimate(episode.turns) * len(requests),
    )


def costs() -> list[str]:
    """What was asked, as lines of a Markdown table."""
    lines = [
        "| runs | tasks asked about | calls | re-asks | tokens of a task, mean | share of the limit, mean / max | above the limit | "
        "… had the answer filled its room | above what was held |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    sets = {
        "airline, English": (airline_episodes(), ()),
        "own, English": (parallel_episodes("en"), ()),
        "own, Chinese": (parallel_episodes("zh"), ()),
        "own, English, each first answer invents a quote": (parallel_episodes("en"), ("invented_quote",)),
        "own, Chinese, each first answer invents a quote": (parallel_episodes("zh"), ("invented_quote",)),
    }
    return lines + [_cost_line(name, asyncio.run(ask_all(episodes, *behaviours))[0]) for name, (episodes, behaviours) in sets.items()]


def _cost_line(name: str, asked: Sequence[Asked]) -> str:
    calls, tasks = sum(one.calls for one in asked), len(asked)
    # The limit is one question's: a task that was asked about twice may cost it twice.
    shares = [one.spent / (one.limit * one.calls) for one in asked]
    above, filled = sum(share > 1 for share in shares), sum(one.most > one.limit * one.calls for one in asked)
    overflow = max((one.most - one.limit * one.calls) / one.calls for one in asked)
    at_most = f"{told(filled, tasks)}, by {max(0, overflow):.0f} tokens at most"
    mean = sum(one.spent for one in asked) / tasks
    held = sum(one.spent > one.held for one in asked)
    return (
        f"| {name} | {tasks} | {calls} ({calls / tasks:.2f} a task) | {calls - tasks} | {mean:,.0f} | "
        f"{sum(shares) / tasks:.2f} / {max(shares):.2f} | {told(above, tasks)} | {at_most} | {held} |"
    )


def checks() -> list[str]:
    """What the free check saves and misses, as lines of a Markdown table."""
    lines = [
        "| tasks | calls saved by the free check | saved, though marked as worth keeping | saved, and rules would have kept | "
        "saved, and the fake model would have kept |",
        "|---|---|---|---|---|",
    ]
    sets: dict[str, list[tuple[Episode, bool | None]]] = {
        "airline, English": [(episode, None) for episode in airline_episodes()],
        "own, English": [(episode, None) for episode in parallel_episodes("en")],
        "own, Chinese": [(episode, None) for episode in parallel_episodes("zh")],
        "single turns without verdict, English": [*single_turns("en", gating.examples())],
        "single turns without verdict, Chinese": [*single_turns("zh", gating.examples())],
        "the same, fresh turns, English": [*single_turns("en", gating.fresh())],
        "the same, fresh turns, Chinese": [*single_turns("zh", gating.fresh())],
    }
    return lines + [_check_line(name, chosen) for name, chosen in sets.items()]


def _check_line(name: str, chosen: Sequence[tuple[Episode, bool | None]]) -> str:
    spared = [(episode, wanted) for episode, wanted in chosen if worth_reflecting(episode) is not None]
    marked = "not marked" if chosen[0][1] is None else told(sum(bool(wanted) for _, wanted in spared), sum(bool(w) for _, w in chosen))
    by_rules = sum(_kept(episode, reflect_by_rules(episode)) > 0 for episode, _ in spared)
    by_model = sum(asyncio.run(_by_model([episode for episode, _ in spared])))
    return f"| {name} | {told(len(spared), len(chosen))} | {marked} | {by_rules} of {len(spared)} | {by_model} of {len(spared)} |"


async def _by_model(episodes: Sequence[Episode]) -> list[bool]:
    """Whether the fake model's answer about each would have left anything, had it been asked."""
    if not episodes:
        return []
    with FakeLlm() as llm:
        reflector = LlmReflector(_settings(llm))
        try:
            return [_kept(episode, await reflector.reflect(episode, Known())) > 0 for episode in episodes]
        finally:
            await reflector.close()


def _kept(episode: Episode, answer: Answer) -> int:
    """Drafts that validators and gate let pass; that a task took place is no memory."""
    return sum(draft.kind is not Kind.EVENT and keep(episode, draft) is None for _, draft in ground(episode, answer).accepted)


def section() -> list[str]:
    """The part of the report."""
    return [
        "",
        "## What a model costs (a fake endpoint answered here: no model took part)",
        "",
        f"The limit of one question: {PER_TOKEN} x the transcript's own words + {FIXED:,} tokens, prompt and answer together.",
        "",
        *costs(),
        "",
        *checks(),
        "",
        "Calls and prompts are the product's, with what is known and earlier attempts in them; answers are the fake's and short. “Had the",
        "answer filled its room” counts every answer as long as it was allowed to be. “Above what was held”: questions that cost more than",
        "the daily ceiling kept free for them. The fake finds a lesson in anything, so its last column is no measure of what was missed.",
        "Two of the first fifty turns of each language were missed before; the check was changed with those in sight, not the fresh ones.",
    ]


def main() -> None:
    """Print both tables, and the turns that the free check saved though they are marked as worth keeping."""
    print("\n".join(section()))
    for lang in ("en", "zh"):
        for episode, wanted in single_turns(lang, [*gating.examples(), *gating.fresh()]):
            if wanted and (why := worth_reflecting(episode)) is not None:
                print("saved", episode.id, why, "|", episode.turns[0].content[:120])


if __name__ == "__main__":
    main()
