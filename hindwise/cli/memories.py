"""`hindwise remember`, `recall`, `list`, `show`: one memory in, a brief out, and what stands behind it."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from hindwise.cli import client, console, exits, options
from hindwise.cli.exits import Ended

if TYPE_CHECKING:
    from hindwise.cli.client import ApiClient

_LONGEST_TRAIL = 20
_NOT_FOUND = 404

KindName = Literal["lesson", "fact", "preference", "instruction", "todo", "event", "snippet"]
Kind = Annotated[KindName | None, typer.Option("--kind", help="What sort of memory.", show_default=False)]


DONE = {
    "add": "kept",
    "agree": "known already",
    "supersede": "kept in place of what was known",
    "late": "kept as history",
    "retract": "taken back",
}
"""What was done with a draft, by the name of the decision."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(
        epilog=options.examples(
            "hindwise remember 'Ana prefers aisle seats' --user ana --kind preference",
            "hindwise remember '回复要简短' --user ana --kind instruction",
            "hindwise remember 'Ask for the reservation number first' --agent travel --kind lesson",
        )
    )(remember)
    app.command(
        epilog=options.examples(
            "hindwise recall 'book a flight to Seattle' --user ana --agent travel",
            "hindwise recall '订机票' --user ana --explain",
            "hindwise recall 'refund' --user ana --json | jq -r .brief",
        )
    )(recall)
    app.command("list", epilog=options.examples("hindwise list --user ana", "hindwise list --user ana --kind lesson --json"))(list_memories)
    app.command(epilog=options.examples("hindwise show 0f8c…", "hindwise show 0f8c… --json"))(show)


def owner(user: str, agent: str) -> dict[str, str]:
    """Whose memory is meant; nobody named = the user `default`."""
    if not user and not agent:
        return {"user_id": "default"}
    return {name: value for name, value in (("user_id", user), ("agent_id", agent)) if value}


