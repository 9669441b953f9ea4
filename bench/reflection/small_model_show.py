"""The figures of `small_model.py` as Markdown, from `small_model.json`: by language, with 95 % intervals, and conclusions with evidence."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.reflection.sampling import told
from bench.reflection.small_model_judge import GROUPS, Kept, Told

KEPT = Path(__file__).with_name("small_model.json")
"""What models did, model by model, as it was measured."""
_SHOWN = 10


def line(run: Told) -> str:
    """One run in one line, while they go on."""
    cause = f" ({run.cause})" if run.cause else ""
    kept = Counter(kept.kind for kept in run.kept)
    bad = [f"LOST: {what}" for what in run.lost] + [f"UNGROUNDED: {what}" for kept in run.kept for what in kept.faults]
    tries = ", ".join(f"{a.by}: {a.unusable or f'{a.accepted} of {a.drafts} {a.rejected or str()}'.strip()}" for a in run.attempts)
    return f"{run.id} {run.seconds:.0f} s, {run.status} by {run.by}{cause}, kept {dict(kept)}; {tries} {' '.join(bad)}".rstrip()


def sections() -> list[str]:
    """All models of `small_model.json`, the best known last."""
    results = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else []
    return [text for result in results for text in ["", *section(result)]]


def section(result: dict[str, Any]) -> list[str]:
    """One model: what it was, the table, what was refused and why, ten conclusions."""
    runs = [Told(**run) for run in result["runs"]]
    return [
        f"Written by `{result['model']}`, prompt version {result['prompt']}, {result.get('form', 'long')} form;",
        "where it failed, by the rule reflector.",
        "",
        f"Served by {result['served_by'] or 'an OpenAI-compatible server'}; answers asked for as `{result['format']}`, the first format",
        f"that it takes. LLM_TIMEOUT_S {result['timeout_s']:g}, LLM_BUDGET_S {result['budget_s']:g}; {result['at']};",
        f"{len(runs)} of {sum(result['sampled'].values())} sampled runs.",
        "",
        *_table(runs),
        "",
        *_refusals(runs),
        *_alarms(runs),
        "",
        *_conclusions(runs),
        *(["", *result["read"]] if result.get("read") else []),
    ]


def _table(runs: Sequence[Told]) -> list[str]:
    groups = [(name, [run for run in runs if run.group == name]) for name in GROUPS]
    chosen = [(name, some) for name, some in [*groups, ("all", list(runs))] if some]
    head = ["| | " + " | ".join(name for name, _ in chosen) + " |", "|---|" + "---|" * len(chosen)]
    return head + [f"| {name} | " + " | ".join(figure(some) for _, some in chosen) + " |" for name, figure in _FIGURES]


def _share(of: Callable[[Told], bool]) -> Callable[[Sequence[Told]], str]:
    return lambda runs: told(sum(map(of, runs)), len(runs))


def _fell_back(runs: Sequence[Told]) -> str:
    causes = Counter(run.cause for run in runs if run.by == "rules")
    return ", ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "0"


def _drafts(runs: Sequence[Told]) -> str:
    proposed = sum(a.drafts for run in runs for a in run.asked)
    return f"{proposed}, {told(sum(a.accepted for run in runs for a in run.asked), proposed)}"


def _quoted(runs: Sequence[Told]) -> str:
    """Of the model's: what rules wrote instead is not its merit."""
    kept = [kept for run in runs if run.by == "model" for kept in run.kept]
    return (
        told(sum(not any(fault.startswith(("quotes", "no turn", "no words")) for fault in one.faults) for one in kept), len(kept))
        if kept
        else "none"
    )


def _own(runs: Sequence[Told]) -> str:
    """What nobody is told until another task bears it out is kept as well, and counts apart."""
    states = Counter(kept.status for run in runs for kept in run.kept if kept.own)
    return f"{sum(states.values())}: " + (", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none")


def _learned(runs: Sequence[Told]) -> str:
    count = max(1, len(runs))
    return f"{sum(run.learned for run in runs) / count:.1f}; {sum(run.by_rules for run in runs) / count:.1f}"


def _poorer(runs: Sequence[Told]) -> str:
    return str(sum(run.by == "model" and not run.learned and run.by_rules > 0 for run in runs))


