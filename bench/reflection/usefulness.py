"""Is a lesson of use to whoever does the task again? `python -m bench.reflection.usefulness make`, then `… score answers.json`.

A reader is given 20 lessons and 20 openings of other attempts, no transcript, and pairs them; for each the reader says what to do
differently. The rule of choice, stated before anybody read the sheet:

- Material: `tau_airline.jsonl` (MIT), two attempts at each of 50 tasks; as in `airline.py` every second run has the verdict in its note.
- A task takes part where one attempt failed and taught something that can be known at the beginning: not that the cause is not visible,
  and not a recovery or a circle, whose condition is an error message that no opening shows. The first such lesson of the run is taken.
- Tasks and, where both attempts qualify, the attempt are drawn with a fixed seed. The opening is that of the *other* attempt, which the
  lesson knows nothing of (each run is looked back on alone): what was said before anything was changed, names and ids masked.
"""

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import typer

from bench.reflection.airline import data_path, episode_of, runs
from bench.reflection.blind_score import Key, Row, score
from bench.reflection.sampling import told
from hindwise.model.episode import Episode, OutcomeStatus
from hindwise.model.memory import Draft, Kind
from hindwise.reflect.rules import reflect_by_rules
from hindwise.reflect.transcript import steps_of
from hindwise.safety.identities import identities
from hindwise.safety.personal import scrub
from hindwise.text.clean import one_line, truncate

PAIRS = 20
GOAL = 14
SEED = 20
_LETTERS = ascii_uppercase[:PAIRS]
FOLDER = Path(__file__).with_name("blind")
_LATER = {"cause-not-visible", "recovery", "loop"}
"""Topics of lessons that an opening cannot call for."""
_USER_TURNS = 4
_AGENT_CHARS = 160

app = typer.Typer(add_completion=False, help="The blind sheet: make it, score the answers.")


@dataclass(frozen=True)
class Pair:
    """A lesson and the run whose opening belongs to it."""

    lesson: Draft
    source: str
    opening_of: str
    opening: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Chosen:
    """The pairs, and how many lessons there were to choose from."""

    pairs: tuple[Pair, ...]
    lessons: int
    qualified: int
    tasks: int


def choose(seed: int = SEED) -> Chosen:
    """Draw the pairs by the rule above."""
    data = runs(data_path())
    episodes = {str(run["run_id"]): episode_of(run, with_verdict=number % 2 == 1) for number, run in enumerate(data)}
    other = {one: next(e for e in episodes if _task(e) == _task(one) and e != one) for one in episodes}
    of_failed = {
        name: [d for d in reflect_by_rules(episode).drafts if d.kind is Kind.LESSON]
        for name, episode in episodes.items()
        if episode.outcome.status is OutcomeStatus.FAILURE
    }
    by_task: defaultdict[str, list[tuple[str, Draft]]] = defaultdict(list)
    for name, lessons in of_failed.items():
        if fit := [lesson for lesson in lessons if _LATER.isdisjoint(lesson.topics)]:
            by_task[_task(name)].append((name, fit[0]))
    draw = random.Random(seed)
    taken = [draw.choice(by_task[task]) for task in draw.sample(sorted(by_task), PAIRS)]
    pairs = tuple(Pair(lesson, name, other[name], opening_of(episodes[other[name]])) for name, lesson in taken)
    every = [lesson for lessons in of_failed.values() for lesson in lessons]
    return Chosen(pairs, len(every), sum(_LATER.isdisjoint(lesson.topics) for lesson in every), len(by_task))


def _task(run_id: str) -> str:
    return run_id.split("-")[1]


def opening_of(episode: Episode) -> tuple[tuple[str, str], ...]:
    """Speaker and words from the beginning, at most four messages of the customer, until something was changed; masked, agents' cut."""
    changed = min((step.turn.seq for step in steps_of(episode.turns) if step.changes), default=len(episode.turns) + 1)
    names = identities(episode)
    said: list[tuple[str, str]] = []
    asked = 0
    for turn in episode.turns:
        if turn.seq >= changed or asked == _USER_TURNS:
            break
        if turn.role == "tool" or not turn.content:
            continue
        asked += turn.role == "user"
        words = one_line(scrub(turn.content, names=names, language="en"))
        said.append(("customer", words) if turn.role == "user" else ("agent", truncate(words, _AGENT_CHARS)))
    return tuple(said)


# --- the sheet and its key ------------------------------------------------------------------------------------------------------------

_HEAD = f"""# Which lesson is for which task?

An agent answers an airline's customers; it can look up users, reservations and flights, and book, change, cancel or hand over to a
person. Below are {PAIRS} **lessons**, each learned on one finished task that had failed, and {PAIRS} **openings**, A to {_LETTERS[-1]}: how
another attempt at one of the same tasks began. Same customer and same wish, in other words, before anything was solved.

1. Pair them. Every lesson belongs to exactly one opening and every opening to one lesson. Where you cannot tell, guess.
2. For each lesson say in one sentence what the agent should **do differently** in the task that the opening begins: an action that
   somebody could follow there ("look up … before …", "also call …", "do not … unless …"), no "be careful".

Answer with this JSON alone, one entry per lesson:

    {{"answers": [{{"lesson": "L01", "opening": "A", "do_differently": "…"}}, …]}}

In a lesson, *asked* is what the failed task was about in general words, *because* is what was seen, *next time* is the advice in full.
"""


