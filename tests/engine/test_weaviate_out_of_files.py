"""A Weaviate that may open no more files: what lies there is found as before, a further space is refused with what to raise."""

import resource
import secrets
from pathlib import Path

import pytest

from hindwise.errors import IndexUnavailable
from hindwise.index import factory
from hindwise.index.base import Filters
from hindwise.settings import Settings
from tests.conformance.index.reference import make_item, unit
from tests.servers.fixtures import or_left_out
from tests.servers.weaviate import Weaviate

FILES = 150
"""A bare server takes about twenty, a space eleven."""


@pytest.mark.parametrize("text", ["cancel the reservation", "取消预订"])
async def test_the_limit_of_open_files_is_named(tmp_path: Path, text: str) -> None:
    server = or_left_out(Weaviate)
    try:
        server.start()
        settings = Settings(_env_file=None, data=tmp_path, index_timeout_s=20, **server.env())
        index = await factory.open_index(settings, "weaviate", 1, 64, secrets.token_bytes(16))
        resource.prlimit(server.child.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        with pytest.raises(IndexUnavailable, match="no more files"):
            for number in range(FILES):
                await index.upsert([make_item(f"m{number}", text, space=f"user:{number}")])
        found = await index.candidates("user:0", [text.split(maxsplit=1)[0]], unit(1), Filters())
        assert [one.memory_id for one in found] == ["m0"]
        await index.close()
    finally:
        server.close()
