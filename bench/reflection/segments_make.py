"""Makes `segments.jsonl`: 60 sessions of 1 to 4 joined runs with the places where one ends. `python -m bench.reflection.segments_make`.

Runs: invented ones (`segments_material.txt`), those of `parallel_runs.jsonl`, and short ones of `examples/airline` (MIT, English, with a
single goal each; long texts cut). The draw is fixed. Runs and marker phrases of one half never occur in the other; all were
written before any rule.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.reflection.sampling import Half, half_of

TARGET = Path(__file__).with_name("segments.jsonl")
_HERE = Path(__file__).parent
_AIRLINE = _HERE.parents[1] / "examples" / "airline" / "runs.jsonl"
_SINGLE_GOAL = ("00-0", "01-0", "04-0", "06-0", "07-0", "12-0", "18-0", "20-0", "21-0", "22-0", "11-1", "13-1")
_RUNS_PER_SESSION = (1,) * 9 + (2,) * 9 + (3,) * 6 + (4,) * 6
_MARKS = ("none",) * 9 + ("opening",) * 5 + ("closing",) * 4 + ("both",) * 2
_PAUSES = ("none",) * 11 + ("medium",) * 5 + ("long",) * 4
_SECONDS = {"none": (15, 100), "medium": (500, 1500), "long": (3_600, 30_000)}

OPENING: dict[Half, dict[str, tuple[str, ...]]] = {
    "dev": {
        "en": ("New task: ", "Ok, next topic. ", "Now something else: ", "Switching gears. ", "Different question: "),
        "zh": ("换个话题，", "新任务：", "另一件事：", "下一个问题，", "说点别的，"),
    },
    "report": {
        "en": ("Next task. ", "On another note, ", "Unrelated: ", "Let's move on to something new. ", "Change of subject: "),
        "zh": ("换一个任务：", "另外还有件别的事，", "接下来是新的任务：", "聊聊别的吧，", "再问一个不相关的，"),
    },
}
CLOSING: dict[Half, dict[str, tuple[str, ...]]] = {
    "dev": {
        "en": ("That's all, thanks.", "Perfect, that's everything I needed.", "Great, we're done with this.", "Thanks, bye!"),
        "zh": ("就这些，谢谢。", "好的，这个就到这里。", "搞定了，谢谢！", "没有别的了。"),
    },
    "report": {
        "en": ("That will be all, thank you.", "All done, thanks a lot.", "Nothing else, have a nice day.", "OK, this one is finished."),
        "zh": ("没别的事了，谢谢。", "这件事办完了。", "好，就到这吧。", "都弄好了，多谢。"),
    },
}
_ANSWER = {"en": ("You're welcome!", "Any time.", "Glad to help."), "zh": ("不客气！", "随时找我。", "很高兴能帮上忙。")}


def material(lang: str) -> list[dict[str, Any]]:
    """The invented runs in one language."""
    runs: list[dict[str, Any]] = []
    pause = 0
    for line in (_HERE / "segments_material.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            runs.append({"name": f"own/{line[2:]}", "turns": []})
        elif line.startswith("~"):
            pause = int(line[1:-1]) * {"m": 60, "h": 3600}[line[-1]]
        elif line and not line.startswith("#"):
            kind, _, rest = line.partition(" ")
            said = rest.split(" ||| ")[-1 if lang == "zh" else 0]
            runs[-1]["turns"].append(_turn(kind, said) | ({"pause": pause} if pause else {}))
            pause = 0
    return runs


def _turn(kind: str, said: str) -> dict[str, Any]:
    if kind in "ct":
        name, _, rest = said.partition(" ")
        return {"role": "tool", "name": name, "content": rest} if kind == "t" else _call(name, json.loads(rest))
    return {"role": {"u": "user", "a": "assistant"}[kind], "content": said}


def _call(name: str, arguments: object) -> dict[str, Any]:
    return {"role": "assistant", "call": {"name": name, "arguments": arguments}}


def parallel_runs(lang: str) -> list[dict[str, Any]]:
    """The runs of `parallel_runs.jsonl` in one language."""
    rows = [json.loads(line) for line in (_HERE / "parallel_runs.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{"name": f"parallel/{row['pair']}", "turns": row["turns"]} for row in rows if row["lang"] == lang]


def airline_runs() -> Iterator[dict[str, Any]]:
    """The real runs, long texts cut, without the simulator's end mark."""
    for line in _AIRLINE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        turns: list[dict[str, Any]] = []
        for message in row["messages"]:
            said = re.sub(r"\s*###\w+###\s*", "", message.get("content") or "")
            if message.get("tool_calls"):
                call = message["tool_calls"][0]["function"]
                turns.append(_call(call["name"], json.loads(call["arguments"])))
            elif message["role"] == "tool":
                turns.append({"role": "tool", "name": message.get("name", ""), "content": said[:160]})
            elif said:
                turns.append({"role": message["role"], "content": said[:400]})
        yield {"name": f"airline/{row['run_id']}", "turns": turns}


