"""The smallest agent that learns: ask for the brief, work, post what happened, say how it ended.

    hindwise up                                             # in one terminal; prints the address and where the key lies
    HINDWISE_API_KEY=$(cat .hindwise/api_key) python examples/agent_loop.py        # in another

The "model" below is a few lines of rules, so that this runs without a key: it deploys at once unless the brief tells it to migrate
first. Put your own model in `decide`; the rest stays as it is.
"""

import json
import os
import sys
import time
from typing import Any, NoReturn
from uuid import uuid4

import httpx2

TASK = "Deploy the billing service to staging"
USER, AGENT = "dana", "release-bot"
Message = dict[str, Any]


# --- the world and the model: yours to replace ----------------------------------------------------------------------------------------


def use_tool(name: str, done: set[str]) -> str:
    """Run one tool. A release needs its migrations first; nobody told the agent."""
    if name == "deploy_service" and "run_migrations" not in done:
        return "Error: the database schema is older than the release"
    done.add(name)
    return json.dumps({"ok": True})


def decide(brief: str, transcript: list[Message], done: set[str]) -> str:
    """Return the next tool to call, or "" when the work is done. A real agent asks its model here, with the brief in the prompt."""
    if "deploy_service" in done:
        return ""
    failed = any(m["role"] == "tool" and m["content"].startswith("Error") for m in transcript)
    return "run_migrations" if "run_migrations" not in done and (failed or "run_migrations" in brief) else "deploy_service"


# --- the loop: four calls to Hindwise -------------------------------------------------------------------------------------------------


def run_task(api: httpx2.Client) -> int:
    """Do the task once and return how many tool calls it took."""
    session = f"deploy-{uuid4().hex[:8]}"
    asked = {"user_id": USER, "agent_id": AGENT, "session_id": session, "query": TASK}
    recalled = post(api, "/v1/recall", asked)
    brief = recalled["brief"]
    print(brief or f"(no brief: {recalled['reason']})")

    transcript: list[Message] = [{"role": "user", "content": TASK}]
    done: set[str] = set()
    while tool := decide(brief, transcript, done):
        call = {"id": uuid4().hex[:8], "type": "function", "function": {"name": tool, "arguments": "{}"}}
        answer = use_tool(tool, done)
        print(f"  {tool}: {answer}")
        transcript.append({"role": "assistant", "content": None, "tool_calls": [call]})
        transcript.append({"role": "tool", "name": tool, "tool_call_id": call["id"], "content": answer})
    transcript.append({"role": "assistant", "content": "The billing service has been deployed."})

    # Turns may be sent one by one as they happen; a turn that is sent twice under the same id is kept once.
    turns = [{"turn_id": str(number), **message} for number, message in enumerate(transcript, 1)]
    post(api, f"/v1/sessions/{session}/turns", {"user_id": USER, "agent_id": AGENT, "turns": turns})
    outcome = {"status": "success", "source": "env", "note": "The health check of the deployed service answered."}
    ended = post(api, f"/v1/sessions/{session}/complete", {"user_id": USER, "outcome": outcome, "close": True})
    wait_for(api, ended["status_url"])
    return sum(message["role"] == "tool" for message in transcript)


def post(api: httpx2.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST and return the answer; an error answer is raised with what the server says about it."""
    response = api.post(path, json=body)
    if response.status_code == 401:
        cannot_start("set HINDWISE_API_KEY to the key of this Hindwise: `hindwise up` prints where it lies (.hindwise/api_key)")
    if response.status_code >= 400:
        raise SystemExit(f"{path}: {response.status_code} {response.text}")
    answer: dict[str, Any] = response.json()
    return answer


def cannot_start(why: str) -> NoReturn:
    """End with one line and exit code 3, as the `hindwise` command does when it finds nothing to talk to."""
    print(f"error: {why}", file=sys.stderr)
    raise SystemExit(3)


def wait_for(api: httpx2.Client, status_url: str, timeout_s: float = 60.0) -> None:
    """Wait until the reflection is final. Only so that the second run can profit at once: a real agent just goes on."""
    deadline = time.monotonic() + timeout_s
    while api.get(status_url).json()["status"] not in {"completed", "skipped", "failed"}:
        if time.monotonic() > deadline:
            raise SystemExit(f"{status_url}: not final after {timeout_s:.0f} s")
        time.sleep(0.3)


def main() -> None:
    """Do the same task twice: the second time with hindsight."""
    url = os.environ.get("HINDWISE_API_URL", "http://127.0.0.1:8080")
    key = os.environ.get("HINDWISE_API_KEY", "")
    try:
        with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=30.0) as api:
            first = run_task(api)
            second = run_task(api)
    except httpx2.TransportError:
        cannot_start(f"nothing answers at {url}: start it with `hindwise up`")
    print(f"{first} calls the first time, {second} the second.")


if __name__ == "__main__":
    main()
