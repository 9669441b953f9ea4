"""How often does a recall tell what answers the question? `python -m bench.recall_quality [--embed none|local] [--spare 20:12:6,42:32:10]`

Questions whose answers are marked, in both languages: long chats (LoCoMo), a Chinese user's days (MemDaily, fifty lives to a space),
lessons of agents asked for by the task of another bank's lesson (ReMe), facts that overwrite each other (FactConsolidation). Each chat,
life, bank and context is written into a space of its own, one memory a message, and asked at the limit of eight items. Counted is the
share of the marked memories that are told (of at most eight), averaged over questions, with its 95 % interval (bootstrap, fixed seed).

--spare compares how many finds are looked for, read and weighed beyond the limit, as FINDS:READ:WEIGHED; each is held against the first,
question by question. All memories are equally important here: what importance does to the order is not measured.

The files are evaluation data (HINDWISE_EVAL_DATA) and development slices: what was tuned on them is not to be reported on them.
With vectors 7,000 texts are embedded first, which takes minutes.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import uvloop
from sqlalchemy import Connection

from bench.reflection.sampling import eval_file
from hindwise.engine import Engine, open_engine
from hindwise.ledger import memory_changes, outbox, spaces
from hindwise.model.brief import RecallQuery
from hindwise.model.ids import derive
from hindwise.model.memory import Kind, Memory
from hindwise.recall import choosing, finding, judge
from hindwise.recall.recall import Recaller
from hindwise.settings import Settings
from hindwise.text.language import language_of

TENANT = "default"
LIMIT = 8
_MAX_CHARS = 160
_LIVES_TOGETHER = 50
_BATCH = 60
"""Memories that are embedded within the time that a space is lent for."""
_DRAWS = 2_000
_SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Text:
    """What becomes one memory. `task`: the generalised task of a lesson."""

    name: str
    words: str
    kind: Kind = Kind.FACT
    task: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts of one user, and questions with the names of what answers each."""

    source: str
    user: str
    texts: Sequence[Text]
    questions: Sequence[tuple[str, frozenset[str]]]

    def id_of(self, name: str) -> str:
        """Of a text's memory."""
        return derive("bench", f"{self.user}/{name}")


def corpora() -> Iterator[Corpus]:
    """Read the files. Raises FileNotFoundError where one is missing."""
    yield from _locomo(_read("locomo_dev.json"))
    yield from _memdaily(_read("memdaily_dev.json")["trajectories"])
    yield _lessons([json.loads(line) for line in eval_file("reme_lessons_dev.jsonl").read_text("utf-8").splitlines()])
    yield from _facts(_read("fact_consolidation_dev.json"))


def _read(name: str) -> Any:
    return json.loads(eval_file(name).read_text("utf-8"))


def _locomo(found: Any) -> Iterator[Corpus]:
    for chat in found["conversations"]:
        turns = [turn for session in chat["sessions"] for turn in session["turns"]]
        texts = [Text(turn["dia_id"], f"{turn['speaker']}: {turn['text']}"[:_MAX_CHARS]) for turn in turns]
        asked = [one for one in chat["questions"] if one["category"] != 5 and one["evidence"]]
        questions = [(one["question"], frozenset(one.get("audited_evidence") or one["evidence"])) for one in asked]
        yield Corpus("LoCoMo", chat["id"], texts, questions)


def _memdaily(lives: Sequence[Any]) -> Iterator[Corpus]:
    apart = len(lives) // _LIVES_TOGETHER
    for first in range(apart):
        texts, questions = [], []
        for life in lives[first::apart]:
            texts += [Text(f"{life['id']}/{one['mid']}", one["message"][:_MAX_CHARS]) for one in life["messages"]]
            questions += [(one["question"], frozenset(f"{life['id']}/{mid}" for mid in one["target_step_id"])) for one in life["questions"]]
        yield Corpus("MemDaily", f"days-{first}", texts, questions)


def _lessons(lessons: Sequence[Any]) -> Corpus:
    texts = [Text(one["id"], one["content"][:_MAX_CHARS], Kind.LESSON, (one["generalized_query"] or "")[:_MAX_CHARS]) for one in lessons]
    by_task: dict[str, set[str]] = {}
    for one in lessons:
        by_task.setdefault(one["task_query"], set()).add(one["id"])
    return Corpus("ReMe", "lessons", texts, [(task, frozenset(names)) for task, names in by_task.items()])


