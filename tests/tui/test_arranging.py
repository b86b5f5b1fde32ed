import json
import re
import time
from collections.abc import Iterator, Sequence
from datetime import datetime

import pytest
from textual.events import AppBlur

from quarterdeck.fleet.conversations import CONVERSATION_GRAMMAR
from quarterdeck.fleet.filters import parse
from quarterdeck.tui.external import can_open_browser
from quarterdeck.tui.kept_state import KeptState
from quarterdeck.tui.lists.conversation_commands import title_words
from tests.client.fakes import UNSTORED, Answer, Asked, FakeServer
from tests.conftest import Home
from tests.tui.fake_fleet import CONVERSATIONS, PROD, FakeFleet, at_conversations, at_sandboxes, page, start_task
from tests.tui.user import WIDE, answering, at_deck


@pytest.fixture
def fleet() -> FakeFleet:
    fleet = FakeFleet()
    for number in range(4):
        fleet.add(f"run{number}")
    fleet.add("off4", "PAUSED")
    fleet.add("off5", "PAUSED")
    fleet.talk("c1", "run1", "Fix the build: now", metrics={"accumulated_cost": 3.0})
    return fleet


async def test_a_long_filter_is_seen_while_it_is_typed_and_from_its_beginning_once_it_is_kept(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, size=(60, 20)) as user:
        await user.press("slash", *"!status:paused", sees="4 of 6  status:  spec:  id:  …\n")
        await user.press(*",error build", sees="/ !status:paused,error build ", until=lambda: "spec:" not in user.text)
        await user.resize(120, 36)
        await user.retype("build", sees="spec:")
        await user.resize(80, 24)
        long = "!status:paused spec:default-spec"
        await user.retype(long, "enter", sees=(f"/ {long}", "4 of 6"))
        await user.press("slash", "end", *f" {long}", "enter", sees=f"/ {long} !status:paused spec:d…  4 of 6\n")


async def test_a_filter_lets_through_as_one_types_and_says_what_means_nothing(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, size=WIDE, sees="Fix the build") as user:
        await user.press("slash", sees=("status:", "enter keep it  esc show all"))
        user.deck.post_message(AppBlur())
        await user.reread(sees="enter keep it  esc show all")
        await user.press(*"orphan status:paused", sees="2 of 6")
        assert set(user.table.ids) == {"off4", "off5"}
        await user.retype("!orphan spec:default cost>2 build:", sees="1 of 6")
        assert user.table.ids == ["run1"]
        await user.retype("!title:build", sees=("6 of 6", "title: is no token; quarterdeck help filters names them."))
        fleet.talk("c2", "run2", "Title:Build")
        await user.press("enter", "ctrl+r", sees="5 of 6")
        await user.press("slash", until=lambda: "no token" not in user.text)
        await user.retype("status:paused,error run", sees="0 of 6")
        assert "No row has" not in user.text
        await user.retype("status:bogus,error", sees=("0 of 6", "No row has the status bogus or error."))
        await user.retype("!status:bogus", sees=("6 of 6", "No status is called bogus."))
        await user.retype("idle>abc", sees="Write idle>30m, 2h or 1d, not abc", until=lambda: len(user.table.ids) == 6)
        await user.press("enter", "asterisk", sees="The filter is not understood whole; / changes it")
        assert not user.table.marks
        await user.press("slash")
        await user.retype("  ", "enter", until=lambda: not re.search("abc|\n /", user.text))


