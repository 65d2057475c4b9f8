"""Real programs do their work inside (Spec 04)."""

from __future__ import annotations

import os
import pathlib
import shutil

import pytest

from hcpx.sandbox import selftest
from hcpx.sandbox.job import Ended, PrivateFile
from tests.sandbox_isolation.bench import Bench

pytestmark = pytest.mark.slow


def output(bench: Bench, program: str, *argv: str, **more: object) -> str:
    path = shutil.which(program, path="/usr/local/bin:/usr/bin:/bin")
    if path is None:
        pytest.skip(f"no {program} on this machine")
    outcome = bench.backend.run(bench.job(path, *argv, **more))
    assert isinstance(outcome, Ended), outcome
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.stdout.decode()


def test_git_keeps_a_history_in_a_project(bench: Bench) -> None:
    def git(*argv: str) -> str:
        directory = selftest.Folder(bench.project)
        names = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
        return output(bench, "git", *names, *argv, directory=directory, env={"PATH": "/usr/bin:/bin"})

    pathlib.Path(bench.project, "file").write_text("one\n")
    git("init", "-q")
    git("add", "file")
    git("commit", "-qm", "First")
    pathlib.Path(bench.project, "file").write_text("two\n")
    assert git("log", "--format=%s").strip() == "First"
    assert "+two" in git("diff")
    assert git("rev-parse", "--show-toplevel").strip() == bench.project


def test_sqlite3_reads_and_writes(bench: Bench) -> None:
    assert output(bench, "sqlite3", "data.db", "create table t(a); insert into t values(7); select a from t") == "7\n"
    assert output(bench, "sqlite3", "-readonly", "data.db", "select a from t") == "7\n"


def test_psql_is_started_under_its_own_name(bench: Bench) -> None:
    assert output(bench, "psql", "--version").startswith("psql (PostgreSQL)")


def test_jq_works(bench: Bench) -> None:
    pathlib.Path(bench.workspace, "in.json").write_text('{"a": [1, 2]}')
    assert output(bench, "jq", "-c", ".a", "in.json") == "[1,2]\n"


def test_node_works(bench: Bench) -> None:
    told = "(e, out) => console.log(e, out.trim(), process.cwd())"
    script = f"require('child_process').execFile('id', ['-un'], {told})"
    assert output(bench, "node", "-e", script) == "null sandbox /workspace\n"


def test_python_works_with_threads_and_processes(bench: Bench) -> None:
    script = (
        "import subprocess, tempfile, threading, getpass, os\n"
        "done = []\n"
        "t = threading.Thread(target=lambda: done.append(1)); t.start(); t.join()\n"
        "with tempfile.NamedTemporaryFile() as file: name = file.name\n"
        "out = subprocess.run(['/bin/echo', 'x'], capture_output=True, check=True).stdout\n"
        "print(done, out, name.startswith('/tmp/'), os.path.expanduser('~'), getpass.getuser())\n"
    )
    assert output(bench, "python3", "-c", script) == "[1] b'x\\n' True /home/sandbox sandbox\n"


def test_a_private_file_is_there_for_its_owner_alone(bench: Bench) -> None:
    file = PrivateFile("token.json", b"\x00secret", "TOKEN_FILE")
    script = 'stat -c "%a %U" "$TOKEN_FILE" "$(dirname "$TOKEN_FILE")"; od -An -c "$TOKEN_FILE"'
    script += '; echo "$TOKEN_FILE"'
    told = output(bench, "sh", "-c", script, secrets=(file,)).split("\n")
    assert told[0:2] == ["600 sandbox", "700 sandbox"]
    assert told[2].split() == ["\\0", *"secret"]
    assert told[3] == "/tmp/.private/token.json"


def test_a_read_only_path_is_shown_under_its_own_name(bench: Bench) -> None:
    folder = os.path.join(bench.folder, "shown")
    os.mkdir(folder)
    pathlib.Path(folder, "file").write_text("seen")
    secret = pathlib.Path(bench.folder, "login")
    secret.write_text("login state")
    secret.chmod(0o600)
    script = f"cat {folder}/file {secret}; (echo x >{folder}/file) 2>/dev/null || echo ' firm'"
    assert output(bench, "sh", "-c", script, read_only=(folder, str(secret))) == "seenlogin state firm\n"


def test_a_pack_is_seen_but_never_written(bench: Bench) -> None:
    pathlib.Path(bench.pack, "data").write_text("packed")
    script = "cat data; pwd; (echo x >data) 2>/dev/null || echo firm"
    told = output(bench, "sh", "-c", script, directory=selftest.Folder(bench.pack), writable=True)
    assert told == "packed/pack\nfirm\n"


def test_a_project_without_land_local_is_read_only(bench: Bench) -> None:
    script = "(echo x >new) 2>/dev/null || echo firm; pwd"
    told = output(bench, "sh", "-c", script, directory=selftest.Folder(bench.project), writable=False)
    assert told == f"firm\n{bench.project}\n"
    assert os.listdir(bench.project) == []


def test_a_private_workspace_is_kept_from_call_to_call(bench: Bench) -> None:
    output(bench, "sh", "-c", "mkdir -p deep && echo kept >deep/file")
    assert output(bench, "sh", "-c", "cat deep/file && echo more >>deep/file && wc -l <deep/file") == "kept\n2\n"


def test_a_workspace_of_another_time_is_made_over_without_following_links(bench: Bench) -> None:
    outside = pathlib.Path(bench.folder, "outside")
    outside.write_text("host")
    owner = outside.stat().st_uid
    os.symlink(outside, os.path.join(bench.workspace, "link"))
    os.link(outside, os.path.join(bench.workspace, "second-name"))
    pathlib.Path(bench.workspace, "file").write_text("old")
    output(bench, "sh", "-c", "echo new >file")
    assert outside.stat().st_uid == owner
    assert pathlib.Path(bench.workspace, "file").read_text() == "new\n"


def test_a_hostile_workspace_changes_nothing(bench: Bench) -> None:
    for name in ("a\nb", " ", "-rf", "\\", "$(id)"):
        pathlib.Path(bench.workspace, name).touch()
    os.mkfifo(os.path.join(bench.workspace, "fifo"))
    os.symlink("/proc/1/root", os.path.join(bench.workspace, "root"))
    os.symlink("loop", os.path.join(bench.workspace, "loop"))
    for number in range(2000):
        pathlib.Path(bench.workspace, f"file{number}").touch()
    assert output(bench, "sh", "-c", "ls -A | wc -l").strip() == "2009"  # one name takes two lines
