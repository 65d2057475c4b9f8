"""The bench measures what it says, refuses what is no sample, and its page is made from its JSON."""

from __future__ import annotations

import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from bench import page, table
from bench.__main__ import main
from bench.budget import ROWS
from bench.report import Beside, Finding, Report, verdict
from bench.sampling import BadSample, Measured, Series, expect, interleave
from bench.spread import Spread, calls, exactly, excess, ratio
from bench.tracing import Moment, moments
from bench.worker import ROOT, Cold, Worker

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs" / "reference"


class Told:
    """A subject that takes as long as it is told, and fails on one of its samples."""

    def __init__(self, name: str, taken: int, log: list[str], fails_at: int | None = None) -> None:
        self.name = name
        self._taken = taken
        self._log = log
        self._fails_at = fails_at
        self._samples = 0

    def sample(self) -> list[int]:
        self._log.append(self.name)
        expect(self._samples != self._fails_at, lambda: f"{self.name} refused")
        self._samples += 1
        return [self._taken, self._taken + 2]


def test_every_round_holds_every_subject_once_and_the_order_changes() -> None:
    log: list[str] = []
    subjects = [Told(name, 10, log) for name in "abcd"]
    measured = interleave(subjects, rounds=8, rng=Random(7), warm=2)
    rounds = ["".join(log[place : place + 4]) for place in range(0, len(log), 4)]
    assert [sorted(one) for one in rounds] == [list("abcd")] * 10
    assert len(set(rounds)) > 1
    assert measured == Measured({name: Series(name, [[10, 12]] * 8) for name in "abcd"}, {})


def test_the_same_seed_repeats_the_order() -> None:
    logs: list[list[str]] = [[], []]
    for log in logs:
        interleave([Told(name, 1, log) for name in "abc"], rounds=5, rng=Random(3))
    assert logs[0] == logs[1]


def test_a_peer_with_a_bad_sample_drops_out_with_its_reason() -> None:
    log: list[str] = []
    measured = interleave(
        [Told("ours", 10, log), Told("peer", 10, log, fails_at=2)], rounds=4, rng=Random(1), needed=("ours",)
    )
    assert measured == Measured({"ours": Series("ours", [[10, 12]] * 4)}, {"peer": "peer refused"})
    assert log.count("peer") == 3


def test_a_bad_sample_of_what_is_measured_ends_the_run() -> None:
    with pytest.raises(BadSample, match="ours refused"):
        interleave([Told("ours", 10, [], fails_at=0)], rounds=4, rng=Random(1), needed=("ours",))


def test_a_ratio_is_of_medians_and_its_spread_is_that_of_the_rounds() -> None:
    ours, base = Series("ours", [[20], [30], [40]]), Series("base", [[10], [10], [10]])
    assert ratio(ours, base) == Spread(3.0, 2.5, 3.5, 3)
    assert excess(ours, base) == Spread(20.0, 15.0, 25.0, 3)
    assert calls(Series("batches", [[1, 2], [9]])) == Spread(2.0, 1.5, 5.5, 3)
    assert calls(Series("once", [[5]])) == Spread(5.0, 5.0, 5.0, 1)


def cold(folder: Path, script: str) -> Cold:
    def check(said: str) -> None:
        expect(said == "hello\n", lambda: f"said {said!r}")

    return Cold("it", [sys.executable, "-I", "-c", script], {}, cwd=folder, check=check)


def test_a_cold_start_is_timed_and_its_answer_is_checked(tmp_path: Path) -> None:
    (taken,) = cold(tmp_path, "print('hello')").sample()
    assert taken > 0
    with pytest.raises(BadSample, match=r"said 'good-bye\\n'"):
        cold(tmp_path, "print('good-bye')").sample()


def test_a_cold_start_that_fails_is_no_sample_however_fast(tmp_path: Path) -> None:
    with pytest.raises(BadSample, match="exit status 77: denied"):
        cold(tmp_path, "print('denied'); raise SystemExit(77)").sample()


CHILD = """
from bench.child import Caller, serve
kept = []
def call():
    kept.append(1)
    return {answer}
serve(lambda: Caller(call, lambda answer: answer == "right", lambda: {records}))
"""


def worker(answer: str, records: str) -> Worker:
    script = CHILD.format(answer=answer, records=records)
    return Worker("it", [sys.executable, "-c", script], {"PYTHONPATH": str(ROOT)}, calls=3)


def outcome(subject: Worker) -> int | str:
    try:
        return len(subject.sample())
    except BadSample as why:
        return str(why)
    finally:
        subject.close()