async def test_statuses_are_chosen_from_a_menu_and_stand_in_the_filter(fleet: FakeFleet) -> None:
    async with at_sandboxes(FakeFleet()) as user:
        await user.press("f", sees="There are no rows, so there is no status to choose.")
    async with at_sandboxes(fleet) as user:
        await user.press("f", sees=("Show rows by status", "[x] ● Running", "[x] ‖ Paused"))
        await user.press("space", "enter", sees=("status:paused", "2 of 6"))
        await user.press("f", "down", "space", "enter", sees="A list shows at least one status; d chooses all.")
        await user.press("d", "enter", until=lambda: len(user.table.ids) == 6, lacks="status:")
        await user.press("slash", *"run status:error !idle>30m", "enter", "f", "space", sees="[x] ● Running")
        await user.press("enter", sees=("/ run !idle>30m status:running,error", "3 of 6"))
    fleet.talk("c2", "off4", "Asleep")
    fleet.talk("c3", fleet.add("bad", "ERROR"), "Bad sandbox")
    fleet.talk("c4", "run1", "Bad agent", execution_status="error")
    fleet.tasks = [start_task("begins")]
    async with at_conversations(fleet) as user:
        await user.press("slash", *"!status:finished", "enter", "f", sees="[ ] ✓ Finished")  # `state`, as also called
        for word in ("‖ Sandbox paused", "✕ Sandbox error"):
            await user.click(f"[x] {word}", sees=f"[ ] {word}")
        await user.press("enter", "f", sees=("[x] ✕ Error", "[ ] ✕ Sandbox error", "[x] ◔ starting"))
        await user.press("escape", until=lambda: set(user.table.ids) == {"begins", "c4"})


async def test_sorted_by_addresses_are_those_that_are_shown(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, size=(200, 50)) as user:
        await user.go_to("run0", "p", sees="3 Paused")
        await user.press(*"ssssssssssS", sees="Sorted by URLS, reversed")
        assert set(user.table.ids[:3]) == {"run1", "run2", "run3"}


async def test_equal_rows_stand_as_usual_and_so_do_all_once_the_column_of_their_order_is_hidden() -> None:
    fleet = FakeFleet()
    for hour, name in enumerate("bca"):
        fleet.talk(name, fleet.add(f"box{name}", "PAUSED"), name, updated_at=f"2026-03-14T1{hour}:00:00Z")
    async with at_conversations(fleet) as user:
        for key, order in {"s": "STATE ▲", "S": "STATE ▼"}.items():
            await user.press(key, sees=order, until=lambda: user.table.ids == ["a", "c", "b"])
        await user.resize(60, 20)
        await user.press("C", "G", "k", "k", "k", sees="[x] SANDBOX", lacks="STATE")
        before = user.text
        await user.press("space", sees="[ ] SANDBOX", until=lambda: user.text.replace("[ ]", "[x]") == before)
        await user.press("space", "g", "space", "enter", sees="Sorted by what needs a look first")
        await user.press("S", sees="▼  TITLE")
        await user.press("s", sees="TITLE ▲", until=lambda: user.table.ids == ["a", "b", "c"])


async def test_a_filter_that_hides_the_row_of_the_cursor_leads_to_the_first_it_lets_through() -> None:
    fleet = FakeFleet()
    for number in range(40):
        fleet.add(f"box{number:02}", "PAUSED" if number < 30 else "RUNNING")
    async with at_sandboxes(fleet) as user:
        last = user.table.ids[-1]
        await user.press("G", "slash", *"box0", sees="10 of 40")
        await user.press(*"zz", "enter", sees="0 of 40")
        await user.press("escape", until=lambda: any(line.startswith("▌") for line in user.text.splitlines()))
        assert user.table.cursor_id == last
        await user.press("slash", *"status:running", "enter")
        assert user.table.cursor_id == user.table.ids[0] == "box30"
        await user.press("escape")
        assert user.table.cursor_id == "box30"


async def test_marks_of_a_range_of_all_that_match_and_of_none(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet) as user:
        await user.press("v", sees="Mark a row with space first")
        await user.press("g", "space", "j", "j", "v", sees="4 marked")
        await user.press("minus", until=lambda: not user.table.marks)
        await user.press("minus", sees="Nothing is marked")
        await user.press("slash", *"status:paused", "enter", "asterisk", lacks="Nothing is marked")
        assert user.table.marks == {"off4", "off5"}


