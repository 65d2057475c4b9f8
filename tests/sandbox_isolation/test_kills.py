"""The runtime killed at any moment leaves no running program, and none that ran without its limits."""

from __future__ import annotations

import fcntl
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pytest

from hcpx.sandbox import cgroup
from hcpx.sandbox.backends.landlock import ABI, abi
from hcpx.sandbox.choose import Places, choose
from hcpx.sandbox.janitor import Swept, sweep
from hcpx.sandbox.job import NotStarted
from hcpx.sandbox.journal import Journal, identify
from tests.redteam.people import NOBODY, ROOT, SITE, as_user, python
from tests.sandbox_isolation.bench import Bench, processes, until

MOMENTS = int(os.environ.get("HCPX_KILL_MOMENTS", "12"))
UIDS = sorted({os.geteuid(), NOBODY}) if os.geteuid() == 0 else [os.geteuid()]


@pytest.fixture
def open_folder() -> Iterator[pathlib.Path]:
    """A folder that other users may enter: pytest's own are closed to them."""
    folder = tempfile.mkdtemp(prefix="hcpx-kills-")
    yield pathlib.Path(folder)
    shutil.rmtree(folder)


def _groups(pid: int) -> list[str]:
    found = [name for site in cgroup.find().sites for name in os.listdir(site.folder)]
    return [name for name in found if name.startswith(f"hcpx-{pid}-")]


@pytest.mark.slow
@pytest.mark.parametrize("uid", UIDS)
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_a_runtime_killed_at_any_moment_leaves_no_program(open_folder: pathlib.Path, uid: int, kind: str) -> None:
    if kind == "landlock" and abi() < ABI:
        pytest.skip("this kernel has no Landlock of ABI 6 or newer")
    rng = random.Random(4)
    home = open_folder / "home"
    home.mkdir()
    os.chown(home, uid, uid)
    command = as_user(uid, [*python(str(open_folder)), "-m", "tests.sandbox_isolation.victim", kind])
    started = 0
    for moment in range(MOMENTS):
        folder = home / str(moment)
        folder.mkdir()
        os.chown(folder, uid, uid)
        word = f"347.{os.getpid()}{moment:04}"
        started += _killed(
            [*command, str(folder), word],
            word,
            folder,
            rng.uniform(0, 0.06 if kind == "bubblewrap" else 0.12),
        )
    assert started > 0, "no moment was late enough to prove anything"


def _killed(command: list[str], word: str, folder: pathlib.Path, after_s: float) -> bool:
    """Kill one runtime; returns whether its program had begun."""
    runtime = subprocess.Popen(
        command, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert runtime.stdin is not None
    assert runtime.stdout is not None
    assert runtime.stdout.readline() == b"ready\n"
    runtime.stdin.write(b"go\n")
    runtime.stdin.flush()
    time.sleep(after_s)  # the moment itself
    runtime.kill()
    runtime.wait()
    runtime.stdin.close()
    runtime.stdout.close()
    assert until(lambda: not _programs(word)), f"still alive: {[_facts(pid) for pid in _programs(word)]}"
    # what was just being started holds the record's lock until it is another program
    assert until(lambda: bool(sweep(str(folder / "state"))) and not os.listdir(folder / "state" / "running"))
    assert until(lambda: processes(word) == [])
    assert _groups(runtime.pid) == []
    limits = folder / "private" / "workspace" / "limits"
    if not limits.exists():
        return False
    assert set(limits.read_text().splitlines()) <= {"77 0"}
    return True


def _facts(pid: int) -> list[str]:
    told = [pathlib.Path(f"/proc/{pid}/{name}").read_bytes().decode() for name in ("cmdline", "stat", "wchan")]
    return [*told, *(os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))]


def _programs(word: str) -> list[int]:
    """Processes that have come past the gate: a helper that hangs before it is the janitor's."""
    return [pid for pid in processes(word) if not _is_helper(pid)]


def _is_helper(pid: int) -> bool:
    try:
        line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True  # gone meanwhile
    return b"bwrap" in line


@pytest.fixture
def state(tmp_path: pathlib.Path) -> str:
    return str(tmp_path / "state")


def _crashed(state: str, code: str) -> None:
    """Write a journal in a process that ends without clearing up."""
    made = f"from hcpx.sandbox.journal import Journal\njournal = Journal({state!r})\n"
    text = f"import os, sys\n{made}{code}\nos._exit(0)\n"
    subprocess.run([sys.executable, "-c", text], env={"PYTHONPATH": f"{ROOT / 'src'}:{SITE}"}, check=True)