def _pools(lang: str, half: Half) -> list[list[dict[str, Any]]]:
    """By origin, so that each is drawn alike often. A run is in one half only: what is measured was not seen."""
    pools = [
        material(lang),
        parallel_runs(lang),
        *([[run for run in airline_runs() if run["name"].removeprefix("airline/airline-") in _SINGLE_GOAL]] if lang == "en" else []),
    ]
    return [[run for run in pool if half_of(run["name"].partition("/")[2]) == half] for pool in pools]


def _sessions(lang: str) -> Iterator[dict[str, Any]]:
    draw = random.Random(f"segments-{lang}")
    pools: dict[Half, list[list[dict[str, Any]]]] = {"dev": _pools(lang, "dev"), "report": _pools(lang, "report")}
    left: dict[Half, list[list[dict[str, Any]]]] = {half: [[] for _ in pools[half]] for half in pools}
    for number, count in enumerate(_RUNS_PER_SESSION, 1):
        name = f"seg-{lang}-{number:02}"
        half = half_of(name)
        chosen: list[dict[str, Any]] = []
        while len(chosen) < count:
            place = draw.choices(range(len(pools[half])), weights=(5, 4, 2)[: len(pools[half])])[0]
            if not left[half][place]:
                left[half][place] = draw.sample(pools[half][place], len(pools[half][place]))
            run = left[half][place].pop()
            if run["name"] not in [other["name"] for other in chosen]:
                chosen.append(run)
        yield _joined(name, lang, half, chosen, draw)


def _joined(name: str, lang: str, half: Half, runs: list[dict[str, Any]], draw: random.Random) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    boundaries: list[dict[str, Any]] = []
    for place, run in enumerate(runs):
        own = [dict(turn) for turn in run["turns"]]
        if place:
            mark, pause = draw.choice(_MARKS), draw.choice(_PAUSES)
            if mark in ("closing", "both"):
                turns.append({"role": "user", "content": draw.choice(CLOSING[half][lang])})
                if draw.random() < 0.5:
                    turns.append({"role": "assistant", "content": draw.choice(_ANSWER[lang])})
            if mark in ("opening", "both"):
                own[0]["content"] = draw.choice(OPENING[half][lang]) + own[0]["content"]
            own[0]["pause"] = draw.randint(*_SECONDS[pause])
            boundaries.append({"at": len(turns), "mark": mark, "pause": pause})
        turns += own
    for turn in turns:
        turn.setdefault("pause", draw.randint(4, 40))
    return {"id": name, "lang": lang, "runs": [run["name"] for run in runs], "boundaries": boundaries, "turns": turns}


def main() -> None:
    """Write the file."""
    rows = [row for lang in ("en", "zh") for row in _sessions(lang)]
    TARGET.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"written: {TARGET.name}, {len(rows)} sessions, {sum(len(row['boundaries']) for row in rows)} boundaries")


if __name__ == "__main__":
    main()
