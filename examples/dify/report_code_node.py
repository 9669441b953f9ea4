"""Paste into a Dify Code node (Python 3): it builds the body that reports a finished run to Hindwise.

Why a Code node: Dify puts variables into an HTTP body by text substitution and then repairs the JSON, so quotes, backslashes or fenced
blocks in a model's answer lose text without a word. One object variable arrives exactly as it is.

Inputs of the node: the system variables below, the task's goal, the answer, and on a fail branch `status` = "failed" with
`error_message`. Output: `obj` (Object). The HTTP Request node then sends the body {{#code.obj#}}.
"""


def main(
    workflow_run_id: str,
    workflow_id: str,
    app_id: str,
    user_id: str,
    goal: str,
    answer: str,
    status: str = "succeeded",
    error_message: str = "",
) -> dict[str, object]:
    """Return `{"obj": envelope}`. `answer` may be empty where the run failed."""
    return {
        "obj": {
            "source": "dify",
            "event": "workflow.finished",
            "run": {
                "workflow_run_id": workflow_run_id,
                "workflow_id": workflow_id,
                "app_id": app_id,
                "conversation_id": "",
                "user_id": user_id,
            },
            "status": status,
            "error": error_message or None,
            "task": {"goal": goal, "inputs": {}},
            "outputs": {"answer": answer} if answer else {},
            "steps": [],
            "metrics": {},
        }
    }
