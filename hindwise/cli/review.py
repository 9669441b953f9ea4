"""`hindwise confirm`, `reject`, `review`: what a person says of what was concluded."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hindwise.cli import client, console, options

if TYPE_CHECKING:
    from hindwise.cli.client import ApiClient

Id = Annotated[str, typer.Argument(help="The memory's id, as `list` and `review` tell it.", callback=options.an_id)]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept in the history.", show_default=False)]
_KEYS = "y = keep, e = edit, n = reject, s = skip, q = quit"
_PAGE = 50


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog=options.examples("hindwise confirm 0f8c…", "hindwise confirm 0f8c… --reason 'she said so on the phone'"))(confirm)
    app.command(epilog=options.examples("hindwise reject 0f8c… --reason '她三月搬家了'"))(reject)
    app.command(
        epilog=options.examples("hindwise review", "hindwise review --user ana", "hindwise review --json | jq '.items[].conclusion'")
    )(review)


def confirm(
    memory_id: Id,
    reason: Reason = "",
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Vouch for a memory: it is told as certain and does not expire."""
    with client.connect(data, url, key) as api:
        _tell(api.post(f"/v1/memories/{memory_id}/confirm", {"reason": reason}), as_json)


def reject(
    memory_id: Id,
    reason: Reason = "",
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Say that a memory is not so: it stays as history and is never told again."""
    with client.connect(data, url, key) as api:
        _tell(api.post(f"/v1/memories/{memory_id}/reject", {"reason": reason}), as_json)


def _tell(done: dict[str, Any], as_json: bool = False) -> None:
    if as_json:
        console.print_json(done)
        return
    console.line(f"{done['action']}: {done['id']} is {done['status']}")
    for replaced in done.get("supersedes") or []:
        console.line(f"  in place of {replaced}", "dim")


def review(
    user: options.User = "",
    agent: options.Agent = "",
    limit: options.Limit = _PAGE,
    data: options.Data = None,
    url: options.Url = "",
    key: options.Key = "",
    as_json: options.AsJson = False,
) -> None:
    """Walk through what waits for a person: what nobody was sure of, and what was set apart. Without --user and --agent: of everybody."""
    with client.connect(data, url, key) as api:
        found = api.get("/v1/memories/review", user_id=user, agent_id=agent, limit=limit)
        if as_json:
            console.print_json(found)
            return
        items = found.get("items") or []
        if not items:
            whose = " and ".join(f"{sort} {name!r}" for sort, name in (("user", user), ("agent", agent)) if name)
            console.err().print(
                f"nothing waits for you{f' of {whose}' if whose else ''}: what a reflection is not sure of (below HINDWISE_MIN_CONFIDENCE) "
                "or what was set apart would stand here",
                markup=False,
                highlight=False,
                soft_wrap=True,
                style="dim",
            )
            return
        judged = _walk(api, items)
        left = len(items) - judged
        more = " and more beyond --limit" if found.get("next_cursor") else ""
        console.line(f"{judged} judged, {left} left{more}", "dim")


def _walk(api: "ApiClient", items: list[dict[str, Any]]) -> int:
    """Ask about one after the other; return how many were judged."""
    judged = 0
    for number, item in enumerate(items, start=1):
        _show(api, item, f"{number} of {len(items)}")
        answer = _answer()
        if answer == "q":
            break
        if answer != "s":
            judged += _judge(api, item, answer)
    return judged


def _show(api: "ApiClient", item: dict[str, Any], place: str) -> None:
    console.line("")
    console.line(f"[{place}] {item['conclusion']}", "bold")
    console.line(
        f"  {item['kind']} in {item['space']}, {item['status']}, confidence {item['confidence']:.2f}, from {item['origin']}", "dim"
    )
    for name in ("value", "scope", "applies_when", "not_when"):
        if item.get(name):
            console.line(f"  {name.replace('_', ' ')}: {item[name]}")
    for place_told in item.get("evidence") or []:
        if place_told.get("quote"):
            console.line(f"  “{place_told['quote']}”")
    history = api.get(f"/v1/memories/{item['memory_id']}").get("history") or []
    if history and history[0].get("why"):
        console.line(f"  {history[0]['why']}", "dim")


def _answer() -> str:
    while True:
        try:
            given = input(f"{_KEYS}: ").strip().lower()[:1]
        except EOFError:
            return "q"
        if given and given in "yensq":
            return given


def _judge(api: "ApiClient", item: dict[str, Any], answer: str) -> int:
    """Carry one answer out; 0 where nothing was changed after all."""
    path = f"/v1/memories/{item['memory_id']}"
    if answer == "y":
        _tell(api.post(f"{path}/confirm", {}))
        return 1
    if answer == "n":
        _tell(api.post(f"{path}/reject", {"reason": _line("why (may stay empty): ")}))
        return 1
    words = _line("say it as it should be (empty = leave it): ")
    if not words or words == item["conclusion"]:
        return 0
    _tell(api.call("PATCH", path, body={"conclusion": words}))
    return 1


def _line(asked: str) -> str:
    try:
        return input(asked).strip()
    except EOFError:
        return ""
