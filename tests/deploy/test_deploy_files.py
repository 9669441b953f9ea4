"""The files of deploy/: containers cannot run in tests, so what can be read in them is held against the product."""

import json
import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import yaml

from hindwise.cli.setting_sources import described
from hindwise.settings import Settings
from tests.processes import ROOT
from tests.servers.cluster import settings_of

DEPLOY = ROOT / "deploy"
COMPOSE = ("compose.yaml", "compose.cluster.yaml")
ONE_SHOT = {"setup", "temporal-schema"}
"""End by themselves, so nobody asks after their health."""
OURS = {"hindwise", "api-1", "api-2", "worker-1", "worker-2", "setup"}


@cache
def compose(name: str) -> dict[str, Any]:
    """A compose file as YAML reads it, anchors and merges resolved."""
    read: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text(encoding="utf-8"))
    return read


def services() -> list[Any]:
    return [
        pytest.param(file, name, service, id=f"{file}:{name}") for file in COMPOSE for name, service in compose(file)["services"].items()
    ]


@pytest.mark.parametrize(("file", "name", "service"), services())
def test_a_service_is_pinned_asked_after_and_started_again(file: str, name: str, service: dict[str, Any]) -> None:
    image = service["image"]
    assert re.search(r":\d+\.\d+", image), f"{image}: name a release, so that tomorrow's start is today's"
    if name in ONE_SHOT:
        assert service["restart"].startswith("on-failure:")
        assert "healthcheck" not in service
    else:
        assert service["restart"] == "unless-stopped"
        check = service["healthcheck"]
        assert check["test"][0] == "CMD"
        assert {"interval", "timeout", "retries"} <= set(check)
    for needed, how in (service.get("depends_on") or {}).items():
        wanted = "service_completed_successfully" if needed in ONE_SHOT else "service_healthy"
        assert how["condition"] == wanted, f"{name} must wait for {needed}"
        assert needed in compose(file)["services"]


@pytest.mark.parametrize(("file", "name", "service"), services())
def test_our_settings_exist_and_our_containers_can_do_little(file: str, name: str, service: dict[str, Any]) -> None:
    if name not in OURS:
        assert not [setting for setting in service.get("environment", {}) if setting.startswith("HINDWISE_")]
        return
    known = {known_name for setting in described() for known_name in setting.names}
    assert set(service["environment"]) <= known
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["tmpfs"] == ["/tmp"]
    assert service["volumes"][0].startswith("hindwise-data:/data")
    assert service["build"] == {"context": "..", "dockerfile": "deploy/Dockerfile"}
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()


@pytest.mark.parametrize(("file", "service"), [("compose.yaml", "hindwise"), ("compose.cluster.yaml", "api-1")])
def test_what_nobody_sets_leaves_our_settings_at_their_defaults(file: str, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in settings_of(service, DEPLOY / file).items():
        monkeypatch.setenv(name, value)
    read = Settings()
    limits = [name for name in Settings.model_fields if name.startswith("llm_")]
    assert limits
    assert {name: getattr(read, name) for name in limits} == {name: Settings.model_fields[name].default for name in limits}


@pytest.mark.parametrize("file", COMPOSE)
def test_only_hindwise_takes_8080_and_nothing_listens_on_every_network(file: str) -> None:
    published = {name: service["ports"] for name, service in compose(file)["services"].items() if "ports" in service}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)
    on_8080 = [name for name, ports in published.items() for port in ports if port.split(":")[1] == "8080"]
    assert on_8080 == [{"compose.yaml": "hindwise", "compose.cluster.yaml": "proxy"}[file]]
    assert set(published) <= {"hindwise", "proxy", "temporal-ui"}, "databases are reached inside the network alone"


@pytest.mark.parametrize("file", COMPOSE)
def test_a_secret_has_no_default_and_what_is_kept_has_a_volume(file: str) -> None:
    text = (DEPLOY / file).read_text(encoding="utf-8")
    for secret in re.findall(r"\$\{(\w*(?:PASSWORD|SECRET_KEY|WEAVIATE_API_KEY)\w*)([^}]*)\}", text):
        assert secret[1].startswith(":?"), f"{secret[0]} must be given, or nothing starts"
    used = {volume.split(":")[0] for service in compose(file)["services"].values() for volume in service.get("volumes", [])}
    named = {volume for volume in used if not volume.startswith(".")}
    assert named == set(compose(file)["volumes"])
    for path in used - named:
        assert (DEPLOY / path).is_file()


def test_the_example_of_secrets_names_each_of_them() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.cluster.yaml").read_text(encoding="utf-8")))
    lines = (DEPLOY / "cluster.env.example").read_text(encoding="utf-8").splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert asked == set(given)
    assert not [name for name, value in given.items() if value and name != "HINDWISE_TEMPORAL_UI_URL"], "no secret has a value here"


