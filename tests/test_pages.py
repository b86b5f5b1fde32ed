import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SERVERS = TESTS.parent / "src" / "quarterdeck" / "client" / "SERVERS.md"


@pytest.mark.parametrize("page", sorted(page.name for page in TESTS.glob("*.md")))
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    named = re.findall(r"\b(tests/[\w/]+\.py)::(\w+)", (TESTS / page).read_text(encoding="utf-8"))
    assert named
    gone = sorted({f"{path}::{name}" for path, name in named if name not in _tests_in(path)})
    assert not gone, f"tests/{page} names tests that are not there: write their new names, or what proves the row"


@cache
def _tests_in(path: str) -> frozenset[str]:
    file = TESTS.parent / path
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return frozenset(re.findall(r"^(?:async )?def (\w+)", text, re.M))


def test_each_heading_of_what_real_servers_do_has_its_tests_and_the_code_that_deals_with_it() -> None:
    headings = re.findall(r"^## (.*)$", SERVERS.read_text(encoding="utf-8"), re.M)
    rows = re.findall(r"^\| (.*?) \| tests/", (TESTS / "servers.md").read_text(encoding="utf-8"), re.M)
    dealt_with = [heading for heading in headings if heading not in {"An address of a sandbox", "Filters"}]
    assert dealt_with == rows
    code = "\n".join(file.read_text(encoding="utf-8") for file in SERVERS.parents[1].rglob("*.py"))
    cited = {" ".join(words.split()) for words in re.findall(r"\(SERVERS\.md: ([^)]*)\)", code)}
    assert cited == {heading if heading.startswith("MCP") else heading.lower() for heading in dealt_with}