def _facts(found: Any) -> Iterator[Corpus]:
    for context in found["contexts"]:
        texts = [Text(str(fact["serial"]), fact["text"][:_MAX_CHARS]) for fact in context["facts"]]
        questions = []
        for asked in found["question_sets"]:
            if asked["context"] == context["id"] and asked["kind"].startswith("s"):
                for one in asked["questions"]:
                    answers = [answer.lower() for answer in one["answers"]]
                    names = frozenset(text.name for text in texts if any(answer in text.words.lower() for answer in answers))
                    if 0 < len(names) <= LIMIT:  # more say the same words by chance
                        questions.append((one["question"], names))
        yield Corpus("FactConsolidation", str(context["id"]), texts, questions)


async def _fill(engine: Engine, corpus: Corpus) -> None:
    now, space = engine.clock.now(), f"user:{corpus.user}"
    for start in range(0, len(corpus.texts), _BATCH):
        kept = [
            Memory(
                id=corpus.id_of(text.name),
                tenant_id=TENANT,
                space=space,
                kind=text.kind,
                conclusion=text.words,
                generalized_query=text.task,
                language=language_of(text.words),
                valid_from=now - timedelta(minutes=len(corpus.texts) - start - at),
                recorded_at=now - timedelta(minutes=len(corpus.texts) - start - at),
            )
            for at, text in enumerate(corpus.texts[start : start + _BATCH])
        ]

        def write(conn: Connection, kept: Sequence[Memory] = kept) -> None:
            row = spaces.lock(conn, TENANT, [space])[space]
            for memory in kept:
                memory_changes.insert_memory(conn, row.no, memory, actor="bench", why="bench")
            outbox.mark_dirty(conn, row.no, [memory.id for memory in kept], spaces.bump(conn, row.no), now)

        await engine.ledger.write(write)
        while await engine.projection.one_space() is not None:
            pass


async def _ask(recaller: Recaller, corpus: Corpus) -> list[float]:
    """For each question, the share of what answers it that is told."""
    shares = []
    for question, names in corpus.questions:
        answer = await recaller.recall(TENANT, RecallQuery(user_id=corpus.user, query=question[:2_000], limit=LIMIT))
        wanted = {corpus.id_of(name) for name in names}
        shares.append(len(wanted & {item.memory_id for item in answer.items}) / min(len(wanted), LIMIT))
    return shares


def _interval(values: np.ndarray[Any, Any]) -> str:
    draw = np.random.default_rng(_SEED)
    means = values[draw.integers(0, len(values), (_DRAWS, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


async def measure(embed: str, spares: Sequence[str]) -> None:
    """Fill, ask with each number of spare finds and rows, and print a line for each source."""
    found = list(corpora())
    shares: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as directory:
        async with open_engine(Settings(_env_file=None, data=Path(directory), embed=embed)) as engine:
            for corpus in found:
                print(f"  writing {len(corpus.texts):>5} memories of {corpus.source} {corpus.user}", flush=True)
                await _fill(engine, corpus)
            recaller = Recaller(engine)
            await recaller.start()
            for spare in spares:
                finding._SPARE_FINDS, choosing._SPARE, judge._SPARE = map(int, spare.split(":"))
                for corpus in found:
                    shares.setdefault((corpus.source, spare), []).extend(await _ask(recaller, corpus))
            await recaller.close()
    for source in dict.fromkeys(corpus.source for corpus in found):
        first = np.array(shares[source, spares[0]])
        for spare in spares:
            told = np.array(shares[source, spare])
            against = f"   against {spares[0]}: {_interval(told - first)}" if spare != spares[0] else ""
            print(f"{source:<18} n={len(told):<4} spare {spare:<9} told {_interval(told).lstrip('+')}{against}")


def main() -> int:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall_quality", description="How often a recall tells what answers.")
    parser.add_argument("--embed", choices=("none", "local"), default="none", help="words alone (default), or vectors too")
    usual = f"{finding._SPARE_FINDS}:{choosing._SPARE}:{judge._SPARE}"
    parser.add_argument("--spare", default=usual, help=f"FINDS:READ:WEIGHED beyond the limit, with commas between (default {usual})")
    arguments = parser.parse_args()
    with suppress(KeyboardInterrupt):
        try:
            uvloop.run(measure(arguments.embed, arguments.spare.split(",")))
        except FileNotFoundError as error:
            print(f"{error.filename} is missing: name the folder of the evaluation data in HINDWISE_EVAL_DATA", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
