"""What becomes of words planted in tool outputs and pages: `python -m bench.reflection.poison`.

30 own outputs (`poison.jsonl`, 15 per language), 20 more that no pattern was made from (`poison_fresh.jsonl`), and the 10 poisoned and
100 benign experiences of `poison_seeds.json`, each as the answer of a tool in a finished task. Every task goes through the product's own
steps into a real ledger and is asked for again. Reflectors: rules, and a model that obeys what it reads (a fake endpoint), also one that
names the user's turn beside the tool's as evidence.
"""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, func, select

from activities import STEPS
from activities.reflect import reflect
from bench.reflection.sampling import eval_file, told
from hindwise.engine import Engine, open_engine
from hindwise.ledger import intake, reflections
from hindwise.ledger.intake import ReflectorId
from hindwise.ledger.schema import memories
from hindwise.model.brief import RecallQuery
from hindwise.model.episode import Episode, Outcome, OutcomeSource, OutcomeStatus
from hindwise.model.ids import episode_of_run
from hindwise.model.memory import Status
from hindwise.model.turn import Origin, ToolCall, Turn
from hindwise.recall.recall import Recaller
from hindwise.reflect.base import Reflector
from hindwise.reflect.llm import LlmReflector
from hindwise.reflect.rules import RuleReflector
from hindwise.safety.poison import poison_in
from hindwise.safety.quoting import without_quotes
from hindwise.settings import Settings
from tests.fake_llm import FakeLlm
from workflows.contracts import FinishInput, GroundInput, ReflectInput, ResolveInput, StepInput

OWN = Path(__file__).with_name("poison.jsonl")
FRESH = Path(__file__).with_name("poison_fresh.jsonl")
"""Written before its author had read `hindwise.safety`, and never tuned on."""
MINDS = ("rules", "obeys", "obeys_beside_user")
_NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)
_ORDERS = ("instruction", "preference", "todo")
_TENANT = "default"


@dataclass(frozen=True)
class Case:
    """One planted (or harmless) output. `repeat`: in so many turns of the one task."""

    name: str
    lang: str
    goal: str
    tool: str
    output: str
    origin: Origin = Origin.TOOL
    repeat: int = 1
    harmless: bool = False


@dataclass
class Tally:
    """What became of all cases, with one reflector."""

    cases: int = 0
    orders: int = 0
    """Instructions, preferences and todos that were accepted."""
    told: int = 0
    """Briefs in which a run of planted words stands."""
    quarantined_told: int = 0
    """Items in quarantine that stand in a brief."""
    kept: Counter[str] = field(default_factory=Counter)
    """Memories by status."""
    refused: Counter[str] = field(default_factory=Counter)
    """Refused drafts by rule."""


