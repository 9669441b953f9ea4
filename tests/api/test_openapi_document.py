"""The document that /docs shows: every operation named and explained, every body with an example that is accepted."""

from typing import Any

from tests.api.front import Front


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, operation) for path, methods in document["paths"].items() for method, operation in methods.items()]


async def test_every_operation_has_a_name_a_tag_and_an_explanation(front: Front) -> None:
    document = (await front.http.get("/openapi.json")).json()
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))
    for path, method, operation in operations(document):
        assert operation.get("description"), (method, path)
        assert operation["tags"], (method, path)
        if path.startswith(("/v1", "/memory")):
            assert operation["security"], (method, path)
            assert operation["x-scope"] in {"read", "write", "outcome", "admin"}


async def test_every_body_has_an_example_and_the_api_accepts_it(front: Front) -> None:
    document = (await front.http.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    tried = 0
    for path, method, operation in operations(document):
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if content is None:
            continue
        if "examples" in content:
            examples = [example["value"] for example in content["examples"].values()]
        else:
            examples = schemas[content["schema"]["$ref"].rsplit("/", 1)[-1]]["examples"]
        assert examples, (method, path)
        for example in examples:
            url = path.replace("{session_id}", "example").replace("{source}", "dify")
            answer = await front.http.request(method, url, json=example, params={"session_id": "x"} if url.endswith("s/outcome") else None)
            tried += 1
            # The ids in a few paths are of nothing yet; the body itself must be fine.
            assert answer.status_code in ({200, 201, 202} if "{" not in url and not url.endswith("/outcome") else {404}), (url, answer.text)
    assert tried >= 12


async def test_the_bodies_of_a_hook_that_are_no_json_have_examples_that_are_taken(front: Front) -> None:
    document = (await front.http.get("/openapi.json")).json()
    content = document["paths"]["/v1/hooks/{source}"]["post"]["requestBody"]["content"]
    assert set(content) == {"application/json", "text/plain", "application/x-www-form-urlencoded"}
    text = content["text/plain"]["examples"]["canvas"]["value"]
    form = content["application/x-www-form-urlencoded"]
    assert set(form["examples"]["form"]["value"]) == set(form["schema"]["properties"])
    sent: list[dict[str, Any]] = [
        {"content": text.encode(), "headers": {"Content-Type": "text/plain"}},
        {"content": text.encode()},  # no content type at all
        {"data": form["examples"]["form"]["value"]},
    ]
    told = []
    for one in sent:
        answer = await front.http.post("/v1/hooks/dify", **one)
        assert answer.status_code == 202, answer.text
        told.append(answer.json())
    assert [answer["duplicate"] for answer in told] == [False, True, False]
    assert [answer["spaces"] for answer in told] == [["user:crm-7", "agent:77aa"]] * 2 + [["user:desk-12", "agent:77aa"]]


async def test_what_is_not_built_is_not_in_the_document(front: Front) -> None:
    text = (await front.http.get("/openapi.json")).text
    for name in ("callback_url", "as_of", "known_at", "include_archived", "placement", "revoke", "/export"):
        assert name not in text