def test_05_a_recorded_process_of_a_dead_runtime_is_ended(state: str) -> None:
    sleeper = subprocess.Popen(["/bin/sleep", "60"])
    _crashed(state, f"journal.started(journal.begin(stdin=0), {sleeper.pid})")
    assert sweep(state) == Swept(1, 1, 0)
    assert sleeper.wait(5) == -9
    assert sweep(state) == Swept()


def test_05_a_process_that_was_never_recorded_is_known_by_its_stdin(state: str) -> None:
    import socket

    ours, theirs = socket.socketpair()
    sleeper = subprocess.Popen(["/bin/sleep", "60"], stdin=theirs.fileno())
    _crashed(state, f"journal.begin(stdin={os.fstat(theirs.fileno()).st_ino})")
    theirs.close()
    assert sweep(state) == Swept(1, 1, 0)
    assert sleeper.wait(5) == -9
    ours.close()


def test_05_another_process_under_the_same_number_is_left_alone(state: str) -> None:
    sleeper = subprocess.Popen(["/bin/sleep", "60"])
    other = f"Process({sleeper.pid}, {identify(sleeper.pid)[0].started - 1})"
    _crashed(
        state,
        "from hcpx.sandbox.journal import Line, Process\n"
        f"run = journal.begin(stdin=0)\njournal._write(Line(run, processes=({other},)))",
    )
    assert sweep(state) == Swept(1, 0, 0)
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


def test_05_what_a_living_runtime_has_started_is_left_alone(state: str) -> None:
    sleeper = subprocess.Popen(["/bin/sleep", "60"])
    journal = Journal(state)
    run = journal.begin(stdin=0)
    journal.started(run, sleeper.pid)
    assert sweep(state) == Swept()
    assert sleeper.poll() is None
    journal.done(run)
    journal.close()
    assert os.listdir(os.path.join(state, "running")) == []
    sleeper.kill()
    sleeper.wait()


def test_05_runs_that_ended_and_records_of_another_boot_or_cut_off_count_for_nothing(state: str) -> None:
    sleeper = subprocess.Popen(["/bin/sleep", "60"])
    _crashed(
        state,
        "keep = journal.begin(stdin=0)\n"
        f"run = journal.begin(stdin=0)\njournal.started(run, {sleeper.pid})\njournal.done(run)",
    )
    name = os.listdir(os.path.join(state, "running"))[0]
    path = pathlib.Path(state, "running", name)
    path.write_bytes(path.read_bytes() + b'{"run": 9, "processes": [{"pid": %d, "st' % sleeper.pid)
    assert sweep(state) == Swept(1, 0, 0)
    _crashed(state, f"journal.started(journal.begin(stdin=0), {sleeper.pid})")
    name = os.listdir(os.path.join(state, "running"))[0]
    path = pathlib.Path(state, "running", name)
    path.write_bytes(path.read_bytes().replace(b'"boot":"', b'"boot":"x'))
    assert sweep(state) == Swept()
    assert sleeper.poll() is None
    sleeper.kill()
    sleeper.wait()


def test_a_record_that_is_swept_before_it_is_locked_is_made_anew(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = fcntl.flock
    found: list[Swept] = []

    def late(file: int, how: int) -> None:
        if not found:
            monkeypatch.undo()
            found.append(sweep(state))
        lock(file, how)

    monkeypatch.setattr("hcpx.sandbox.journal.fcntl.flock", late)
    journal = Journal(state)
    run = journal.begin(stdin=0)
    assert len(os.listdir(os.path.join(state, "running"))) == 1
    assert sweep(state) == Swept()
    assert len(os.listdir(os.path.join(state, "running"))) == 1
    journal.done(run)
    journal.close()


def test_a_record_that_two_sweep_is_swept_once(state: str) -> None:
    _crashed(state, "journal.begin(stdin=0)")
    path = next(pathlib.Path(state, "running").iterdir())
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert sweep(state) == Swept()
    assert sweep(state) == Swept(1, 0, 0)


def test_where_a_run_cannot_be_written_down_nothing_is_started(bench: Bench) -> None:
    running = pathlib.Path(bench.state, "running")
    for path in running.iterdir():
        path.unlink()
    running.rmdir()
    running.write_text("in the way")
    backend = choose("sandbox", Places(bench.state, (bench.private,)), ("bubblewrap",))
    assert not isinstance(backend, NotStarted)
    outcome = backend.run(bench.shell("echo ran >ran"))
    assert isinstance(outcome, NotStarted)
    assert os.listdir(bench.workspace) == []