async def test_filter_order_and_columns_are_there_again_in_the_next_run(fleet: FakeFleet, state: KeptState) -> None:
    async with at_sandboxes(fleet, state=state) as user, at_sandboxes(fleet, state=state) as other:
        assert "OWNER" not in user.line(2)
        await user.press("C", sees="[x] OWNER")
        await user.press("end", *("K",) * 10, "down", "space", "enter")
        await user.until(lambda: user.line(2).split()[0] == "OWNER")
        await user.press("C", "d", "enter", until=lambda: user.line(2).split()[0] == "STATUS")
        await user.press("s", "s", "s", "S", sees="SANDBOX ▼")
        await other.press("slash", *"status:running", "enter", sees="4 of 6")
        await user.press("C", "down", "down", "down", "space", "enter")
        await user.pause()
    async with at_sandboxes(fleet, state=state, sees=("status:running", "4 of 6", "SANDBOX ▼")) as user:
        assert user.table.ids == ["run3", "run2", "run1", "run0"]
        assert "CONVERSATION" not in user.line(3)
        await user.press("C", "down", "down", "down", "space", "enter", sees="CONVERSATION")
        assert user.line(3).index("CONVERSATION") < user.line(3).index("AGENT"), "it is back in its place"
        await user.press("escape", until=lambda: len(user.table.ids) == 6)


async def test_copies_hold_no_secret_and_can_be_saved(fleet: FakeFleet, home: Home) -> None:
    async with at_sandboxes(fleet) as user:
        await user.go_to("run1", "y", sees=("Copy of run1", "agent URL", "http://box/run1", "OSC 52"))
        assert "hush" not in user.text
        await user.press("down", "down", "f", until=lambda: (home.state / "copied.txt").exists())
        saved = (home.state / "copied.txt").read_text()
        assert '"id": "run1"' in saved
        assert "hush" not in saved
        assert "sentinel" not in saved
        await user.press("p", sees="3 Paused")
        await user.press("y", sees="Copy of run1", lacks="agent URL")  # nothing answers there


async def test_a_copy_holds_nothing_that_acts_on_a_terminal_and_says_so(home: Home) -> None:
    fleet, title = FakeFleet(), "pay \u202e001\u202c \x9b5n \x1b[2J\n 👩\u200d💻"
    fleet.talk("c" * 32, "run1", title)
    async with at_conversations(fleet, size=WIDE, sees="pay 001 5n ␛[2J 👩") as user:
        await user.press("y", "down", "down", "enter", sees=("Copied the title", "u escapes"))
        assert user.deck.clipboard == r"pay \u202e001\u202c \u009b5n \u001b[2J" + " 👩\u200d💻"
        await user.press("y", "down", "down", "down", "f", until=lambda: (home.state / "copied.txt").exists())
        saved = (home.state / "copied.txt").read_text()
        assert json.loads(saved)["title"] == title
        assert not {"\u202e", "\x9b", "\x1b"} & set(saved)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://me:hush@box:81/?key=hush", "the conversation's address with its password or token, if your"),
        ("http://box:81/open", "the conversation's address, if your terminal takes copies"),
    ],
)
async def test_without_a_browser_an_address_is_copied_and_what_it_holds_is_said(url: str, said: str) -> None:
    fleet = FakeFleet()
    fleet.talk("c" * 32, "run1", "Bug", conversation_url=url)
    async with at_conversations(fleet, size=WIDE) as user:
        await user.press("O", sees=f"No display for a browser: copied {said}")
        assert ("password" in user.text) is ("password" in said)
        assert "hush" not in user.text
        assert user.deck.clipboard == url


async def test_without_a_browser_the_address_of_an_agent_server_is_copied(fleet: FakeFleet) -> None:
    async with at_sandboxes(fleet, size=WIDE) as user:
        await user.go_to("run1", "O", sees="copied http://box/run1 with its password or token, if")
        assert user.deck.clipboard == "http://box/run1?key=hush"
        await user.go_to("off4", "O", sees="It has addresses only while it runs. r resumes it.")


