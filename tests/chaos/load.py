"""Callers that do not give up: each sends its tasks through one of the doors and repeats what was not answered, with the same ids."""

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2

from tests.accounts import Accounts

_CASES = [
    ("Please refund the late order, it never arrived.", "refund_order", "Error: refund window closed", "I prefer short answers."),
    ("Change my flight to a window seat please.", "change_seat", "Error: seat map unavailable", "Always confirm before you pay."),
    ("请帮我提交北京出差的报销单。", "submit_expense", "错误：发票抬头不一致", "我喜欢简短的回答。"),
    ("请查询我的订单为什么还没有发货。", "query_order", "错误：订单系统超时", "以后都用中文回复我。"),
]
_PATIENCE_S = 120.0


def messages(number: int, chooser: random.Random) -> list[dict[str, Any]]:
    """A short run: a request, a call that fails, the same call that works, a wish of the user, the end."""
    ask, tool, error, wish = chooser.choice(_CASES)
    call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": f'{{"attempt": {number}}}'}}
    said = [
        {"role": "user", "content": ask},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": error, "name": tool, "tool_call_id": f"c{number}"},
        {"role": "user", "content": wish},
        {"role": "assistant", "content": "", "tool_calls": [{**call, "id": f"d{number}"}]},
        {"role": "tool", "content": '{"status": "ok"}', "name": tool, "tool_call_id": f"d{number}"},
        {"role": "assistant", "content": f"Done, case {number}."},
    ]
    return [{"turn_id": f"t{n}", **message} for n, message in enumerate(said)]


class Callers(threading.Thread):
    """One caller among several; `failed` holds what went wrong for good. `client`: makes a client of the present address."""

    def __init__(self, name: str, tasks: int, client: Callable[[], httpx2.Client], accounts: Accounts) -> None:
        super().__init__(name=f"caller-{name}", daemon=True)
        self.key, self.tasks, self.client, self.accounts = name, tasks, client, accounts
        self.failed = ""
        self.repeated = 0
        self._chooser = random.Random(name)
        self._http: httpx2.Client | None = None

    def run(self) -> None:
        """Send all tasks."""
        try:
            for number in range(self.tasks):
                (self._by_session, self._by_episode, self._by_dify)[number % 3](number)
        except AssertionError as error:
            self.failed = str(error)
        finally:
            self._drop()

    def _outcome(self, number: int) -> dict[str, Any]:
        return {"status": "failure" if number % 2 else "success", "source": "env", "note": "missing: notify_customer" if number % 2 else ""}

    def _owner(self) -> dict[str, str]:
        return {"user_id": f"user-{self.key}", "agent_id": "desk"}

    def _by_session(self, number: int) -> None:
        session = f"session-{self.key}-{number}"
        turns = messages(number, self._chooser)
        for start in range(0, len(turns), 3):
            part = turns[start : start + 3]
            self._post(f"/v1/sessions/{session}/turns", {**self._owner(), "turns": part}, 200)
            self.accounts.recorded(session, part)
        body = {"outcome": self._outcome(number), "close": number % 2 == 0}
        self.accounts.accepted(session, self._post(f"/v1/sessions/{session}/complete", body, 202))

    def _by_episode(self, number: int) -> None:
        run = f"run-{self.key}-{number}"
        turns = messages(number, self._chooser)
        body = {**self._owner(), "run_id": run, "turns": turns, "outcome": self._outcome(number)}
        self.accounts.accepted(run, self._post("/v1/episodes", body, 202), turns)

    def _by_dify(self, number: int) -> None:
        run = f"dify-{self.key}-{number}"
        turns = messages(number, self._chooser)
        body = {
            "event": "workflow.finished",
            "run": {"workflow_run_id": run, "app_id": "desk", "user_id": f"user-{self.key}"},
            "status": "failed",
            "error": turns[2]["content"],
            "task": {"goal": turns[0]["content"], "inputs": {}},
            "steps": [{"title": turns[2]["name"], "type": "tool", "output": "", "error": turns[2]["content"]}],
        }
        self.accounts.accepted(run, self._post("/v1/hooks/dify", body, 202))

    def _post(self, path: str, body: dict[str, Any], expected: int) -> dict[str, Any]:
        """Repeat until it is answered as expected; 5xx and broken connections are repeated, anything else is a failure."""
        end = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end:
            try:
                if self._http is None:
                    self._http = self.client()
                answer = self._http.post(path, json=body)
            except (httpx2.HTTPError, OSError, KeyError):
                self._drop()
                self.repeated += 1
                time.sleep(0.1)
                continue
            if answer.status_code == expected:
                told: dict[str, Any] = answer.json()
                return told
            assert answer.status_code >= 500, f"{path}: {answer.status_code} {answer.text}"
            time.sleep(0.1)
        raise AssertionError(f"{path}: not accepted within {_PATIENCE_S:.0f} s")

    def _drop(self) -> None:
        if self._http is not None:
            self._http.close()
        self._http = None