@pytest.mark.parametrize(
    ("answer", "records", "expected"),
    [
        pytest.param("'right'", "len(kept)", 3, id="good"),
        pytest.param("'denied'", "len(kept)", "it: 3 wrong answers, the first: 'denied'", id="wrong-answer"),
        pytest.param("'right'", "0", "it: 3 calls left 0 records", id="nothing-recorded"),
        pytest.param("'right'", "len(kept) * 2", "it: 3 calls left 6 records", id="recorded-twice"),
        pytest.param("1 / 0", "0", "it: ZeroDivisionError: division by zero", id="broken"),
    ],
)
def test_a_worker_reports_only_answered_and_recorded_calls(answer: str, records: str, expected: int | str) -> None:
    assert outcome(worker(answer, records)) == expected


TRACE = """\
10 execve("/venv/bin/hcpx", ["hcpx"], 0x7f /* 35 vars */) = 0
10 pwrite64(5</h/hcpx.db-wal>, "\\1\\2"..., 24, 0) = 24
10 fdatasync(5</h/hcpx.db-wal> <unfinished ...>
11 pwrite64(6</h/hcpx.db-wal>, "\\1\\2"..., 24, 0) = 24
10 <... fdatasync resumed>) = 0
12 execve("/usr/bin/true", ["true"], 0x7f /* 3 vars */) = 0
10 fdatasync(5</h/hcpx.db-wal>) = 0
10 write(1<pipe:[1]>, "{\\"ok\\":true}", 11) = 11
"""


def test_a_sync_covers_only_what_was_written_before_it_was_called() -> None:
    seen = list(moments(TRACE.splitlines(), program="/usr/bin/true", answer='"ok":', log=".db-wal"))
    assert seen == [Moment("start", 1, ("/h/hcpx.db-wal",)), Moment("answer", 2, ())]


def report(ratio_of_p1: float) -> Report:
    value = Spread(ratio_of_p1, ratio_of_p1 - 0.5, ratio_of_p1 + 0.25, 60)
    found = Finding(values={"ratio": value}, beside=[Beside("a peer over hcpx", "x", exactly(12))])
    found.absent["another"] = "not installed: no such release"
    return Report(1, "0.1.0", "abc1234", "2026-12-01", 1, {"cores": "2", "python": "3.11.7"}, {"P1": found})


def test_a_report_survives_its_json() -> None:
    one = report(6.5)
    assert Report.from_json(one.to_json()) == one
    with pytest.raises(ValueError, match="format 2, not 1"):
        Report.from_json(one.to_json().replace(b'"format": 1', b'"format": 2'))


def test_rows_with_nothing_to_measure_yet_say_so_and_pretend_nothing() -> None:
    found = report(6.5)
    assert {row.id: verdict(row, found.findings.get(row.id)) for row in ROWS} == {
        "P1": "holds",
        "P2": "comes with a later part",
        "P3": "not measured",
        "P4": "comes with a later part",
        "P5a": "not measured",
        "P5b": "comes with a later part",
        "P6": "not measured",
        "P7": "not measured",
        "P9": "not measured",
        "P8": "comes with a later part",
    }


def test_a_figure_over_its_budget_is_called_that_and_the_exit_status_stays_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "run.json"
    source.write_bytes(report(8.5).to_json())
    assert main(["--from", str(source)]) == 0
    assert "P1   cold `hcpx exec` of a composite read: over budget\n" in capsys.readouterr().out


def test_a_refused_sample_fails_the_command_and_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = report(8.5)
    one.findings["P1"] = Finding(refused="hcpx exec: exit status 77: denied")
    source = tmp_path / "run.json"
    source.write_bytes(one.to_json())
    assert main(["--from", str(source)]) == 1
    assert "hcpx exec: exit status 77: denied" in capsys.readouterr().out


def test_table_and_page_show_the_same_ratio_with_its_spread() -> None:
    one = report(6.5)
    assert "6.5x  6 .. 6.75x" in " ".join(table.render(one).split(" ")).replace("            ", "  ")
    assert "| 6.5x | 6 .. 6.75x | 8x | 4x | holds |" in page.render(one)


def test_the_page_quotes_no_absolute_time() -> None:
    one = report(6.5)
    one.findings["P3"] = Finding(values={"p50": exactly(38.0), "ahead": exactly(2.5)})
    one.findings["P3"].beside.append(Beside("more than the bare spawn", "us", exactly(412)))
    text = page.render(one)
    assert "38" not in text
    assert "412" not in text
    assert "2.5x" in text


@pytest.mark.skipif(not (DOCS / "performance.json").exists(), reason="no run is kept in this checkout")
def test_the_page_in_the_docs_is_made_from_the_run_beside_it() -> None:
    kept = Report.from_json((DOCS / "performance.json").read_bytes())
    assert (DOCS / "performance.md").read_text() == page.render(kept)
