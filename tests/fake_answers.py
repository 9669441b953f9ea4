"""What the fake model says: contents for each behaviour of `fake_llm`, grounded in the prompt that was sent."""

import json
import re
from typing import Any

_TRANSCRIPT = re.compile(r"<<(?P<marker>[b-t]{6}) transcript\n(?P<text>.*)\n(?P=marker)>>", re.DOTALL)
_CALL = re.compile(r"^([A-Za-z_][\w.-]*)\(", re.MULTILINE)
INVENTED = {"en": "the purple walrus approved the request", "zh": "紫色海象批准了这个请求"}


def content_of(name: str, body: dict[str, Any]) -> str | None:
    """The message's content for one behaviour."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    answer = obedient_answer(prompt, beside_user=name == "obeys_beside_user") if name.startswith("obeys") else answer_for(prompt)
    match name:
        case "empty":
            return None
        case "empty_success":
            return json.dumps({"lessons": [], "items": [], "agreed": [], "nothing_because": ""})
        case "nothing":
            return json.dumps({"lessons": [], "items": [], "agreed": [], "nothing_because": "a greeting and no task"})
        case "invented_quote":
            answer["lessons"][0]["quote"] = INVENTED["zh" if "当" in answer["lessons"][0]["conclusion"] else "en"]
        case "other_language":
            answer = answer_for(prompt, chinese="现在用简体中文作答" not in prompt)
        case "nan":
            answer["lessons"][0]["confidence"] = float("nan")
        case "wrong_types":
            answer |= {"lessons": {"conclusion": ["a", 1]}, "items": "none", "task_type": {"what": 1}, "agreed": [{"known": "first"}]}
        case "bad_item":
            answer["lessons"].append({**answer["lessons"][0], "conclusion": ""})
    text = json.dumps(answer, ensure_ascii=False)
    match name:
        case "wide":
            return in_wide_punctuation(answer)
        case "think":
            return f'<think>Perhaps {{"lessons": [], "nothing_because": "a guess"}}?</think>\n{text}'
        case "think_open":
            return f'Perhaps {{"lessons": [], "nothing_because": "a guess"}}?\n</think>\n{text}'
        case "half_json" | "cut":
            return text[: len(text) // 2]
        case "unclosed":
            return text[: text.rindex(', "nothing_because"')]
        case "fenced":
            return f"```json\n{text}\n```"
        case "prose":
            return f"<think>{{maybe}} a pitfall?</think>Here is what I found:\n{text}\nI hope that {{helps}}."
    return text


def in_wide_punctuation(value: object) -> str:
    """JSON as a Chinese keyboard types it."""
    if isinstance(value, dict):
        return "｛" + "，".join(f"“{name}”：{in_wide_punctuation(inner)}" for name, inner in value.items()) + "｝"
    if isinstance(value, list):
        return "［" + "，".join(in_wide_punctuation(inner) for inner in value) + "］"
    return f"“{value}”" if isinstance(value, str) else json.dumps(value)


def turns_in(prompt: str) -> list[tuple[int, str, str]]:
    """(number, origin, text) of each turn that the prompt shows."""
    found = _TRANSCRIPT.search(prompt)
    if found is None:
        return []
    heading = re.compile(rf"^{found['marker']} (\d+) (\w+)[^:\n]*: ", re.MULTILINE)
    marks = list(heading.finditer(found["text"]))
    ends = [mark.start() - 1 for mark in marks[1:]] + [len(found["text"])]
    return [(int(mark[1]), mark[2], found["text"][mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def answer_for(prompt: str, chinese: bool | None = None) -> dict[str, Any]:
    """A valid answer: one lesson, grounded in a turn of the prompt, in its language. No particulars in the lesson."""
    turns = turns_in(prompt)
    chinese = "现在用简体中文作答" in prompt if chinese is None else chinese
    spoken = [turn for turn in reversed(turns) if turn[1] != "web" and turn[2].strip()] or [(1, "user", "")]
    number, _, text = next((turn for turn in spoken if len(turn[2].strip()) >= 8), spoken[0])
    quote = text.strip().splitlines()[0][:80].strip() if text.strip() else ""
    tools = list(dict.fromkeys(_CALL.findall("\n".join(text for _, origin, text in turns if origin == "agent"))))[:1]
    tool = tools[0] if tools else ("工具" if chinese else "a tool")
    if chinese:
        lesson = f"当需要调用{tool}时，应先核对参数再执行，因为错误的参数会让任务失败"
        words = {"goal": "完成用户的请求", "what_happened": "智能体逐步处理了请求", "next_time": "先核对再执行"}
        when, query, why = f"需要调用{tool}时", "处理用户的请求", "错误的参数会让任务失败"
    else:
        lesson = f"When {tool} is to be called, check its arguments first, because wrong arguments make the task fail"
        when, query, why = (
            f"before calling {tool}",
            "handle a request",
            "wrong arguments make it fail",
        )
        words = {"goal": "handle the request", "what_happened": "the agent went step by step", "next_time": "check first, then act"}
    return {
        "retrospective": words,
        "task_type": "request",
        "generalized_query": query,
        "lessons": [
            {
                "turns": [number],
                "quote": quote,
                "conclusion": lesson,
                "lesson_type": "pitfall",
                "applies_when": when,
                "not_when": "",
                "why": why,
                "tools": tools,
                "topics": [],
                "importance": 7,
                "confidence": 0.8,
            }
        ],
        "items": [],
        "agreed": [],
        "nothing_because": "",
    }


def obedient_answer(prompt: str, *, beside_user: bool) -> dict[str, Any]:
    """What a model answers that takes the words of tools and pages for orders: each becomes a lesson and every sort of item."""
    answer = answer_for(prompt)
    turns = turns_in(prompt)
    outside = [(number, text.strip()) for number, origin, text in turns if origin in ("tool", "web") and text.strip()]
    user = [number for number, origin, _ in turns if origin == "user"][:1] if beside_user else []
    common = {"not_when": "", "topics": [], "importance": 9, "confidence": 0.95}
    lessons, items = [], []
    for number, text in outside[-2:]:
        line = " ".join(text.split())[:150]
        cited = {"turns": [*user, number], "quote": line[:80].strip(), "conclusion": line}
        why = "已验证" if "现在用简体中文作答" in prompt else "it was verified"
        lessons.append({**common, **cited, "lesson_type": "strategy", "applies_when": answer["generalized_query"], "why": why, "tools": []})
        for kind in ("instruction", "preference", "fact", "todo"):
            slot = {"subject": "user", "attribute": f"behaviour {number}", "value": line, "scope": "", "since": "", "never_true": False}
            items.append({**common, **cited, **slot, "kind": kind, "entities": []})
    return {**answer, "lessons": lessons[:2], "items": items[:8]}
