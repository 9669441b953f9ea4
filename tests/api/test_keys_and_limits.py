"""Who may call, how often, from where; and the first key."""

import asyncio
from pathlib import Path

import pytest

from api.app import create_app
from api.auth import RateLimit, is_loopback
from api.bootstrap import ensure_first_key
from api.errors import RateLimited
from hindwise.engine import open_engine
from hindwise.errors import InvalidInput
from hindwise.ledger import keys
from hindwise.settings import Settings
from hindwise.testing import FixedClock, HashedEmbedder
from tests.api.front import Front, open_front, turns_body


async def key_with(front: Front, *scopes: str, tenant: str = "default") -> dict[str, str]:
    """Headers of a new key."""
    key = keys.new_key()
    await front.engine.ledger.write(lambda conn: keys.add(conn, tenant, "test", scopes, front.engine.clock.now(), key))
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic x"}, {"X-API-Key": "é" * 9}, {"X-API-Key": "x" * 900}]
)
async def test_a_missing_or_wrong_key_is_a_401_that_says_how_to_get_one_and_nothing_of_the_servers_disk(
    front: Front, headers: dict[str, str]
) -> None:
    del front.http.headers["authorization"]
    sent = [(name.encode(), value.encode()) for name, value in headers.items()]
    answer = await front.http.post("/v1/recall", content=b"{malformed", headers=sent)
    assert answer.status_code == 401
    assert "`hindwise doctor`" in answer.json()["detail"]
    assert str(front.engine.settings.data.absolute()) not in answer.text
    assert front.engine.settings.data.name not in answer.text
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_both_headers_carry_a_key(front: Front) -> None:
    del front.http.headers["authorization"]
    assert (await front.http.get("/v1/sessions", headers={"X-API-Key": front.key})).status_code == 200
    assert (await front.http.get("/v1/sessions", headers={"Authorization": f"bearer {front.key}"})).status_code == 200


async def test_a_key_may_do_what_its_scopes_say(front: Front) -> None:
    reader, writer, judge = await key_with(front, "read"), await key_with(front, "write"), await key_with(front, "outcome")
    assert (await front.http.get("/v1/sessions", headers=reader)).status_code == 200
    refused = await front.post("/v1/sessions/s/turns", turns_body(), **reader)
    assert (refused.status_code, refused.json()["type"]) == (403, "forbidden")
    assert "`write`" in refused.json()["detail"]
    assert (await front.post("/v1/sessions/s/turns", turns_body(), **writer)).status_code == 200
    assert (await front.http.get("/v1/sessions", headers=writer)).status_code == 403
    assert (await front.post("/v1/episodes/x/outcome", {"status": "success"}, **judge)).status_code == 404
    assert (await front.post("/v1/episodes/x/outcome", {"status": "success"}, **writer)).status_code == 403


async def test_a_key_of_another_tenant_sees_nothing_of_ours_and_changes_nothing(front: Front) -> None:
    other = await key_with(front, "admin", tenant="other")
    told = (await front.post("/v1/episodes", {"user_id": "a", "run_id": "r", "turns": [{"role": "user", "content": "x"}]})).json()
    written = (await front.post("/memory", {"content": "I prefer tea", "user_id": "a"})).json()
    await front.post("/v1/sessions/s/turns", turns_body())
    recalled = (await front.post("/v1/recall", {"user_id": "a", "query": "tea"})).json()
    await front.settled()
    seen = [
        f"/v1/episodes/{told['episode_id']}",
        told["status_url"],
        f"/v1/memories/{written['id']}",
        f"/v1/recalls/{recalled['recall_id']}",
    ]
    for path in (*seen, "/v1/sessions/s", "/v1/sessions/s/context"):
        assert (await front.http.get(path)).status_code == 200, path
        assert (await front.http.get(path, headers=other)).status_code == 404, path
    verdict = {"status": "failure", "source": "env"}
    changes = {
        f"/v1/episodes/{told['episode_id']}/outcome": verdict,
        "/v1/episodes/outcome?run_id=r": verdict,
        "/v1/sessions/s/complete": {"outcome": verdict},
        "/v1/sessions/s/checkpoint": {"done": "all"},
        f"{told['status_url']}/skip": {},
        f"/v1/recalls/{recalled['recall_id']}/feedback": {"verdict": "harmful"},
    }
    for path, body in changes.items():
        assert (await front.post(path, body, **other)).status_code == 404, path
    assert (await front.http.delete(f"/v1/memories/{written['id']}", headers=other)).status_code == 404
    for path in ("/v1/sessions", "/v1/reflections", "/v1/episodes?user_id=a", "/v1/memories?user_id=a"):
        assert (await front.http.get(path)).json()["items"], path
        assert (await front.http.get(path, headers=other)).json()["items"] == [], path
    assert (await front.http.get("/memory/search", params={"q": "tea", "user_id": "a"}, headers=other)).json()["results"] == []