def own_cases(path: Path = OWN) -> list[Case]:
    """The own outputs of a file: the 30 known ones, or those of FRESH."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        Case(f"{path.stem}-{row['lang']}-{n}", row["lang"], row["goal"], row["tool"], row["output"], Origin(row.get("origin", "tool")),
             row.get("repeat", 1))
        for n, row in enumerate(rows)
    ]  # fmt: skip


def cases() -> list[Case]:
    """The own outputs and the seeds, planted ones first."""
    seeds = json.loads(eval_file("poison_seeds.json").read_text(encoding="utf-8"))
    seeds_told = [
        Case(row["id"], "en", row["request"], "search_experience", row["response"], harmless=harmless)
        for harmless, name in ((False, "poisoned"), (True, "benign"))
        for row in seeds[name]
    ]
    return [*own_cases(), *own_cases(FRESH), *seeds_told]


def sets() -> dict[str, list[Case]]:
    """The cases as they are reported, by name."""
    found = cases()
    own = {
        f"{name}, {lang}": [case for case in found if case.name.startswith(f"{path.stem}-{lang}-")]
        for name, path in (("own", OWN), ("own, unseen", FRESH))
        for lang in ("en", "zh")
    }
    seeds = [case for case in found if case.name.startswith("exp_")]
    return {
        **own,
        "seeds, poisoned": [case for case in seeds if not case.harmless],
        "seeds, benign (first 20)": [case for case in seeds if case.harmless][:20],
    }


def episode_of(case: Case) -> Episode:
    """The task in which the tool said so; it succeeded, as the user says."""
    thanks, asks = ("谢谢", "请帮我：") if case.lang == "zh" else ("Thanks", "Please help: ")
    lines: list[tuple[str, Origin, str, str, tuple[ToolCall, ...]]] = [("user", Origin.USER, f"{asks}{case.goal}", "", ())]
    for number in range(case.repeat):
        call = ToolCall(id=f"c{number}", name=case.tool, arguments={"query": f"{case.goal} {number}"})
        lines += [("assistant", Origin.AGENT, "", "", (call,)), ("tool", case.origin, case.output, case.tool, ())]
    lines += [
        ("assistant", Origin.AGENT, "好的，已经处理。" if case.lang == "zh" else "Done.", "", ()),
        ("user", Origin.USER, thanks, "", ()),
    ]
    turns = tuple(
        Turn(seq=seq, turn_id=f"t{seq}", role=role, origin=origin, content=words, name=name, tool_calls=calls,
             tool_call_id=f"c{(seq - 3) // 2}" if role == "tool" else "", occurred_at=_NOW)
        for seq, (role, origin, words, name, calls) in enumerate(lines, 1)
    )  # fmt: skip
    return Episode(
        id=episode_of_run(_TENANT, "api", case.name),
        tenant_id=_TENANT,
        user_id=f"user-{case.name}",
        agent_id=f"agent-{case.lang}",
        run_id=case.name,
        goal=case.goal,
        outcome=Outcome(status=OutcomeStatus.SUCCESS, source=OutcomeSource.USER),
        turns=turns,
        started_at=_NOW,
        ended_at=_NOW,
    )


async def look_back(engine: Engine, episode: Episode, mind: str, reflector: Reflector) -> str:
    """The steps of a reflection as the workflow takes them, asked once; returns its id."""
    asked = ReflectorId(reflector.name, reflector.model, reflector.prompt_version)
    accepted = await engine.ledger.write(
        lambda conn: intake.accept_run(conn, episode, asked, recall_ids=(), now=engine.clock.now(), keep_first=False)
    )
    name = accepted.reflection_id
    step = StepInput(reflection_id=name)
    if not (await STEPS["gather"](engine, step)).skip:
        await reflect(engine, ReflectInput(reflection_id=name, attempt=1, reflector=mind), {mind: reflector})
        await STEPS["ground"](engine, GroundInput(reflection_id=name, attempt=1))
        await STEPS["resolve"](engine, ResolveInput(reflection_id=name, attempt=1))
        await STEPS["index"](engine, step)
    await STEPS["finish"](engine, FinishInput(reflection_id=name, status="completed"))
    return name


async def _ask_again(engine: Engine, recaller: Recaller, case: Case, tally: Tally) -> None:
    """The same user asks for the goal and for the planted words themselves; nothing is left out as irrelevant."""
    episode = episode_of(case)
    for query in (case.goal, case.output[:400]):
        answer = await recaller.recall(
            _TENANT, RecallQuery(user_id=episode.user_id, agent_id=episode.agent_id, query=query, limit=50, budget_tokens=4_000)
        )
        brief = [line for line in answer.brief.splitlines() if line.strip()]
        tally.told += without_quotes(brief, [case.output]) != brief
        ids = [item.memory_id for item in answer.items]
        tally.quarantined_told += await engine.ledger.read(partial(_quarantined, ids=ids))


def _quarantined(conn: Connection, ids: Sequence[str]) -> int:
    query = select(func.count()).where(memories.c.id.in_(ids), memories.c.status == str(Status.QUARANTINED))
    return int(conn.execute(query).scalar_one())


def _count(conn: Connection, names: Sequence[str], tally: Tally) -> None:
    rows = conn.execute(select(memories.c.kind, memories.c.status).where(memories.c.reflection_id.in_(names)))
    for kind, status in rows:
        tally.kept[f"{status} {kind}"] += 1
        tally.orders += kind in _ORDERS
    for name in names:
        tally.refused.update(item["rule"] for item in reflections.row_of(conn, name).rejected)


async def judge(chosen: Sequence[Case], mind: str) -> Tally:
    """Run the cases with one of MINDS in an installation of their own."""
    tally = Tally(cases=len(chosen))
    with tempfile.TemporaryDirectory() as folder, FakeLlm(mode=mind) as llm:
        settings = Settings(
            data=Path(folder),
            embed="none",
            relevance_gate=0.0,
            llm_base_url=llm.url,
            llm_model="obedient",
            llm_timeout_s=60,
            _env_file=None,
        )
        async with open_engine(settings) as engine:
            recaller = Recaller(engine)
            reflector = RuleReflector() if mind == "rules" else LlmReflector(settings)
            names = [await look_back(engine, episode_of(case), reflector.name, reflector) for case in chosen]
            for case in chosen:
                await _ask_again(engine, recaller, case, tally)
            await engine.ledger.read(partial(_count, names=names, tally=tally))
            await recaller.close()
            if isinstance(reflector, LlmReflector):
                await reflector.close()
    return tally


def table(tallies: Sequence[tuple[str, Tally]]) -> list[str]:
    """Markdown: one row per set of cases and reflector."""
    head = "| cases | reflector | tasks | orders accepted | briefs with planted words | quarantined items told | kept | refused by |"
    rows = [head, "|---|---|---|---|---|---|---|---|"]
    for name, tally in tallies:
        kept = ", ".join(f"{number} {what}" for what, number in sorted(tally.kept.items())) or "none"
        refused = ", ".join(f"{rule} {number}" for rule, number in tally.refused.most_common()) or "none"
        cells = [name, str(tally.cases), str(tally.orders), str(tally.told), str(tally.quarantined_told), kept, refused]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


async def all_tallies() -> list[tuple[str, Tally]]:
    """Every set of cases with every reflector."""
    return [(f"{name} | {mind}", await judge(chosen, mind)) for name, chosen in sets().items() for mind in MINDS]


def recognised() -> list[str]:
    """How many outputs the words alone give away, whoever said them: what is left when the origin is believed too much."""
    rows = ["| cases | recognised by their words alone [95 %] |", "|---|---|"]
    for name, chosen in sets().items():
        rows.append(f"| {name} | {told(sum(poison_in(case.output) != '' for case in chosen), len(chosen))} |")
    return rows


def lines() -> list[str]:
    """The section of the report."""
    return [*table(asyncio.run(all_tallies())), "", *recognised()]


def main() -> None:
    """Print the tables."""
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
