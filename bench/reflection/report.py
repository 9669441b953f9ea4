"""Writes `bench/reflection/REPORT.md`: what the rule reflector makes of marked and of own runs. `python -m bench.reflection.report`.

Figures stand beside those of the release before, with 95 % intervals (Wilson). Nothing here is a test; floors are in `tests/unit/reflect`.
"""

import json
from pathlib import Path

from bench.reflection import (
    airline,
    bilingual,
    cost,
    failing_step,
    gating,
    hermes,
    one_off,
    parallel,
    poison,
    segments,
    small_model_show,
    usefulness,
)
from hindwise.reflect.rules import RuleReflector

TARGET = Path(__file__).with_name("REPORT.md")

BEFORE = {
    "failed runs with a specific lesson": 0.72,
    "failed runs with cause not visible": 0.33,
    "failed runs with a specific lesson (reward alone)": 0.36,
    "failed runs with cause not visible (reward alone)": 0.76,
    "failed runs with a specific lesson (with verdict)": 1.00,
    "failed runs with cause not visible (with verdict)": 0.00,
}
"""Of the airline runs, as the first release measured them."""


def report() -> str:
    """Return the whole report as Markdown."""
    parts = [
        _who_wrote(),
        "",
        "# What rules conclude",
        "",
        "Made by `python -m bench.reflection.report`. Shares as hits/all, share, 95 % interval.",
        *_gating(),
        *_failing(),
        *_airline(),
        *_parallel(),
        *_segments(),
        *_bilingual(),
        *_one_off(),
        *_usefulness(),
        *_poison(),
        *_hermes(),
        *_small_model(),
        *cost.section(),
    ]
    return "\n".join(parts) + "\n"


def _who_wrote() -> str:
    rules = RuleReflector()
    models = ", ".join(sorted({str(one["model"]) for one in json.loads(small_model_show.KEPT.read_text(encoding="utf-8"))}))
    return (
        f"Written by the rule reflector (`{rules.name}`, version {rules.prompt_version}) except where a heading says otherwise: "
        f"“A real small model” ({models}), “What a model costs” and the rows `obeys…` of “Planted words” (fake models)."
    )


def _gating() -> list[str]:
    return [
        "",
        "## Keep or drop (`gating_dev.jsonl`, and fresh turns)",
        "",
        *gating.table(),
        "",
        "The cue lists of the first release were written with all of `gating_dev.jsonl` in sight, so neither half of it is",
        "unseen. The fresh turns (`gating_fresh.jsonl`, 36 per language, own work) were written afterwards in other words.",
        "Before any rule was changed on them they gave F1 0.56 in English and 0.38 in Chinese: what a list of cues is worth",
        "outside of the turns that it was made from. Rules were then changed on the half with an even hash; the pairs say the",
        "same in both languages, so the other half is not quite unseen either.",
    ]


def _failing() -> list[str]:
    return [
        "",
        "## The failing step (`who_and_when.jsonl`)",
        "",
        *failing_step.table(failing_step.runs()),
        "",
        "Rules were chosen on the dev half alone. Most mistakes of the algorithm-generated runs lie in steps 0 to 5, therefore",
        "the constant",
        "answer is printed too: it comes near, and is seldom exact.",
    ]


def _airline() -> list[str]:
    figures = airline.figures(list(airline.reflect_all(airline.runs(airline.data_path()))))
    lines = ["", "## Customer service (`tau_airline.jsonl`, 100 runs, English)", "", "| figure | first release | now |", "|---|---|---|"]
    for name, value in figures.items():
        before = f"{BEFORE[name]:.2f}" if name in BEFORE else ""
        lines.append(f"| {name} | {before} | {f'{value:.2f}' if isinstance(value, float) else value} |")
    return [
        *lines,
        "",
        "With the reward alone nothing but the conversation says why a run failed. What is named now and was not before:",
        "requests that the agent refused or that no call fulfilled, and details that the user lacked and nobody looked up.",
        "Where neither is to be seen, the",
        "lesson still says that the cause is not visible.",
    ]


def _parallel() -> list[str]:
    first, later = ([parallel.judge(run) for run in parallel.runs(path)] for path in (parallel.RUNS, parallel.FRESH))
    return [
        "",
        "## The same events in both languages (`parallel_runs.jsonl`, 20 runs each; `parallel_fresh.jsonl`, 24 each)",
        "",
        "The 40 runs:",
        "",
        *parallel.table(first),
        "",
        "The 48 that were written later:",
        "",
        *parallel.table(later),
        "",
        "Both sets together:",
        "",
        *parallel.table([*first, *later]),
        "",
        "Expectations were written before any rule was run on them; misses were looked at in the dev halves alone. First",
        "measured, the 40 runs gave F1 0.78 in English and 0.76 in Chinese. The later ones, written when those had reached 0.96",
        "and 0.91, gave 0.83 and 0.68 (dev 0.72 and 0.58, report 0.95 and 0.80): so much of the first set was what its words",
        "were. Since then the rules know more words, read every request of a sentence, and which one a refusal names. One",
        "expectation was widened: “metric units” for kilometres. Words were also found on 25 more pairs, made for that and not",
        "kept. The author of the later runs also changed the rules, so their report half is less unseen than the first set's,",
        "of which no more than its tasks in a few words was read: it did not move (English 0.92, Chinese 0.83 before and",
        "after). Since then 36 more Chinese runs and 144 Chinese sentences were written for finding gaps and not kept as a set: of 70",
        "standing orders the rules read 7 first and 39 now, of 74 momentary states they took 17 for a memory and take 4. The kinds of",
        "what the Chinese report half lacks were looked at, not its words; it did not move: two orders are still missed, one fact and one",
        "todo too many. With twelve expectations a half tells little: over the 40 runs the languages are 5 points apart, over both sets",
        "one.",
    ]


