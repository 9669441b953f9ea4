"""The page behind /docs works without network."""

import re

from tests.api.front import open_front


async def test_the_docs_page_and_all_it_asks_for_come_from_here(tmp_path):
    async with open_front(tmp_path) as front:
        page = await front.http.get("/docs")
        assert page.status_code == 200
        asked = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert len(asked) >= 3
        for path in asked:
            assert path.startswith("/"), f"{path} is asked of another host"
            answer = await front.http.get(path)
            assert (answer.status_code, len(answer.content) > 1000) == (200, True), path