def test_a_browser_is_opened_only_where_one_would_show() -> None:
    here = [({}, "darwin"), ({"DISPLAY": ":0"}, "linux"), ({"WAYLAND_DISPLAY": "w"}, "linux")]
    assert all(can_open_browser(*each) for each in here)
    assert not any(can_open_browser(*each) for each in (({"SSH_CONNECTION": "x"}, "darwin"), ({}, "linux")))


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """Another zone than that of the server, by a time that no other has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "HERE-05:31")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
async def test_times_of_day_are_those_of_the_person(fleet: FakeFleet) -> None:
    began = datetime.now().replace(microsecond=0)
    async with at_sandboxes(fleet, size=WIDE) as user:
        await user.press("L", sees=("/api/v1/sandboxes/search", "GET    /api/v1/app-conversations/start-tasks/search"))
        asked = re.search(r"(\d\d:\d\d:\d\d) .*/api/v1/sandboxes/search", user.text)
        await user.press("escape", "enter", "G", sees="Timeline")
        seen = re.search(r"Timeline.*?(\d\d:\d\d:\d\d)", user.text, re.DOTALL)
        await user.press("escape", "3", until=lambda: "read " in user.line(0))
        read = re.search(r"read (\d\d:\d\d)", user.line(0))
    for found in (asked, seen, read):
        assert found is not None
        assert (datetime.strptime(f"{found[1]}:59"[:8], "%H:%M:%S") - began).seconds < 300


async def test_at_60_by_20_all_is_still_there(fleet: FakeFleet) -> None:
    for number in range(20):
        fleet.add(f"more{number}")
    async with at_sandboxes(fleet, size=(60, 20)) as user:
        await user.sees("STATUS", "SANDBOX", "CONVERSATION", "FOR", "24 Running", "2 Paused", "live", lacks="SPEC")
        await user.press(*("s",) * 8, sees=("Sorted by SPEC", "SPEC ▲"))
        await user.press("asterisk", "slash", *"run0", "enter", sees="esc show all")
        await user.press("p", sees=("1 will be paused", "y do it", "scroll", "h hidden ones too, or not"))
        await user.press("escape", "I", sees=("Quiet for at least", "would be paused"))
        await user.press("escape", "escape", until=lambda: "esc show all" not in user.text)
        await user.press("X", sees=("run0 ", "more6 "))  # as many lines as there is room for
        await user.press("escape", "C", sees=("[x] STATUS", "always stays.", "esc cancel"))
        await user.resize(80, 24)
        await user.press("escape", "f2", sees="Open the address of the sandbox")
        await user.resize(60, 20, sees=f"Open the address of the\n▌{'sandbox':>33}\n")


async def test_a_count_is_shown_whole_or_not_at_all() -> None:
    fleet = FakeFleet()
    for status in ("ERROR", "MISSING", "RUNNING", "STARTING", "PAUSED"):
        for number in range(10):
            fleet.add(f"{status.lower()}{number}", status)
    async with at_sandboxes(fleet, size=(60, 20)) as user:
        await user.until(lambda: user.line(1).rstrip().endswith("10 Starting  …"))
        for width in range(80, 60, -1):
            await user.resize(width, 24)
            await user.until(lambda: user.line(1).rstrip().endswith(("‖ 10 Paused", "10 Starting  …")))


OLD = {"id": "old", "title": "Port the old parser"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page([OLD]), ("titles for the word “parser” and found 1 more.", "2 of 340 read", OLD["title"])),
        (page([OLD], "2"), ("found many; the newest were read, 1 of them new here", "2 of 340 read", OLD["title"])),
        (page([]), ("and found no more.", "1 of 340 read")),
        (Answer({"detail": "It broke"}, 500), ("The server failed with 500: It broke.",)),
    ],
)
async def test_a_long_list_says_how_much_is_read_and_what_was_found(answer: Answer, words: Sequence[str]) -> None:
    def script(asked: Asked) -> Answer:
        if asked.path == f"{CONVERSATIONS}/count":
            return Answer(340)
        if asked.path != f"{CONVERSATIONS}/search":
            return UNSTORED
        if "title__contains" in dict(asked.query):
            return answer
        if asked.page_id is None:
            return page([{"id": "new", "title": "Fix login"}], "2")
        return Answer({"detail": "Too many"}, 429, {"Retry-After": "60"})

    server = FakeServer(script)
    async with at_deck(answering(server), PROD, size=WIDE, sees=("1 of 340 read", "(status 429)")) as user:
        await user.press("slash", *"parser")
        await user.until(lambda: any(("title__contains", "parser") in each.query for each in server.asked))
        await user.sees(*words)
        assert "so far" not in user.text, "it is said above, where it is renewed"


def test_only_a_word_that_a_title_may_have_is_asked_for() -> None:
    typed = ["fix parser", "!parser", "state:ready", "x", "unseen"]
    assert [title_words(parse(each, CONVERSATION_GRAMMAR)) for each in typed] == ["parser", "", "", "", ""]