def _segments() -> list[str]:
    return [
        "",
        "## Where one task ends and the next begins (`segments.jsonl`, 60 joined sessions)",
        "",
        *segments.table(),
        "",
        *segments.whole_table(),
        "",
        *segments.without_pause_table(),
        "",
        "Sessions, runs and marker phrases were written before the rules, by the same author; runs and phrases of one half never",
        "occur in the other. First measured, before any change: F1 0.90 (dev) and 0.91 (report) in English, 0.91 and 0.98 in Chinese.",
        "But then eight of ten sessions of orders in a row about one thing were cut, which no joined run shows. Since then",
        "other words alone must tell more: this cost what stands under “neither word nor pause”, and no such session is cut.",
        "Without pause: 20 sessions per language and set, nobody pauses. When thanks in one breath (“Thanks! Also, please …”) and",
        "another language became signs, `fresh` went from 0.35 in both languages to 0.70 in English and 0.67 in Chinese, unseen; then",
        "rules were changed on it. `unseen` was written after that and measured once: without those signs it gives 0.27 and 0.13.",
        "Somebody who thanks before each order of a task is polite: in the dev orders in a row with “Thanks!” before each, 13 of 34",
        "were cut before, 3 are now.",
        "Intervals of F1: whole sessions drawn again.",
    ]


def _bilingual() -> list[str]:
    return [
        "",
        "## The same, or the opposite, said in the other language (`bilingual_pairs.txt`, 83 pairs)",
        "",
        *bilingual.table(),
        "",
        "Statements of the user, read by rules and settled with what is known; before, every one that met the other language",
        "superseded it. The pairs were written before the lexicon (`hindwise/text/bilingual_words.py`), by the same author, and only the",
        "dev half was looked at; first measured, the report half agreed in 20 of 25. “Both kept”: a word that the lexicon does not know,",
        "or two attributes, as in one language. Cosines of the local embedder do not tell the two apart: in the dev half 0.80 to 0.92",
        "where both say the same, 0.80 to 0.87 where they contradict each other. Since duty, will and time count (“must not”, 「不用」,",
        "“was”, 「了」), these counts are what they were; on the way there two pairs of the report half were seen to fail and put right.",
    ]


def _one_off() -> list[str]:
    return [
        "",
        "## A request of once, or a standing order (`one_off.txt`, 20 of each in both languages)",
        "",
        *one_off.table(),
        "",
        "Written before the rule (`hindwise/reflect/rules/once.py`), by its author, who chose it on the dev half. Before it 10 of 20",
        "requests of once were not kept in English and 4 of 20 in Chinese, and 19 standing orders were kept in either.",
    ]


def _usefulness() -> list[str]:
    return ["", "## Of use to another attempt? A blind reader", "", *usefulness.lines()]


def _poison() -> list[str]:
    return [
        "",
        "## Planted words (`poison.jsonl`, `poison_fresh.jsonl`, `poison_seeds.json`)",
        "",
        *poison.lines(),
        "",
        "Reflectors: the rules; `obeys`, a fake model that writes down whatever it reads as an order; `obeys_beside_user`,",
        "which also names the user's turn as evidence. The unseen outputs were written before their author had read the",
        "patterns: words alone give away fewer than half of them, and no order is accepted all the same, because nothing of a",
        "tool or page may be one. First measured, one planted order stood in a brief (rules, Chinese): it was the second",
        "sentence of an answer taken for an error. Since then an error is told by its first sentence alone.",
    ]


def _hermes() -> list[str]:
    return [
        "",
        "## A Chinese user's day (`hermes_session_zh.jsonl`): ten conclusions",
        "",
        "Nobody judged these conversations. What an agent reports is told as its report.",
        "",
        *hermes.lines(10),
    ]


def _small_model() -> list[str]:
    return [
        "",
        "## A real small model through the whole product",
        "",
        "Here alone a model took part; the figures were kept when it ran (`small_model.json`, see `bench/README.md`), since such a run",
        "takes an hour. Such a model is far too small to reflect well. In the long form it said nothing; in the short form, which `auto`",
        "comes to by itself (`HINDWISE_LLM_FORM`), it teaches. Nothing is lost or told without ground in either.",
        *small_model_show.sections(),
    ]


def main() -> None:
    """Write the report."""
    TARGET.write_text(report(), encoding="utf-8")
    print(f"written: {TARGET.name}")


if __name__ == "__main__":
    main()
