"""Every intent on every view: bounds hold, and each key does what its line in the help says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.view.scenes import FakeShelf, make_scene, scenes, start_state
from tui_trace.view import intents as do
from tui_trace.view.axis import Axis
from tui_trace.view.reduce import least_span, reduce, selected_op
from tui_trace.view.rows import Mode
from tui_trace.view.state import History, Order, ViewState

STEPS = st.sampled_from([-1, 1])
INTENTS = st.one_of(
    st.builds(do.Resized, st.integers(0, 400)),
    st.builds(do.StepOp, STEPS),
    st.builds(do.StepRow, st.integers(-30, 30)),
    st.builds(do.EndRow, st.booleans()),
    st.builds(do.EndTime, st.booleans()),
    st.builds(do.Pan, STEPS),
    st.builds(do.Zoom, st.booleans()),
    st.just(do.Focus()),
    st.just(do.Fit()),
    st.builds(do.StepSegment, STEPS),
    st.builds(do.StepReplay, STEPS),
    st.builds(do.ShowReplay, st.integers(-1, 3)),
    st.just(do.OpenRow()),
    st.just(do.Close()),
    st.just(do.ShowRows()),
    st.builds(do.ShowAnnotation, st.integers(-1, 2)),
    st.builds(do.Search, st.sampled_from(["", "gemm", "[/]", "re:(", "re:r.*m", "nothing"])),
    st.just(do.SearchThis()),
    st.builds(do.StepMatch, STEPS),
    st.just(do.SetMark()),
    st.just(do.GoToMark()),
    st.just(do.NextOrder()),
    st.builds(do.PointAt, st.integers(-3, 80), st.integers(-5, 500)),
    st.builds(do.PointWhole, st.integers(-5, 500), st.integers(1, 200)),
    st.just(do.Guide()),
    st.just(do.Refreshed()),
)


@st.composite
def shelves(draw: st.DrawFn) -> FakeShelf:
    """One to three replays; the first annotation belongs to the last of them."""
    count = draw(st.integers(1, 3))
    return FakeShelf([draw(scenes(position=i)) for i in range(count)], {0: (count - 1,)})


@given(shelves(), st.lists(INTENTS, max_size=25))
def test_any_keys_in_any_order_keep_the_view_in_bounds(shelf: FakeShelf, intents: list[do.Intent]) -> None:
    state = start_state(shelf.scene(0))
    for intent in intents:
        state = reduce(state, intent, shelf)
        scene = shelf.scene(state.replay)
        assert 0 <= state.t0 <= state.t < state.t1 <= scene.span_ns
        assert state.t1 - state.t0 >= min(least_span(state.columns), scene.span_ns)
        assert 0 <= state.row < max(len(shelf.layout(state).rows), 1)
        assert state.columns >= 1
        assert -1 <= selected_op(shelf.layout(state), state) < scene.n


@pytest.fixture
def shelf() -> FakeShelf:
    """Two replays: main goes from lane 7 to lane 9 and back, a branch runs on lane 8."""
    ops = [(0, 1000, 7), (1000, 2000, 7), (1500, 400, 8), (3500, 1000, 9), (5000, 5000, 7)]
    names = ["gemm", "flash_attn[/]", "memcpy128", "rms_norm", "gemm"]
    chains = [0, 0, 1, 0, 0]
    longer = [(start * 2, length * 2, lane) for start, length, lane in ops]
    return FakeShelf(
        [
            make_scene(ops, names=names, chain_of_op=chains),
            make_scene(longer, position=1, names=names, chain_of_op=chains),
        ],
        {0: (1,)},
    )


@pytest.fixture
def state(shelf: FakeShelf) -> ViewState:
    """The whole first replay on 100 columns of 100 ns."""
    return start_state(shelf.scene(0), columns=100)


def press(state: ViewState, shelf: FakeShelf, *intents: do.Intent) -> ViewState:
    """The view after some intents."""
    for intent in intents:
        state = reduce(state, intent, shelf)
    return state


def test_steps_go_from_op_to_op_of_the_row(state: ViewState, shelf: FakeShelf) -> None:
    there = press(state, shelf, do.StepOp(1))
    assert there.t == 1000
    assert press(there, shelf, do.StepOp(1)).t == 5000
    assert press(there, shelf, do.StepOp(1), do.StepOp(1)).t == 5000
    assert press(there, shelf, do.StepOp(1), do.StepOp(-1)).t == 1000
    assert press(replace(state, t=7000), shelf, do.StepOp(-1)).t == 5000


def test_a_step_moves_by_a_column_at_least() -> None:
    scene = make_scene([(i * 10, 5, 7) for i in range(200)])
    shelf = FakeShelf([scene])
    state = start_state(scene, columns=20)
    axis = Axis(0, scene.span_ns, 20)
    seen = [0]
    for _ in range(19):
        state = reduce(state, do.StepOp(1), shelf)
        seen.append(axis.column(state.t))
    assert seen == list(range(20))
    for _ in range(19):
        state = reduce(state, do.StepOp(-1), shelf)
    assert axis.column(state.t) == 0


def test_a_cursor_that_leaves_the_window_takes_it_along(state: ViewState, shelf: FakeShelf) -> None:
    near = replace(state, t0=0, t1=2000, t=1000)
    moved = press(near, shelf, do.StepOp(1))
    assert moved.t == 5000
    assert moved.t1 - moved.t0 == 2000
    assert moved.t0 <= 5000 < moved.t1


def test_zoom_in_and_out_keeps_the_cursor_and_returns(state: ViewState, shelf: FakeShelf) -> None:
    here = replace(state, t=5000)
    closer = press(here, shelf, do.Zoom(closer=True), do.Zoom(closer=True))
    assert closer.t1 - closer.t0 == 2500
    assert closer.t == 5000
    assert press(closer, shelf, do.Zoom(closer=False), do.Zoom(closer=False)).window == state.window


def test_zoom_stops_where_a_column_would_be_shorter_than_a_nanosecond(state: ViewState, shelf: FakeShelf) -> None:
    closest = press(state, shelf, *[do.Zoom(closer=True)] * 40)
    assert closest.t1 - closest.t0 == least_span(100)


def test_focus_goes_to_the_op_then_to_its_segment(state: ViewState, shelf: FakeShelf) -> None:
    op = press(replace(state, t=3600, row=2), shelf, do.Focus())
    assert op.window == (2500, 5500)
    segment = press(op, shelf, do.Focus())
    assert segment.t0 <= 3500
    assert segment.t1 >= 4500
    assert press(segment, shelf, do.Fit()).window == (0, 10000)


def test_segments_follow_the_chain_from_lane_to_lane(state: ViewState, shelf: FakeShelf) -> None:
    there = press(state, shelf, do.StepSegment(1))
    assert (there.t, there.row) == (3500, 2)
    assert press(there, shelf, do.StepSegment(1)).t == 3500
    assert press(there, shelf, do.StepSegment(-1)).row == 0


def test_switching_rows_keeps_the_selected_op(state: ViewState, shelf: FakeShelf) -> None:
    here = replace(state, t=1600, row=1)
    chains = press(here, shelf, do.ShowRows())
    assert chains.mode is Mode.CHAINS
    assert selected_op(shelf.layout(chains), chains) == selected_op(shelf.layout(here), here) == 2
    assert press(chains, shelf, do.ShowRows()).row == 1


def test_opening_and_closing_a_row(state: ViewState, shelf: FakeShelf) -> None:
    opened = press(state, shelf, do.OpenRow())
    assert len(shelf.layout(opened).rows) == 4
    inside = press(opened, shelf, do.StepRow(1))
    assert press(inside, shelf, do.OpenRow()).t0 == 0
    closed = press(inside, shelf, do.Close())
    assert closed.row == 0
    assert len(shelf.layout(closed).rows) == 3


def test_escape_leaves_the_search_first(state: ViewState, shelf: FakeShelf) -> None:
    found = press(state, shelf, do.OpenRow(), do.Search("gemm"))
    assert press(found, shelf, do.Close()).search == ""
    assert press(found, shelf, do.Close(), do.Close()).opened == frozenset()


def test_matches_in_order_of_time_over_all_rows(state: ViewState, shelf: FakeShelf) -> None:
    found = press(state, shelf, do.Search("re:norm|memcpy"))
    first = press(found, shelf, do.StepMatch(1))
    assert (first.t, first.row) == (1500, 1)
    second = press(first, shelf, do.StepMatch(1))
    assert (second.t, second.row) == (3500, 2)
    assert press(second, shelf, do.StepMatch(1)).t == 1500
    assert press(second, shelf, do.StepMatch(-1)).t == 1500
    assert press(found, shelf, do.StepMatch(-1)).t == 3500


def test_a_search_for_this_op_finds_its_name_alone(state: ViewState, shelf: FakeShelf) -> None:
    assert press(replace(state, t=1000), shelf, do.SearchThis()).search == "=flash_attn[/]"


def test_another_replay_keeps_the_time_and_a_whole_window_stays_whole(state: ViewState, shelf: FakeShelf) -> None:
    there = press(replace(state, t=4000), shelf, do.StepReplay(1))
    assert (there.replay, there.t, there.window) == (1, 4000, (0, 20000))
    assert press(there, shelf, do.StepReplay(1)).replay == 1
    near = press(replace(state, t0=3000, t1=5000, t=4000), shelf, do.StepReplay(1))
    assert near.window == (3000, 5000)
    assert press(replace(state, order=Order.SPAN), shelf, do.StepReplay(-1)).replay == 1


def test_the_mark_brings_back_to_its_replay(state: ViewState, shelf: FakeShelf) -> None:
    marked = press(replace(state, t=1000), shelf, do.SetMark(), do.StepReplay(1), do.EndTime(last=True))
    assert press(marked, shelf, do.GoToMark()).t == 1000
    assert press(marked, shelf, do.GoToMark()).replay == 0
    assert press(state, shelf, do.GoToMark()) == state


def test_an_annotation_goes_to_its_replay_and_back(state: ViewState, shelf: FakeShelf) -> None:
    shown = press(state, shelf, do.ShowAnnotation(0))
    assert (shown.replay, shown.mode, shown.annotation) == (1, Mode.PROJECTIONS, 0)
    assert press(shown, shelf, do.Close()).mode is Mode.LANES
    assert press(shown, shelf, do.StepReplay(-1)).mode is Mode.LANES
    assert press(state, shelf, do.ShowAnnotation(1)) == state


def test_history_goes_back_over_windows_not_over_steps(state: ViewState, shelf: FakeShelf) -> None:
    history, now = History(), state
    for intent in (do.StepOp(1), do.Zoom(closer=True), do.StepRow(1), do.StepReplay(1), do.SetMark()):
        new = reduce(now, intent, shelf)
        history, now = history.after(now, new), new
    assert len(history.views) == 2
    view, history = history.back(now)
    assert view.replay == 0
    assert view.mark == now.mark
    view, history = history.back(view)
    assert view.window == state.window
    assert history.back(view) == (view, history)


def test_pan_at_the_end_moves_the_cursor_instead(state: ViewState, shelf: FakeShelf) -> None:
    assert press(state, shelf, do.Pan(1)).t == 2500
    near = replace(state, t0=0, t1=4000, t=100)
    assert press(near, shelf, do.Pan(1)).window == (1000, 5000)
    assert press(near, shelf, do.Pan(-1)).t == 0
