"""The tour: to the letter on recordings, what it leaves out and why, and that its figures are those of the trace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.builders import COPY, GA, UA, K, L, trace_of
from tests.golden import SNAPSHOTS
from tests.recorded import NAMES, path_of
from tests.recorded import trace_of as recording
from tui_trace.errors import UnknownReplayError
from tui_trace.report.pictures import BAR, bar, rows, strip
from tui_trace.report.text import main_replay
from tui_trace.report.tour import WIDTH, tour_data, tour_replay, tour_steps, tour_text
from tui_trace.report.tour_words import TITLES, short
from tui_trace.report.words import duration, percent
from tui_trace.trace import open_trace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.builders import Row
    from tests.golden import Golden
    from tui_trace.report.tour import Step
    from tui_trace.trace import Trace

GOLDEN = (
    "k3_full",
    "k3_scale",
    "serial",
    "cuda_only",
    "window_cut",
    "first_launch",
    "pdl",
    "nested_annotations",
    "piecewise_pool",
    "wide",
)
SAMPLES = ("decode_large", "decode_large_cut")
WITHOUT_REPLAYS = ("default_stream", "k3_small_eager")
PICTURE_WIDTH = 75
"""Columns of a screen of 80 without its frame and scroll bar."""


def text_of(trace: Trace) -> str:
    return tour_text(trace, tour_replay(trace))


def steps_of(folder: Path, written: Sequence[Row]) -> tuple[Step, ...]:
    return tour_steps(trace_of(folder, written))


@pytest.mark.parametrize("name", GOLDEN)
def test_the_tour_of_a_recording_is_as_kept(golden: Golden, name: str) -> None:
    golden.check(f"report/tour_{name}.txt", text_of(recording(name)))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_tour_of_a_sample_is_as_kept(golden: Golden, name: str) -> None:
    path = SNAPSHOTS.parent / "sample_data" / f"{name}.json.gz"
    golden.check(f"report/tour_{name}.txt", text_of(open_trace(path)))


@pytest.mark.parametrize("name", ["k3_full", "k3_scale"])
def test_the_tour_of_a_replay_with_faulty_bars_is_as_kept(golden: Golden, name: str) -> None:
    trace = recording(name)
    golden.check(f"report/tour_{name}_fault.txt", tour_text(trace, trace.replay(5)))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_REPLAYS])
def test_every_recording_has_a_tour(name: str) -> None:
    """Six steps, each answered or left out with a reason; nothing wider than a small screen; good English."""
    trace = recording(name)
    steps = tour_steps(trace)
    assert [step.number for step in steps] == [1, 2, 3, 4, 5, 6]
    for step in steps:
        told = bool(step.answer and step.evidence and step.look)
        assert told != (step.skipped is not None)
        assert not (step.picture and step.skipped)
        assert step.title.endswith("?")
        assert all(len(line) <= PICTURE_WIDTH for line in step.picture)
        # A percentage says of what it is one.
        for sentence in (step.answer, *step.evidence):
            assert re.findall(r"\d %(?! of )", sentence) == []
            assert sentence.endswith(".") or step.skipped
    text = text_of(trace)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert not {"None", "nan"} & set(re.findall(r"\w+", text))
    assert not re.search(r"(?<![\d,.])1 (?:ops|lanes|replays|kernels|copies|launches)\b", text)
    # What glyphs of ASCII cannot show would leave a hole there.
    assert set(text) - set(map(chr, range(128))) <= set("█·─µ×…→–\u00a0")


@pytest.mark.parametrize("name", WITHOUT_REPLAYS)
def test_without_replays_there_is_no_tour(name: str) -> None:
    """One sentence, and what to record."""
    with pytest.raises(UnknownReplayError) as refused:
        tour_steps(recording(name))
    assert refused.value.message == (
        f"{name}.json.gz has no replays, so there is nothing to go through: no graph launch and no op of a graph"
    )
    assert refused.value.hint.startswith("Record some decode steps that run under CUDA Graphs, with torch.profiler")


def test_a_replay_that_is_not_there_is_said() -> None:
    with pytest.raises(UnknownReplayError, match="has no replay 99"):
        tour_replay(recording("serial"), 99)


@pytest.mark.parametrize("name", ["k3_full", "k3_scale", "pdl", "c_rand42", "overlapping_replays"])
def test_the_figures_are_those_of_the_trace(name: str) -> None:
    """Of each replay, not of the one that stands for the file."""
    trace = recording(name)
    for replay in trace.replays:
        f, chains = replay.figures, replay.chains
        assert f is not None
        assert chains is not None
        launch, lanes, _, union, hidden, account = tour_steps(trace, replay)
        assert f"all {f.ops:,} of them" in launch.answer
        assert f"correlation {replay.correlation}." in " ".join(launch.evidence)
        assert lanes.title == f"Are {f.lanes} lanes {f.lanes} things at once?"
        assert str(f.max_concurrency) in lanes.answer
        shares = [re.findall(r"[<>]? ?[\d.]+ %", line) for line in lanes.picture[1:]]
        assert [share[0].strip() for share in shares] == [percent(ns, f.span_ns) for ns in f.concurrency_ns]
        assert union.title.startswith(f"All ops add up to {duration(f.sum_ns)}.")
        assert [line.split("█ ")[-1].split("  ")[-1].strip() for line in union.picture] == [
            duration(ns) for ns in (f.sum_ns, f.busy_ns, f.span_ns)
        ]
        if f.copy_busy_ns:
            assert duration(f.copy_busy_ns) in hidden.title
            assert duration(f.exposed_copy_ns) in hidden.picture[1]
            assert duration(f.copy_busy_ns - f.exposed_copy_ns) in hidden.picture[0]
        else:
            assert hidden.skipped is not None
        assert account.answer.startswith(f"{duration(f.span_ns)}, from the first op to the last over all lanes. What ")
        assert f"{chains.items[0].ops.size:,} ops" in account.answer
        assert duration(chains.critical_op_ns) in account.picture[0]


def test_the_main_replay_is_the_one_of_the_report() -> None:
    for name in ("k3_full", "overlapping_replays"):
        assert tour_replay(recording(name)) is main_replay(recording(name))
        assert tour_replay(recording(name), 1).index == 1


def test_data_is_what_the_text_is_made_of() -> None:
    trace = recording("serial")
    replay = tour_replay(trace)
    data = tour_data(trace, replay)
    assert (data["trace"], data["complete"], data["replay"]) == ("serial.json.gz", True, 6)
    assert [step["title"] for step in data["steps"]] == [step.title for step in tour_steps(trace, replay)]
    assert data["steps"][1] == {
        "number": 2,
        "title": "Are many lanes many things at once?",
        "answer": "",
        "picture": [],
        "evidence": [],
        "look": "",
        "skipped": "all ops are on one lane, so no count of lanes can mislead.",
    }


# What is left out, and why


def one_launch(*more: Row) -> list[Row]:
    """Two ops on two lanes behind one launch, and what else there is."""
    return [L(1, 0, 5, 1), K("a", 0, 7, 10, 20, 1), K("b", 0, 8, 20, 20, 1), *more]


def test_without_the_row_of_the_launch(tmp_path: Path) -> None:
    node = {"graph node id": 5}
    written = [K("a", 0, 7, 10, 20, 7, **node), K("b", 0, 8, 20, 20, 7, **node)]
    step = steps_of(tmp_path, written)[0]
    assert step.title == "Who launched these 2 ops?"
    assert step.skipped is not None
    assert step.skipped.startswith("the file has no row for the call: it lies outside the recorded window")
    assert "(correlation 7)" in step.skipped


def test_a_launch_without_ops(tmp_path: Path) -> None:
    """All six are left out; the first says why, and what to do."""
    alone = steps_of(tmp_path, [L(1, 0, 5, 1)])
    assert [step.title for step in alone] == list(TITLES)
    assert [step.skipped for step in alone] == [
        (
            "the call that launches the graph was recorded, none of its ops were. The recording ended before they ran, "
            "or the file was cut. Record for longer."
        ),
        *["none of its ops were recorded."] * 5,
    ]
    trace = trace_of(tmp_path, one_launch(L(1, 100, 5, 2)), name="two.json")
    assert str(tour_steps(trace, trace.replay(2))[0].skipped).endswith("Choose another one with --replay.")


def test_without_an_annotation(tmp_path: Path) -> None:
    none = steps_of(tmp_path, one_launch())[2]
    assert none.title == "Why do the bars of one annotation differ in length?"
    assert none.skipped == (
        "the file has no annotations, so no bar is drawn. To have one, put the step into "
        'torch.profiler.record_function("step") and record CPU and CUDA activities.'
    )
    elsewhere = steps_of(tmp_path, one_launch(UA("other", 2, 0, 50, 9)))[2]
    assert str(elsewhere.skipped).startswith("no annotation was open on the thread that launched this replay, so ")


def test_without_copies(tmp_path: Path) -> None:
    step = steps_of(tmp_path, one_launch())[4]
    assert step.skipped == "the graph has no copies and no exchanges between GPUs that take time: nothing to hide."


def test_on_one_lane(tmp_path: Path) -> None:
    written = [UA("step", 1, 0, 50, 9), L(1, 1, 5, 1), K("a", 0, 7, 10, 20, 1)]
    steps = steps_of(tmp_path, [*written, GA("step", 0, 7, 10, 20, 9)])
    assert steps[0].title == "Who launched this one op?"
    assert steps[1].skipped == "the op is on one lane, so no count of lanes can mislead."
    assert steps[2].skipped == '"step" has ops on one lane only, so there is one bar, 20.0 µs long.'
    assert steps[5].answer == "20.0 µs, from the first op to the last. What sets it is one op."
    assert steps[5].evidence[1] == 'It is the only work of "step", which takes just as long.'
    assert steps_of(tmp_path, written)[2].skipped == (
        "the file has no bars (no gpu_user_annotation rows). One would be 20.0 µs long, from the first to the last op "
        'of "step", which are all on one lane.'
    )


def test_a_file_that_is_not_whole_says_so(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, one_launch())
    trace.complete = False
    assert "The file is not complete, so every count means: at least." in text_of(trace)


# Answers of other kinds


def test_as_many_at_once_as_lanes(tmp_path: Path) -> None:
    """10 µs of the 30 both run."""
    step = steps_of(tmp_path, one_launch())[1]
    assert step.answer == (
        "Not all the time. On average 1.3 ops run at once; 2 do so for 33.3 % of the 30.0 µs of the replay."
    )


def test_many_levels_share_the_last_bar(tmp_path: Path) -> None:
    written = [L(1, 0, 5, 1), *(K("k", 0, lane, 10 + lane, 100, 1) for lane in range(20))]
    picture = steps_of(tmp_path, written)[1].picture
    assert len(picture) == 9
    assert picture[0] == "ops at once  share of the 119.0 µs of the replay"
    assert picture[-1].startswith("  7 or more  ███")
    assert picture[-1].endswith("89.9 %  107.0 µs")


def test_ops_that_do_not_overlap_add_up(tmp_path: Path) -> None:
    written = [L(1, 0, 5, 1), K("a", 0, 7, 10, 20, 1), K("b", 0, 8, 30, 20, 1)]
    steps = steps_of(tmp_path, written)
    assert steps[3].answer == "Yes, for 40.0 µs: no two ops run at the same time."
    assert steps[1].answer == "No. At most 1 op runs at once, and 1.0 on average over the 40.0 µs of the replay."


@pytest.mark.parametrize(
    ("at", "answer"),
    [
        (10, "Yes, all of it: other ops run beside them the whole time."),
        (100, "No: whenever they run, no other op does."),
        (25, "50.0 % of it is: other ops run beside them. For the other 5.0 µs nothing but copies runs."),
    ],
)
def test_copies_hidden_or_not(tmp_path: Path, at: int, answer: str) -> None:
    written = [L(1, 0, 5, 1), K("a", 0, 7, 10, 20, 1), COPY("Memcpy DtoD", 0, 8, at, 10, 1)]
    step = steps_of(tmp_path, written)[4]
    assert step.title == "Copies run for 10.0 µs. Is that time hidden behind other work?"
    assert step.answer == answer
    assert "There is one." in step.evidence[1]


def test_communication_takes_the_place_of_copies_or_stands_beside(tmp_path: Path) -> None:
    """Nothing is said of copies where there are none."""
    written = one_launch(K("ncclDevKernel_AllReduce", 0, 9, 35, 10, 1))
    step = steps_of(tmp_path, written)[4]
    assert step.title == "Exchanges between GPUs run for 10.0 µs. Is that time hidden behind other work?"
    assert step.picture == rows(
        [("hidden", "█" * 17, "5.0 µs", "other ops run too"), ("exposed", "█" * 17, "5.0 µs", "only exchanges run")]
    )
    assert not any("memcpy" in sentence for sentence in step.evidence)
    both = steps_of(tmp_path, [*written, COPY("Memcpy DtoD", 0, 8, 50, 10, 1)])[4]
    assert both.title.startswith("Copies run for 10.0 µs.")
    assert both.evidence[-1] == "Exchanges between GPUs run for 10.0 µs, 5.0 µs of it exposed."


def test_an_annotation_that_holds_more_than_the_replay(tmp_path: Path) -> None:
    """Its length is not that of the replay, and the replay is not called the step."""
    written = [UA("step", 1, 0, 90, 9), *one_launch(), L(1, 60, 5, 2), K("c", 0, 7, 80, 20, 2), K("d", 0, 8, 80, 5, 2)]
    steps = steps_of(tmp_path, written)
    assert '"step" takes 90.0 µs.' in steps[2].evidence[3]
    assert steps[2].evidence[4] == "It holds 2 graph launches, so it is not the length of one replay."
    assert steps[5].title == "How long is this replay, and what sets that?"
    assert steps[5].evidence[1].startswith('It is one of 2 launches in "step", which takes 90.0 µs')


def test_a_bar_that_was_cut_short_is_as_long_as_the_file_has_it(tmp_path: Path) -> None:
    """What is lost stands apart, and the fault comes first."""
    written = [
        UA("step", 1, 0, 90, 9), *one_launch(), K("c", 0, 7, 50, 10, 1), K("c", 0, 7, 70, 10, 1),
        GA("step", 0, 7, 10, 50, 9), GA("step", 0, 8, 20, 20, 9),
    ]  # fmt: skip
    step = steps_of(tmp_path, written)[2]
    assert step.title == 'Why is "step" 50.0 µs long on one lane and 20.0 µs on another?'
    assert step.answer.endswith("But here not every bar is right.")
    assert [line.split()[0] for line in step.picture] == ["all", "longest", "lost", "shortest", "█", "lost:"]
    assert step.picture[1].endswith("50.0 µs  2 ops")
    assert step.picture[2].endswith("20.0 µs  1 op")
    assert step.evidence[:2] == (
        "1 of the 2 bars ends early: a fault of the profiler. Drawn right, the longest bar would be 70.0 µs long.",
        "No bar covers 1 of the 4 ops.",
    )
    assert step.evidence[3].startswith("Longest, lane s7: 2 ops, most often a. It begins with the first op")


def test_a_bar_that_the_file_has_twice(tmp_path: Path) -> None:
    """Alone, and beside another fault."""
    written = [UA("step", 1, 0, 90, 9), *one_launch(), GA("step", 0, 7, 10, 20, 9), GA("step", 0, 7, 10, 20, 9)]
    lines = steps_of(tmp_path, [*written, GA("step", 0, 8, 20, 20, 9)])[2].evidence
    assert "1 of the 2 bars is in the file more than once: a fault of the profiler." in lines
    skipped = steps_of(tmp_path, written)[2].skipped
    assert skipped is not None
    assert "1 of the 2 bars is missing and 1 is in the file more than once: a fault of the profiler." in skipped


def test_the_bars_of_a_faulty_recording_are_those_of_the_file() -> None:
    """36 of 64 were lost, and the longest was cut to less than half."""
    trace = recording("k3_scale")
    replay = trace.replay(5)
    annotation = trace.annotation_of_replay(replay)
    assert annotation is not None
    lengths = sorted(p.row_ns for p in annotation.projections if p.row_ns is not None)
    assert len(lengths) == 28
    step = tour_steps(trace, replay)[2]
    assert step.title == (
        f'Why is "step[DECODE bs=8]" {duration(lengths[-1])} long on one lane and {duration(lengths[0])} on another?'
    )
    assert step.evidence[0] == (
        "36 of the 64 bars are missing and 2 end early: a fault of the profiler. Drawn right, the longest bar would be "
        "76.3 ms long."
    )
    assert step.evidence[1] == (
        "No bar covers 2,516 of the 4,394 ops. The ops stand far apart in the file: the sign of a fault mended in "
        "April 2026."
    )
    assert [line.split("  ")[-1] for line in step.picture[:5]] == [
        "4,394 ops",
        "1,159 ops",
        "1,496 ops",
        "6 ops",
        "576 ops",
    ]


@pytest.mark.parametrize(
    ("bars", "said"),
    [
        ([(8, 20, 20)], "1 of the 2 bars is missing: a fault"),
        ([(7, 12, 18), (8, 20, 20)], "1 of the 2 bars begins late: a fault"),
        ([(7, 5, 30), (8, 20, 20)], "1 of the 2 bars reaches beyond its ops: a fault"),
        ([(7, 10, 20), (8, 20, 20), (9, 5, 6)], "1 bar lies on a lane without ops of it: a fault"),
    ],
)
def test_each_kind_of_fault_has_its_words(tmp_path: Path, bars: list[tuple[int, int, int]], said: str) -> None:
    # The other step shows that the writer adds nothing to its rows.
    right = [UA("r", 1, 200, 90, 8), L(1, 201, 5, 2), *(K("a", 0, n, 210, n, 2) for n in range(20, 30))]
    right += [GA("r", 0, n, 210, n, 8) for n in range(20, 30)]
    written = [UA("step", 1, 0, 90, 9), *one_launch(), *(GA("step", 0, *bar, 9) for bar in bars), *right]
    trace = trace_of(tmp_path, written)
    step = tour_steps(trace, trace.replay(1))[2]
    assert said.lower() in f"{step.skipped} {' '.join(step.evidence)}".lower()
    other = tour_steps(trace, trace.replay(2))[2]
    assert other.evidence[-1] == (
        "The bars of 1 other annotation in this file are wrong: missing, cut short or astray. Key 3 marks them."
    )


def test_a_file_without_bars_asks_what_they_would_be(tmp_path: Path) -> None:
    step = steps_of(tmp_path, [UA("step", 1, 0, 90, 9), *one_launch(), K("a", 0, 7, 50, 5, 1)])[2]
    assert step.title == 'Why would "step" be 45.0 µs long on one lane and 20.0 µs on another?'
    assert step.answer.startswith("The file has no bars (no gpu_user_annotation rows). There would be one on each lane")
    assert "Most recordings have a bar for it" in step.evidence[0]


def test_two_annotations_of_one_name_are_told_apart() -> None:
    trace = recording("nested_annotations")
    _, _, bars, _, _, account = tour_steps(trace, trace.replay(3))
    assert bars.title.startswith('Why is "outer #2 of 2" ')
    assert bars.evidence[4].startswith('The annotation around it, "outer #1 of 2", has no bar at all')
    assert account.evidence[1].startswith('"outer #1 of 2", the annotation around it, takes ')


def test_faults_of_another_file_are_not_counted(tmp_path: Path) -> None:
    """Of two files opened together, each speaks of its own."""
    folder = path_of("k3_full").parent
    trace = open_trace(folder / "k3_full.json.gz", folder / "wide.json.gz")
    for replay in trace.replays:
        evidence = tour_steps(trace, replay)[2].evidence
        own = replay.process == 0 and replay.index != faulty(trace)
        assert any("1 other annotation of k3_full.json.gz" in line for line in evidence) == own


def faulty(trace: Trace) -> int:
    """The replay whose bars are wrong."""
    return next(a.replays[0] for a in trace.annotations if a.fault is not None)


def test_replays_that_take_the_same_time_are_told_in_one_figure(tmp_path: Path) -> None:
    written = [*one_launch(), L(1, 100, 5, 2), K("a", 0, 7, 110, 20, 2), K("b", 0, 8, 120, 20, 2)]
    assert steps_of(tmp_path, written)[5].evidence[-1] == "Over the 2 replays of this graph: 30.0 µs each time."


def test_nothing_is_said_of_hidden_work_where_none_is(tmp_path: Path) -> None:
    written = [L(1, 0, 5, 1), K("a", 0, 7, 10, 20, 1), COPY("Memcpy DtoD", 0, 8, 100, 10, 1)]
    evidence = steps_of(tmp_path, written)[4].evidence
    assert evidence[0] == "Exposed is the time for which only copies run: 10.0 % of the 100.0 µs of the replay."
    assert len(evidence) == 2


def test_one_op_of_others(tmp_path: Path) -> None:
    step = steps_of(tmp_path, one_launch(K("eager", 0, 9, 12, 5, 77)))[0]
    assert step.evidence[-1] == "1 op of other launches ran in the same time. The tour leaves it out."


def test_lanes_of_several_gpus_are_told_apart(tmp_path: Path) -> None:
    written = [UA("step", 1, 0, 90, 9), *one_launch(), K("c", 1, 7, 20, 5, 1)]
    picture = steps_of(tmp_path, written)[2].picture
    assert picture[2].startswith("shortest g1/s7 ")


def test_ops_without_length_have_a_tour(tmp_path: Path) -> None:
    """Nothing is divided by nothing."""
    written = [UA("step", 1, 0, 90, 9), L(1, 0, 5, 1), K("a", 0, 7, 10, 0, 1), K("b", 0, 8, 10, 0, 1)]
    text = text_of(trace_of(tmp_path, written))
    assert "At most 0 ops run at once, and – on average over the 0 ns of the replay." in text
    assert "Yes, for 0 ns: no two ops run at the same time." in text


def test_names_are_cut_and_harmless(tmp_path: Path) -> None:
    """A name may hold anything and be of any length."""
    name = "[bold]\x1b[31m" + "x" * 300
    written = [UA(name, 1, 0, 90, 9), L(1, 0, 5, 1), K(name, 0, 7, 10, 5, 1), K(name, 0, 8, 10, 9, 1)]
    text = text_of(trace_of(tmp_path, written))
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= WIDTH
    assert len(short("y" * 500)) <= 40
    assert short("y" * 40) == "y" * 40


# Pictures


def test_a_bar_is_as_long_as_its_share() -> None:
    """What is more than nothing is seen."""
    assert [len(bar(part, 100)) for part in (0, 1, 50, 100, 200, -5)] == [0, 1, BAR // 2, BAR, BAR, 0]
    assert bar(1, 0) == ""


def test_a_strip_tells_run_from_drawn() -> None:
    """From the first op to the last, as full as the ops fill it."""
    axis = (1_000, 1_000 + 10 * BAR)

    def drawn(*spans: tuple[int, int]) -> str:
        times = np.array(spans, np.int64).T + axis[0]
        return strip(times[0], times[1], axis)

    assert drawn((0, 10 * BAR)) == "█" * BAR
    assert drawn((20, 30), (30, 31), (60, 66)) == "  █·──█"
    assert drawn((10 * BAR - 1, 10 * BAR)) == " " * (BAR - 1) + "█"
    assert strip(*(np.zeros(0, np.int64),) * 2, axis, (axis[0] - 5, axis[0] + 25)) == "───"
    assert drawn((0, 0), (25, 25)) == "───"
    assert drawn((10 * BAR, 10 * BAR)) == " " * (BAR - 1) + "─"