def sheet(pairs: Sequence[Pair], order: Sequence[int]) -> str:
    """The sheet as Markdown; `order`: which pair's opening stands at which letter."""
    lines = [_HEAD, "## Lessons", ""]
    for number, pair in enumerate(pairs, 1):
        lines += [f"**L{number:02}** {pair.lesson.conclusion}", ""]
        lines += [f"- {name}: {text}" for name, text in _parts(pair.lesson) if text] + [""]
    lines += ["## Openings", ""]
    for letter, place in zip(_LETTERS, order, strict=True):
        said = [f"> {speaker}: {words}" for speaker, words in pairs[place].opening]
        lines += [f"**{letter}**", "", "\n>\n".join(said), ""]
    return "\n".join(lines)


def _parts(lesson: Draft) -> list[tuple[str, str]]:
    """What an agent gets beside the conclusion: its condition, and the parts of its retrospective."""
    back = lesson.retrospective
    return [
        ("when", lesson.applies_when),
        ("not when", lesson.not_when),
        ("asked", back.goal),
        ("because", back.what_failed_and_why or back.what_worked),
        ("next time", back.next_time if back.next_time not in lesson.conclusion else ""),
    ]


def _key(chosen: Chosen, order: Sequence[int]) -> Key:
    letters = {place: letter for letter, place in zip(_LETTERS, order, strict=True)}
    rows = tuple(
        Row(
            lesson=f"L{number + 1:02}",
            opening=letters[number],
            source=pair.source,
            opening_of=pair.opening_of,
            lesson_words=" ".join((pair.lesson.conclusion, *(text for _, text in _parts(pair.lesson)))),
            opening_words=" ".join(words for speaker, words in pair.opening if speaker == "customer"),
        )
        for number, pair in enumerate(chosen.pairs)
    )
    return Key(rows=rows, lessons=chosen.lessons, qualified=chosen.qualified, tasks=chosen.tasks)


def _drawn(seed: int) -> tuple[Chosen, list[int]]:
    chosen = choose(seed)
    return chosen, random.Random(f"openings-{seed}").sample(range(PAIRS), PAIRS)


@app.command()
def make(out: Path = FOLDER, seed: int = SEED) -> None:
    """Write `sheet.md` for the reader and `key.json`, which the reader must not see."""
    chosen, order = _drawn(seed)
    out.mkdir(parents=True, exist_ok=True)
    (out / "sheet.md").write_text(sheet(chosen.pairs, order), encoding="utf-8")
    (out / "key.json").write_text(json.dumps(_key(chosen, order).model_dump(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{PAIRS} of {chosen.tasks} tasks; {chosen.qualified} of {chosen.lessons} lessons of failed runs qualify")


@app.command("score")
def score_command(answers: Path, folder: Path = FOLDER, reader: str = "a reader who saw the sheet alone") -> None:
    """Compare the answers with the key, print it, and write `result.json` for the report."""
    key = Key.model_validate_json((folder / "key.json").read_text(encoding="utf-8"))
    result = score(key, json.loads(answers.read_text(encoding="utf-8")), reader=reader)
    (folder / "result.json").write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines(folder)))


def lines(folder: Path = FOLDER) -> list[str]:
    """The section of the report; without a result it says that nobody has read the sheet."""
    key = Key.model_validate_json((folder / "key.json").read_text(encoding="utf-8"))
    rule = [
        f"The [sheet]({FOLDER.name}/sheet.md) was drawn by the rule at the head of `usefulness.py`: {PAIRS} of the {key.tasks} tasks in",
        "which a failed attempt taught something that can be known at the beginning",
        f"({key.qualified} of {key.lessons} lessons of failed runs do).",
        "The reader sees conclusion, condition and the lesson's retrospective (asked, because, next time), as a recall with",
        "`include_retrospective` tells them, and no transcript.",
        f"Chance: 1 pair of {PAIRS}. Pairing by words in common alone, without a reader: {key.by_words()}. Goal: {GOAL}.",
        "",
    ]
    path = folder / "result.json"
    if not path.exists():
        return [*rule, "Nobody has read the sheet yet."]
    result = json.loads(path.read_text(encoding="utf-8"))
    return [*rule, *_result_lines(result)]


def _result_lines(result: dict[str, Any]) -> list[str]:
    rows = [
        f"Read by {result['reader']}.",
        "",
        "| figure | value [95 %] |",
        "|---|---|",
        f"| pairs right | {told(result['right'], result['pairs'])} |",
        f"| answers that name an action | {told(result['concrete'], result['pairs'])} |",
        f"| right and with an action | {told(result['both'], result['pairs'])} |",
        "",
        f"A random pairing has {GOAL} right with a chance of {result['chance_of_goal']:.1e}. “Names an action” is a rule of thumb by code",
        "(`blind_score.py`); every answer stands below, for a person to judge. The data are public and the openings tell much: a model may",
        "know more of these tasks than lesson and opening say, so this shows that a lesson finds its task, less what it adds there.",
        "",
        "| lesson | said | right | action | what to do differently |",
        "|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        words = row["do_differently"].replace("|", "\\|")
        right, action = "yes" if row["right"] else f"no, {row['opening']}", "yes" if row["concrete"] else "no"
        rows.append(f"| {row['lesson']} | {row['said']} | {right} | {action} | {words} |")
    return rows


if __name__ == "__main__":
    app()