def _tokens(runs: Sequence[Told]) -> str:
    calls = sum(len(run.asked) for run in runs)
    prompt, answer = sum(a.prompt_tokens for r in runs for a in r.asked), sum(a.completion_tokens for r in runs for a in r.asked)
    return f"{prompt / max(1, len(runs)):.0f} + {answer / max(1, len(runs)):.0f} in {calls / max(1, len(runs)):.1f} calls"


def _seconds(runs: Sequence[Told]) -> str:
    ordered = sorted(run.seconds for run in runs)
    return f"{ordered[len(ordered) // 2]:.0f} ({ordered[0]:.0f} to {ordered[-1]:.0f})"


_FIGURES: tuple[tuple[str, Callable[[Sequence[Told]], str]], ...] = (
    ("runs posted", lambda runs: str(len(runs))),
    ("completed, by the model [95 %]", _share(lambda run: run.status == "completed" and run.by == "model")),
    ("completed, by rules in its place [95 %]", _share(lambda run: run.status == "completed" and run.by == "rules")),
    ("why rules stood in", _fell_back),
    ("skipped, with the reason", lambda runs: str(sum(run.status == "skipped" for run in runs))),
    ("lost", lambda runs: str(sum(bool(run.lost) for run in runs))),
    ("first answer in the agreed form", _share(lambda run: bool(run.asked) and not run.asked[0].unusable)),
    ("some answer in the agreed form, after re-asking", _share(lambda run: any(not a.unusable for a in run.asked))),
    ("drafts proposed in all answers, accepted", _drafts),
    ("kept of the model's own", _own),
    ("kept where the model answered: quotes found", _quoted),
    ("memories kept per run, without events; rules alone would give", _learned),
    ("runs of which the model taught nothing but the event, and rules would", _poorer),
    ("kept, but refused by the bench's own checks", lambda runs: str(sum(bool(k.faults) for run in runs for k in run.kept))),
    ("tokens per reflection, prompt + answer", _tokens),
    ("seconds per reflection, median (least to most)", _seconds),
)


def _refusals(runs: Sequence[Told]) -> list[str]:
    rules, forms = Counter[str](), Counter[str]()
    for attempt in (a for run in runs for a in run.asked):
        rules.update(attempt.rejected)
        if attempt.unusable:
            forms[_sort_of(attempt.unusable)] += 1
    return [
        "Drafts refused, by the first rule: " + (", ".join(f"{name} {count}" for name, count in rules.most_common()) or "none") + ".",
        "Answers refused whole, by reason: " + (", ".join(f"{name} {count}" for name, count in forms.most_common()) or "none") + ".",
        f"Refused drafts and answers that `GET /v1/reflections/{{id}}` does not show: {sum(run.refused_unseen for run in runs)}.",
    ]


def _sort_of(reason: str) -> str:
    """Without places and numbers, so that alike ones count together."""
    return "".join(char for char in reason.split(";", maxsplit=1)[0] if not char.isdigit()).replace("[]", "").replace(":  ", ": ")


def _alarms(runs: Sequence[Told]) -> list[str]:
    lost = [f"- lost, {run.id}: {what}" for run in runs for what in run.lost]
    return lost + [f"- {run.id}: {what}: {kept.conclusion}" for run in runs for kept in run.kept for what in kept.faults]


def _conclusions(runs: Sequence[Told]) -> list[str]:
    """Ten of the model, or of the rules where none of the model was kept; turn about by group, lessons and statements before events."""
    own = any(kept.own for run in runs for kept in run.kept)
    by_group = [
        sorted(((r, k) for r in runs if r.group == g for k in r.kept if k.own == own), key=lambda item: item[1].kind == "event")
        for g in GROUPS
    ]
    rounds = [some[place] for place in range(_SHOWN) for some in by_group if place < len(some)][:_SHOWN]
    if own:
        head = f"{len(rounds)} conclusions of the model, with their evidence, unchosen (lessons and statements first):"
    else:
        head = f"No conclusion of the model was kept. {len(rounds)} that rules wrote in its place, with their evidence:"
    return [head, "", *map(_told, rounds)]


def _told(item: tuple[Told, Kept]) -> str:
    run, kept = item
    quote = kept.quote.replace("\n", " ")
    return f"- {run.id}, {kept.kind} ({kept.status}): {kept.conclusion} — turn {kept.turn}" + (f": “{quote[:160]}”" if quote else "")
