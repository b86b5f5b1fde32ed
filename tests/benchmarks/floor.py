"""The floor, the smallest useful Textual app: a header, a DataTable of 50 rows, a footer; nothing of ours."""

from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer, Header

WIDTHS = {"id": 12, "status": 10, "owner": 10, "spec": 26, "created": 21, "updated": 21}
STATUSES = ("RUNNING", "PAUSED", "STARTING", "ERROR", "MISSING")


def row(n: int) -> tuple[str, ...]:
    updated = f"2025-01-01T00:{n:02}:00Z"
    return (f"row-{n}", STATUSES[n % 5], f"user-{n}", "agent-server:1.6.0", "2025-01-01T00:00:00Z", updated)


class Floor(App[None]):
    def compose(self) -> ComposeResult:
        yield Header()
        yield DataTable[str](cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        table = self.query_one(DataTable[str])
        for name, width in WIDTHS.items():
            table.add_column(name, width=width)
        table.add_rows(row(n) for n in range(50))
        table.focus()


if __name__ == "__main__":
    Floor().run()