def test_every_process_of_the_cluster_shares_ledger_index_and_secret() -> None:
    ours = [service["environment"] for name, service in compose("compose.cluster.yaml")["services"].items() if name in OURS]
    assert len(ours) == 5
    assert all(settings == ours[0] for settings in ours)
    assert ours[0]["HINDWISE_INDEX"] == "weaviate"
    assert ours[0]["HINDWISE_DATABASE_URL"].startswith("postgresql+psycopg://")
    weaviate = compose("compose.cluster.yaml")["services"]["weaviate"]
    assert weaviate["environment"]["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] == "false"
    assert weaviate["image"].endswith(":1.39.0")


def test_the_proxy_knows_both_apis_and_sends_nothing_twice() -> None:
    text = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text(encoding="utf-8"))
    assert re.findall(r"server (\S+) resolve", text) == ["api-1:8080", "api-2:8080"]
    assert "proxy_next_upstream error timeout;" in text
    assert "non_idempotent" not in text, "a request that was sent may have been done"
    assert text.count("{") == text.count("}")


def test_the_proxy_takes_what_the_api_takes_and_keeps_no_body_of_any_size() -> None:
    """The API tells who sends a little too much; who sends much more is stopped at the proxy, with a problem of the same form."""
    text = re.sub(r"#.*", "", (DEPLOY / "nginx.conf").read_text(encoding="utf-8"))
    [megabytes] = re.findall(r"client_max_body_size (\d+)m;", text)
    limit = Settings.model_fields["max_request_bytes"].default
    assert limit < int(megabytes) * 1024 * 1024 <= limit * 1.5
    assert "proxy_request_buffering off" not in text, "a body is sent again to the other API only where it was kept"
    [told] = re.findall(r"return 413 '(.*)';", text)
    assert json.loads(told).items() >= {"type": "too-large", "status": 413}.items()
    assert json.loads(told)["title"] == HTTPStatus(413).phrase
    assert "location @too_large" in text
    assert "error_page 413 @too_large;" in text


def dockerfile() -> list[tuple[str, str]]:
    """Instructions and their arguments, continuation lines joined."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"), flags=re.M)
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines if line.strip()]


def test_the_image_is_small_locked_and_runs_as_nobody_of_note() -> None:
    steps = dockerfile()
    stages = [argument for word, argument in steps if word == "FROM"]
    assert [stage.split()[0] for stage in stages] == ["python:3.11-slim-bookworm"] * 2
    last = steps[max(number for number, step in enumerate(steps) if step[0] == "FROM") :]
    words = dict(last)
    assert words["USER"] == "10001:10001"
    assert words["VOLUME"] == "/data"
    assert words["EXPOSE"] == "8080"
    assert words["ENTRYPOINT"] == '["hindwise"]'
    assert words["CMD"] == '["up", "--host", "0.0.0.0"]'
    assert "hindwise.cli.healthcheck" in words["HEALTHCHECK"]
    assert not re.search(r"\b(pip|uv|apt-get|curl)\b", " ".join(argument for word, argument in last if word == "RUN"))
    for command in re.findall(r"(?:pip|uv pip) install[^&]*", " ".join(argument for word, argument in steps if word == "RUN")):
        assert "--require-hashes" in command or "--no-deps" in command
    assert not [argument for word, argument in steps if word == "ADD" or "://" in argument]


def test_what_the_image_is_built_from_is_there_and_let_in() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")}
    copied = [argument.split()[:-1] for word, argument in dockerfile() if word == "COPY" and "--from" not in argument]
    sources = {source for group in copied for source in group}
    assert sources == let_in
    assert not [source for source in sources if not (ROOT / source).exists()]


def locked(path: Path) -> dict[str, set[str]]:
    """Requirement line to hashes."""
    found: dict[str, set[str]] = {}
    for block in re.split(r"\n(?=\S)", path.read_text(encoding="utf-8")):
        found[block.split(" ")[0]] = set(re.findall(r"sha256:\w+", block))
    return found


@pytest.mark.parametrize("name", ["requirements.lock", "build.lock"])
def test_the_image_runs_what_the_tests_run(name: str) -> None:
    everything, part = locked(ROOT / "requirements.lock"), locked(DEPLOY / name)
    other = [line for line, hashes in part.items() if everything.get(line) != hashes]
    assert other == [], "run the line for it in docs/operations.md"


def test_the_images_lock_holds_what_is_depended_on() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    runtime = project[project.index("dependencies = [") : project.index("[dependency-groups]")]
    wanted = {name.lower() for name in re.findall(r'"([A-Za-z][\w-]*)(?:\[[^]]*\])?>=', runtime)}
    held = {line.split("==")[0].split("[")[0].lower() for line in locked(DEPLOY / "requirements.lock")}
    assert len(wanted) > 20
    assert wanted <= held
    assert not {"pytest", "mypy", "ruff"} & held