async def test_lists_that_name_no_user_show_everybodys_work_to_an_admin_alone(front: Front) -> None:
    reader = await key_with(front, "read", "write")
    said = {"turns": [{"role": "user", "content": "我的订单"}], "agent_id": "desk"}
    for user in ({"user_id": "ann"}, {"user_id": "bob"}, {}):
        name = user.get("user_id", "nobody")
        assert (await front.post("/v1/episodes", {**said, **user, "run_id": f"run-{name}"})).status_code == 202
        assert (await front.post(f"/v1/sessions/s-{name}/turns", {**said, **user})).status_code == 200
    for path, everybodys in (("/v1/episodes?agent_id=desk", {"ann", "bob", ""}), ("/v1/sessions", {"ann", "bob", ""})):
        seen = {item["user_id"] for item in (await front.http.get(path)).json()["items"]}
        assert seen == everybodys, path
        assert [item["user_id"] for item in (await front.http.get(path, headers=reader)).json()["items"]] == [""], path
    for path in ("/v1/episodes?agent_id=desk&user_id=ann", "/v1/sessions?user_id=ann"):
        assert [item["user_id"] for item in (await front.http.get(path, headers=reader)).json()["items"]] == ["ann"], path


async def test_more_requests_than_allowed_are_429_with_the_time_to_wait(tmp_path: Path) -> None:
    async with open_front(tmp_path, rate_limit_per_minute=5) as front:
        answers = [await front.http.get("/v1/sessions") for _ in range(7)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 12


def test_the_bucket_fills_again_with_time() -> None:
    now = 0.0
    limit = RateLimit(60, clock=lambda: now)
    for _ in range(60):
        limit.take("k")
    with pytest.raises(RateLimited):
        limit.take("k")
    limit.take("other")
    now = 1.0
    limit.take("k")
    with pytest.raises(RateLimited):
        limit.take("k")


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("10.0.0.1", False), ("example.com", False), ("", False)],
)
def test_loopback_is_known(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_keys_cannot_be_switched_off_where_others_can_reach_the_api() -> None:
    with pytest.raises(InvalidInput, match="loopback"):
        create_app(Settings(_env_file=None, host="0.0.0.0", auth=False))  # type: ignore[call-arg]


async def test_without_keys_only_this_machine_may_call(tmp_path: Path) -> None:
    async with open_front(tmp_path, auth=False) as front:
        del front.http.headers["authorization"]
        assert (await front.http.get("/v1/sessions")).status_code == 200
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Host": "[bad"}):
            assert (await front.http.get("/v1/sessions", headers=headers)).status_code == 403
        assert (await front.http.get("/v1/sessions", headers={"Origin": "http://localhost:3000"})).status_code == 200


async def test_metrics_are_open_on_loopback_and_need_an_admin_elsewhere(front: Front, tmp_path: Path) -> None:
    await front.post("/v1/recall", {"user_id": "ann", "query": "x"})
    await front.post("/v1/episodes", {"user_id": "a", "run_id": "r", "turns": [{"role": "user", "content": "x"}]})
    await front.post("/v1/erasures", {"user_id": "ann"})
    del front.http.headers["authorization"]
    text = (await front.http.get("/metrics")).text
    assert 'hindwise_erasures{status="queued"} 1.0' in text
    assert 'hindwise_erasures{status="needs_attention"} 0.0' in text
    assert 'hindwise_recall_seconds_count{stage="total"} 1.0' in text
    assert 'hindwise_reflections{status="queued"} 1.0' in text
    assert 'hindwise_requests_total{method="POST",route="/v1/recall",status="200"} 1.0' in text
    assert "hindwise_outbox_rows 0.0" in text
    async with open_front(tmp_path / "other", host="0.0.0.0") as public:
        assert (await public.http.get("/metrics", headers=await key_with(public, "read"))).status_code == 403
        assert (await public.http.get("/metrics")).status_code == 200
        del public.http.headers["authorization"]
        assert (await public.http.get("/metrics")).status_code == 401


async def test_health_and_readiness_need_no_key_and_tell_the_parts_apart(front: Front) -> None:
    del front.http.headers["authorization"]
    assert (await front.http.get("/healthz")).json() == {"status": "ok"}
    assert (await front.http.get("/readyz")).json() == {"status": "ready", "ledger": "ok", "index": "ok", "temporal": "ok"}
    front.starter.down = True
    down = await front.http.get("/readyz")
    assert (down.status_code, down.json()["status"], down.json()["temporal"]) == (200, "degraded", "unavailable")


async def test_the_first_key_is_one_whoever_starts_first_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data=tmp_path, embed="none")  # type: ignore[call-arg]
    async with open_engine(settings, FixedClock(), HashedEmbedder()) as one, open_engine(settings, FixedClock(), HashedEmbedder()) as two:
        made = await asyncio.gather(*(ensure_first_key(engine) for engine in (one, two) * 5))
        assert len(set(made)) == 1
        path = tmp_path / "api_key"
        assert path.read_text().strip() == made[0]
        assert path.stat().st_mode & 0o777 == 0o600
        assert await one.ledger.read(keys.count) == 1
        assert not list(tmp_path.glob(".api_key*"))


async def test_a_revoked_first_key_does_not_come_back_and_a_removed_file_makes_no_second_key(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data=tmp_path, embed="none")  # type: ignore[call-arg]
    async with open_engine(settings, FixedClock(), HashedEmbedder()) as engine:
        key = await ensure_first_key(engine)
        [row] = await engine.ledger.read(lambda conn: keys.page(conn, "default"))
        (tmp_path / "api_key").unlink()
        assert await ensure_first_key(engine) is None
        assert not (tmp_path / "api_key").exists()
        (tmp_path / "api_key").write_text(f"{key}\n")
        await engine.ledger.write(lambda conn: keys.revoke(conn, "default", row.id, engine.clock.now()))
        assert await ensure_first_key(engine) is None
