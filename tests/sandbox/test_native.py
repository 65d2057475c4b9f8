from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.job import Ended, Job, NotStarted, PrivateFile
from hcpx.sandbox.workspace import Folder
from hcpx.vocabulary.invocation import Cancel, Enforced, Program
from hcpx.vocabulary.policy import Limits
from tests.sandbox.running import PATH, PYTHON, alive, token

SHOW = """
import json, os
found = {name: value for name, value in os.environ.items() if name != "LC_CTYPE"}
places = [name for name in ("HOME", "TMPDIR", "SECRET_FILE") if name in found]
rights = {name: oct(os.stat(found[name]).st_mode) for name in places}
inside = sorted(os.listdir(found["TMPDIR"])) if "TMPDIR" in found else None
secret = open(found["SECRET_FILE"]).read() if "SECRET_FILE" in found else None
told = {"env": found, "rights": rights, "inside": inside, "secret": secret, "cwd": os.getcwd()}
print(json.dumps(told))
"""


if TYPE_CHECKING:
    from collections.abc import Iterator


class World:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls = root / "calls"
        self.native = Native(str(self.calls))
        self.folder = Folder(str(root), os.open(root, os.O_PATH))

    def job(self, program: str, *args: str, **changes: object) -> Job:
        given: dict[str, object] = {
            "program": Program(PYTHON),
            "name": "tool",
            "argv": ("-I", "-S", "-c", program, *args),
            "env": {"PATH": PATH},
            "pack_root": "/",
            "directory": self.folder,
            "writable": False,
            "limits": Limits(),
            "keep": 65536,
            "cancel": Cancel(),
            **changes,
        }
        return Job(**given)  # pyright: ignore[reportArgumentType]

    def run(self, program: str, *args: str, **changes: object) -> Ended | NotStarted:
        return self.native.run(self.job(program, *args, **changes))

    def shown(self, **changes: object) -> dict[str, object]:
        ended = self.run(SHOW, **changes)
        assert isinstance(ended, Ended)
        assert ended.stderr == b""
        return json.loads(ended.stdout)

    def close(self) -> None:
        self.folder.close()
        self.native.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path.resolve())
    yield made
    made.close()


def test_the_environment_is_the_jobs_with_a_private_home_and_temporary_folder(world: World) -> None:
    shown = world.shown(env={"PATH": PATH, "A": "1"})
    env = shown.pop("env")
    assert isinstance(env, dict)
    private = Path(env["HOME"]).parent
    assert private.parent == world.calls
    assert env == {"PATH": PATH, "A": "1", "HOME": f"{private}/home", "TMPDIR": f"{private}/tmp"}
    rights = {"HOME": "0o40700", "TMPDIR": "0o40700"}
    assert shown == {"rights": rights, "inside": [], "secret": None, "cwd": str(world.root)}
    world.close()
    assert list(world.calls.iterdir()) == []


def test_a_private_file_is_for_the_user_alone_and_gone_afterwards(world: World) -> None:
    shown = world.shown(files=(PrivateFile("key.pem", "sécret\n".encode(), "SECRET_FILE"),))
    env, rights = shown["env"], shown["rights"]
    assert isinstance(env, dict)
    assert isinstance(rights, dict)
    assert env["SECRET_FILE"] == env["TMPDIR"] + "/key.pem"
    assert (rights["SECRET_FILE"], shown["inside"], shown["secret"]) == ("0o100600", ["key.pem"], "sécret\n")
    assert not Path(env["TMPDIR"]).exists()
    world.close()
    assert list(world.calls.iterdir()) == []


def test_what_the_program_leaves_in_its_private_folders_is_gone_afterwards(world: World) -> None:
    program = (
        "import os\n"
        "for name in ('HOME', 'TMPDIR'):\n"
        "    os.makedirs(os.environ[name] + '/a/b')\n"
        "    open(os.environ[name] + '/a/b/c\\n', 'w').close()\n"
        "    os.chmod(os.environ[name] + '/a/b', 0)\n"
        "    os.chmod(os.environ[name], 0o500)\n"
    )
    ended = world.run(program)
    assert isinstance(ended, Ended)
    assert (ended.exit_code, ended.warnings) == (0, ())
    assert list(world.calls.iterdir()) == []


def test_a_call_never_sees_what_an_earlier_one_left(world: World) -> None:
    for _ in range(3):
        assert world.shown()["inside"] == []
        assert isinstance(world.run("import os\nopen(os.environ['TMPDIR'] + '/left', 'w').close()"), Ended)


def test_a_pack_that_may_set_its_home_has_it(world: World) -> None:
    env = world.shown(env={"HOME": "/", "TMPDIR": "/"})["env"]
    assert env == {"HOME": "/", "TMPDIR": "/"}


def test_what_held_is_told_as_it_is_and_the_same_beforehand(world: World) -> None:
    ended = world.run("pass")
    assert isinstance(ended, Ended)
    held: dict[str, float] = {
        "timeout_s": 60,
        "output_bytes": 8388608,
        "memory_mb": 1024,
        "files": 1024,
        "file_mb": 1024,
    }
    assert ended.enforced == Enforced("native-local", "unrestricted", ("/",), held)
    assert world.native.enforced(world.job("pass")) == ended.enforced
    assert not world.native.can_mock()


def test_a_timeout_and_a_cancel_have_statuses_of_their_own(world: World) -> None:
    cancel = Cancel()
    cancel.cancel()
    stopped = world.run("import time\ntime.sleep(300)", cancel=cancel)
    late = world.run("import time\nprint('up', flush=True)\ntime.sleep(300)", limits=Limits(timeout_s=0.5))
    assert isinstance(stopped, Ended)
    assert isinstance(late, Ended)
    assert (stopped.how, stopped.exit_code) == ("cancelled", 130)
    assert (late.how, late.exit_code, late.stdout) == ("timeout", 124, b"up\n")


def test_an_orphan_that_hides_its_environment_is_ended_with_the_call(world: World) -> None:
    mark = token()
    program = (
        "import os, sys, time\n"
        "time.sleep(0.05)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        loop = \"trap '' TERM; while :; do sleep 1; done\"\n"
        "        os.execve('/bin/sh', ['sh', '-c', loop, sys.argv[1]], {})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    ended = world.run(program, mark)
    assert isinstance(ended, Ended)
    assert ended.exit_code == 0
    assert alive(mark) == []


def test_a_start_that_fails_leaves_no_private_folder(world: World) -> None:
    job = world.job("pass", files=(PrivateFile("key", b"x", "KEY"),))
    answer = world.native.run(replace(job, program=Program("/nowhere")))
    assert answer == NotStarted("not_executable", "no such file")
    assert list(world.calls.iterdir()) == []


def test_a_private_folder_that_cannot_be_made_is_a_refusal(world: World) -> None:
    world.calls.touch()
    answer = world.run("pass")
    assert answer == NotStarted("sandbox_unavailable", "no private folder: File exists")


def test_a_private_file_that_cannot_be_written_is_a_refusal(world: World) -> None:
    answer = world.run("pass", files=(PrivateFile("x" * 300, b"x", "KEY"),))
    assert answer == NotStarted("sandbox_unavailable", "no private folder: File name too long")
    world.close()
    assert list(world.calls.iterdir()) == []
