"""The one table: rows are formatted as they come into sight, however many there are."""

from __future__ import annotations

from textual.app import App, ComposeResult

from tui_trace.ui.table import VirtualTable
from tui_trace.view.paint import width_of
from tui_trace.view.tables import Cell, Column, columns_for, heading, table_line

COLUMNS = (Column("#", 7), Column("name", 0, right=False), Column("wide only", 9, least=60))


class Table(VirtualTable, can_focus=True):
    """A table that counts the rows it formats."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, empty="nothing", id="table")
        self.asked: list[int] = []

    def row(self, number: int) -> list[Cell]:
        """One row."""
        self.asked.append(number)
        return [Cell(f"{number:,}"), Cell(f"row [/] {number}"), Cell("x")]


class TableApp(App[None]):
    """A table alone."""

    def compose(self) -> ComposeResult:
        """It."""
        yield Table()


def text(app: App[None]) -> list[str]:
    """The lines of the screen."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


async def test_a_million_rows_format_a_screenful() -> None:
    app = TableApp()
    async with app.run_test(size=(50, 12)) as pilot:
        table = app.query_one(Table)
        table.fill(1_000_000, table.row, 0)
        await pilot.pause()
        assert len(set(table.asked)) == 11
        assert "row [/] 10" in text(app)[11]
        table.asked.clear()
        table.move_to(999_999)
        await pilot.pause()
        assert set(table.asked) == set(range(999_989, 1_000_000))
        assert "999,999" in text(app)[11]


async def test_a_step_formats_two_rows() -> None:
    app = TableApp()
    async with app.run_test(size=(50, 12)) as pilot:
        table = app.query_one(Table)
        table.fill(100, table.row, 3)
        await pilot.pause()
        table.asked.clear()
        table.move_to(4)
        await pilot.pause()
        assert set(table.asked) == {3, 4}


async def test_the_selected_row_stays_in_sight_and_the_ends_hold() -> None:
    app = TableApp()
    async with app.run_test(size=(50, 12)) as pilot:
        table = app.query_one(Table)
        table.fill(100, table.row, 50)
        await pilot.resize_terminal(50, 6)
        await pilot.pause()
        assert table.top <= 50 < table.top + table.page
        table.move_to(-5)
        assert (table.cursor, table.top) == (0, 0)
        table.move_to(500)
        assert table.cursor == 99
        table.fill(0, table.row, 7)
        await pilot.pause()
        assert table.cursor == 0
        assert "nothing" in text(app)[1]


def test_lines_are_as_wide_as_the_table_and_columns_come_with_width() -> None:
    for width in range(20, 120, 7):
        columns = columns_for(COLUMNS, width)
        assert any(column.title == "wide only" for _, column in columns) == (width >= 60)
        assert width_of(heading(columns, width)) == width
        assert width_of(table_line([Cell("1,000,000"), Cell("核心" * 40), Cell("x")], columns, width)) == width