def remember(
    text: Annotated[str, typer.Argument(help="What to keep, in one line.")],
    user: options.OwnUser = "",
    agent: options.Agent = "",
    kind: Kind = None,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Keep one memory; the next recall finds it."""
    body: dict[str, Any] = {"content": text, **owner(user, agent), **({"kind": kind} if kind else {})}
    with client.connect(data, url, key) as api:
        made = api.post("/v1/memories", body)
    if as_json:
        console.print_json(made)
        return
    console.line(f"{DONE.get(made['action'], made['action'])} ({made['status']}): {made['id']}")
    for replaced in made.get("supersedes") or []:
        console.line(f"  in place of {replaced}", "dim")


def recall(
    query: Annotated[str, typer.Argument(help="The task ahead, in words.")],
    user: options.OwnUser = "",
    agent: options.Agent = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="At most so many memories.")] = 8,
    explain: Annotated[bool, typer.Option("--explain", help="Also say why each memory is there.")] = False,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Print the brief for a task: what an agent should know before it begins."""
    body = {"query": query, "limit": limit, **owner(user, agent), **({"explain": True} if explain else {})}
    with client.connect(data, url, key) as api:
        answer = api.post("/v1/recall", body)
    if as_json:
        console.print_json(answer)
        return
    if answer.get("brief"):
        console.line(answer["brief"])
    else:
        console.err().print(f"nothing relevant: {answer.get('reason') or 'no memory of this'}", markup=False, style="dim")
        if not user and not agent:
            hint = "looked for user 'default' only; name whose memory you want with --user or --agent"
            console.err().print(hint, markup=False, highlight=False, soft_wrap=True, style="dim")
    if answer.get("degraded"):
        console.err().print("the index did not answer; this comes from the ledger alone", markup=False, style="yellow")
    if explain:
        _explain(answer.get("items") or [])


def _explain(items: list[dict[str, Any]]) -> None:
    """One block per memory: how it was told, and the parts of its score."""
    for item in items:
        parts = item.get("why") or {}
        told = ", ".join(f"{name} {value:.2f}" for name, value in parts.items() if isinstance(value, float) and name != "score")
        standing = ", standing" if parts.get("standing") else ""
        console.line("")
        console.line(f"{item['conclusion']}", "bold")
        console.line(f"  score {item['score']:.2f} ({item['tier']}{standing}): {told}")
        console.line(f"  {item['kind']} {item['memory_id']} in {item['space']}", "dim")


def list_memories(
    user: options.OwnUser = "",
    agent: options.Agent = "",
    kind: Kind = None,
    status: Annotated[str, typer.Option(help="Only those of this status, e.g. active, superseded.", show_default=False)] = "",
    query: Annotated[str, typer.Option("--query", "-q", help="Only those with these words.", show_default=False)] = "",
    limit: options.Limit = 50,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """List what is kept, newest first."""
    with client.connect(data, url, key) as api:
        answer = api.get("/v1/memories", **owner(user, agent), kind=kind, status=status, q=query, limit=limit)
    if as_json:
        console.print_json(answer)
        return
    rows = [
        [item["memory_id"], item["kind"], item["status"], console.short_time(item["recorded_at"]), item["conclusion"]]
        for item in answer.get("items", [])
    ]
    if not rows:
        narrowed = bool(kind or status or query)
        console.err().print(_nothing(user, agent, narrowed=narrowed), markup=False, highlight=False, soft_wrap=True, style="dim")
        return
    console.table(["id", "kind", "status", "since", "conclusion"], rows)
    if answer.get("next_cursor"):
        console.err().print("there are more: raise --limit", style="dim")


def _nothing(user: str, agent: str, *, narrowed: bool) -> str:
    """What an empty list says: whose it is, and where to look on."""
    whose = " and ".join(f"{sort} {name!r}" for sort, name in (("user", user), ("agent", agent)) if name) or "user 'default'"
    told = f"nothing {'like that ' if narrowed else ''}is kept for {whose}"
    if user or agent:
        return f"{told} (hindwise status counts all)"
    return f"{told}; name whose memory you want with --user or --agent (hindwise status counts all)"


def show(
    memory_id: Annotated[str, typer.Argument(help="The memory's id, as `list` and `recall --json` tell it.", callback=options.an_id)],
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Show one memory: conclusion, retrospective, evidence, and what became of it."""
    with client.connect(data, url, key) as api:
        memory = _whole(api, memory_id)
        trail = {} if as_json else _trail(api, memory)
    if as_json:
        console.print_json(memory)
        return
    console.line(memory["conclusion"], "bold")
    named = ("memory_id", "kind", "status", "space", "scope", "value", "applies_when", "not_when")
    tasks = memory.get("evidence_count", 1)
    console.pairs(
        {
            **{name.replace("_", " "): memory.get(name) for name in named},
            "since": console.short_time(memory.get("valid_from")),
            "until": console.short_time(memory.get("valid_to")),
            "closed because": memory.get("close_reason"),
            "confidence": memory.get("confidence"),
            "evidence from": f"{tasks} task{'' if tasks == 1 else 's'}" if memory.get("evidence") else "",
            "helped / harmed": f"{memory.get('helpful', 0)} / {memory.get('harmful', 0)}",
            "reflection": memory.get("reflection_id"),
        }
    )
    _section("Retrospective", [f"{name.replace('_', ' ')}: {text}" for name, text in (memory.get("retrospective") or {}).items() if text])
    _section("Evidence", [_evidence(item) for item in memory.get("evidence") or []])
    _section("History", [_event(item) for item in memory.get("history") or []])
    for title, items in trail.items():
        _section(title, [f"{item['memory_id']} {item['conclusion']}" for item in items])


def _whole(api: "ApiClient", memory_id: str) -> dict[str, Any]:
    """The memory of this id. Raises Ended; for an unknown id with the hint that a beginning of one is not enough."""
    from urllib.parse import quote

    try:
        found: dict[str, Any] = api.get(f"/v1/memories/{quote(memory_id, safe='')}")
    except Ended as error:
        if error.http_status != _NOT_FOUND:
            raise
        hint = "give the whole id: `hindwise list` shows it"
        raise Ended(error.message, next_step=hint, code=error.code, http_status=_NOT_FOUND) from error
    return found


def _trail(api: "ApiClient", memory: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What took this memory's place, step by step to the present one; and what it took the place of."""
    from hindwise.cli.reflect import memory_of

    later: list[dict[str, Any]] = []
    seen = {memory["memory_id"]}
    following = memory.get("superseded_by")
    while following and following not in seen and len(later) < _LONGEST_TRAIL:
        seen.add(following)
        later.append(memory_of(api, following))
        following = later[-1].get("superseded_by")
    return {"In place of": [memory_of(api, touched) for touched in _touched(api, memory)], "Superseded by": later}


def _touched(api: "ApiClient", memory: dict[str, Any]) -> list[str]:
    """The memories that the reflection behind this one closed for it; none for a memory written by hand."""
    if not memory.get("reflection_id"):
        return []
    try:
        reflection = api.reflection(memory["reflection_id"])
    except Ended as error:
        if error.code == exits.UNREACHABLE:
            raise
        return []  # written by hand, or erased meanwhile
    return [
        touched
        for decision in reflection.get("decisions") or []
        if decision.get("memory_id") == memory["memory_id"] and decision.get("action") == "supersede"
        for touched in decision.get("touched") or []
    ]


def _section(title: str, lines: list[str]) -> None:
    if not lines:
        return
    console.line("")
    console.line(title, "bold")
    for text in lines:
        console.line(f"  {text}")


def _evidence(item: dict[str, Any]) -> str:
    quote = f" “{item['quote']}”" if item.get("quote") else ""
    turn = f", turn {item['turn_id']}" if item.get("turn_id") else ""
    return f"episode {item.get('episode_id', '')}{turn}{quote}"


def _event(item: dict[str, Any]) -> str:
    why = f": {item['why']}" if item.get("why") else ""
    return f"{console.short_time(item.get('at'))} {item.get('action', '')}{why} ({item.get('actor', '')})"
