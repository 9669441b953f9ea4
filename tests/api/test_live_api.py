"""The real server: generated requests find no fault, Temporal's absence is nobody's wait, and it ends when told."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from api.app import create_app
from api.serve import serve
from hindwise.errors import InvalidInput
from hindwise.settings import Settings
from tests.api.front import turns_body
from tests.api.live import Live, live_server


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live_server(tmp_path_factory.mktemp("live")) as server:
        yield server


SCHEMA = schemathesis.openapi.from_dict(create_app(Settings(_env_file=None)).openapi())  # type: ignore[call-arg]
OPERATIONS = {result.ok().label: result.ok() for result in SCHEMA.get_all_operations()}


@pytest.mark.parametrize("label", OPERATIONS)
def test_generated_requests_find_no_server_error(label: str, live: Live) -> None:
    operation = OPERATIONS[label]

    @settings(max_examples=12, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(mode=st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]), data=st.data())
    def ask(mode: GenerationMode, data: st.DataObject) -> None:
        try:
            case = data.draw(operation.as_strategy(generation_mode=mode))
        except Unsatisfiable:
            return  # nothing can be wrong about an operation without parameters
        answer = case.call(base_url=live.url, headers={"Authorization": f"Bearer {live.key}"}, timeout=30)
        assert answer.status_code < 500, (label, case.body, answer.content)

    ask()


def test_a_temporal_that_is_not_there_makes_nobody_wait(live: Live) -> None:
    headers = {"Authorization": f"Bearer {live.key}"}
    with httpx2.Client(base_url=live.url, headers=headers, trust_env=False) as http:
        began = time.perf_counter()
        for number in range(5):
            answer = http.post(f"/v1/sessions/slow-{number}/turns", json=turns_body())
            assert answer.json()["status"] == "queued"
        assert time.perf_counter() - began < 3
        assert http.get("/readyz").json()["temporal"] == "unavailable"
        assert http.get("/docs").status_code == 200


def test_the_server_ends_when_told_and_can_be_started_again(tmp_path: Path) -> None:
    with live_server(tmp_path) as first:
        assert httpx2.get(f"{first.url}/healthz", trust_env=False).status_code == 200
    with live_server(tmp_path) as second:
        assert second.key == first.key


async def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    chosen = Settings(_env_file=None, data=blocked, embed="none", port=0)  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="is a file, or lies in one"):
        await serve(chosen)
