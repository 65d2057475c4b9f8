from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from hcpx.adapters.assembly import directories
from hcpx.sandbox.backends.native import Native
from hcpx.sandbox.job import Backend
from hcpx.vocabulary.binding import Binding
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.invocation import Cancel, Enforced, Program, Ran
from hcpx.vocabulary.policy import Limits
from tests.adapters.world import PATH, World, without_pack

HELD: dict[str, float] = {
    "timeout_s": 60,
    "output_bytes": 8388608,
    "memory_mb": 1024,
    "files": 1024,
    "file_mb": 1024,
    "concurrency": 16,
}
ENFORCED = Enforced("native-local", "unrestricted", ("/",), HELD)
SHOW_ENV = "python3 -I -S -c 'import json, os; print(json.dumps(dict(os.environ)))'"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def ran(answer: Ran | Denial) -> Ran:
    assert isinstance(answer, Ran), answer
    return answer


def not_executable(bin: str, why: str) -> Denial:  # noqa: A002
    return Denial("not_executable", 6, f'sandbox: bin "{bin}" cannot be executed: {why}')


def test_a_success_carries_all_that_the_program_printed(world: World) -> None:
    world.program("echo '{\"n\": 1}'; echo warning >&2")
    assert world.adapter.run(world.invocation()) == Ran(
        value={"n": 1},
        code=None,
        error=None,
        exit_code=0,
        stdout='{"n": 1}\n',
        stderr="warning\n",
        enforced=ENFORCED,
        output_sizes={"stdout": 9, "stderr": 8},
    )
    assert len(world.traces()) == 0


def test_a_failure_keeps_its_json_and_its_error_is_the_trimmed_stderr(world: World) -> None:
    world.program("echo '{\"reason\": \"limit\"}'; printf '\\n \\t no such\\n account \\n\\n' >&2; exit 3")
    assert world.adapter.run(world.invocation()) == Ran(
        value={"reason": "limit"},
        code="exit",
        error="no such\n account",
        exit_code=3,
        stdout='{"reason": "limit"}\n',
        stderr="\n \t no such\n account \n\n",
        enforced=ENFORCED,
        output_sizes={"stdout": 20, "stderr": 23},
    )


@pytest.mark.parametrize(
    ("script", "error", "status"),
    [
        ("exit 3", "exit 3", 3),
        ("echo ' ' >&2; exit 3", "exit 3", 3),
        ("exit 127", "exit 127", 127),
        ("exit 124", "exit 124", 124),
        ("kill -KILL $$", "exit 137", 137),
        ("printf '%05000d' 0 >&2; exit 1", "0" * 4096, 1),
        ("printf 'a\\xffb' >&2; exit 1", "a\ufffdb", 1),
    ],
)
def test_the_error_of_a_program_that_failed(script: str, error: str, status: int, world: World) -> None:
    world.program(script)
    answer = ran(world.adapter.run(world.invocation()))
    assert (answer.code, answer.error, answer.exit_code) == ("exit", error, status)


def test_the_argv_reaches_the_program_as_it_is(world: World) -> None:
    world.program("printf '<%s>' \"$@\"")
    argv = ("", "a b", "$HOME", "é", "--json", "\n", "'")
    assert ran(world.adapter.run(world.invocation(*argv))).stdout == "".join(f"<{part}>" for part in argv)


def test_the_environment_is_made_from_nothing_in_the_order_of_the_specification(world: World) -> None:
    world.program(SHOW_ENV)
    binding = Binding("user", {"TOKEN": "s3cret-value", "BOTH": "binding", "HCP_BINDING": "mock"})
    invocation = world.invocation(binding=binding, agent_env={"FROM_PACK": "yes", "BOTH": "pack", "LANG": "C"})
    found = ran(world.adapter.run(invocation)).value
    assert isinstance(found, dict)
    for name in ("HOME", "TMPDIR"):
        assert Path(found.pop(name)).is_relative_to(world.state)
    shells_own = ("PWD", "SHLVL", "_", "LC_CTYPE")
    assert {name: value for name, value in found.items() if name not in shells_own} == {
        "PATH": PATH,
        "LANG": "C",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "FROM_PACK": "yes",
        "BOTH": "binding",
        "TOKEN": "s3cret-value",
        "HCP_SANDBOX": "native-local",
        "HCP_BINDING": "user",
        "HCP_PACK_ID": "depot",
        "HCP_VERB_KEY": "item.show",
        "HCP_REQUEST_ID": "r-1",
    }


def test_a_call_without_a_request_id_has_its_audit_id_for_one(world: World) -> None:
    world.program("echo $HCP_REQUEST_ID")
    assert ran(world.adapter.run(world.invocation(request_id=None))).stdout == "a-1\n"


def test_secrets_are_hidden_in_streams_value_and_error(world: World) -> None:
    world.program('echo "{\\"t\\": \\"$TOKEN\\"}"; echo "bad $TOKEN" >&2; exit 1')
    binding = Binding("user", {"TOKEN": "s3cret-value"}, secrets=("s3cret-value",))
    answer = ran(world.adapter.run(world.invocation(binding=binding)))
    assert (answer.value, answer.error) == ({"t": "[redacted]"}, "bad [redacted]")
    assert "s3cret" not in repr(answer)


def test_a_file_of_the_binding_is_delivered_by_its_path(world: World) -> None:
    world.program('stat -c %a "$KEY_FILE"; cat "$KEY_FILE"; [ "$KEY_FILE" -ef "$TMPDIR/key.pem" ]')
    binding = Binding("user", file=("key.pem", "line 1\nline é", "KEY_FILE"))
    answer = ran(world.adapter.run(world.invocation(binding=binding)))
    assert (answer.stdout, answer.code) == ("600\nline 1\nline é", None)
    assert len(world.traces()) == 0


@pytest.mark.parametrize(
    ("name", "env"),
    [
        ("", "F"),
        (".", "F"),
        ("..", "F"),
        ("../x", "F"),
        ("a/b", "F"),
        ("/etc/x", "F"),
        ("a\0", "F"),
        ("a", "HCP_X"),
    ],
)
def test_a_file_of_the_binding_cannot_lead_elsewhere(name: str, env: str, world: World) -> None:
    world.program("touch ran")
    answer = world.adapter.run(world.invocation(binding=Binding("user", file=(name, "x", env))))
    assert isinstance(answer, Denial)
    assert answer.code == "sandbox_unavailable"
    assert not (world.pack_root / "ran").exists()


def test_too_much_output_is_cut_marked_and_never_read_as_json(world: World) -> None:
    world.program("printf '[%0300d]' 0; printf '%0200d' 0 >&2")
    answer = ran(world.adapter.run(world.invocation(limits=Limits(output_bytes=100))))
    assert (answer.stdout, answer.value) == ("[" + "0" * 99, "[" + "0" * 99)
    assert (answer.truncated, answer.stderr) == (("stdout", "stderr"), "0" * 100)
    assert answer.output_sizes == {"stdout": 302, "stderr": 200}
    assert answer.code is None


def test_bytes_that_are_not_utf8_are_kept_beside_the_text(world: World) -> None:
    world.program("printf 'a\\xffb'")
    answer = ran(world.adapter.run(world.invocation()))
    assert (answer.stdout, answer.stdout_bytes, answer.stderr_bytes) == ("a\ufffdb", b"a\xffb", None)
    assert answer.value == "a\ufffdb"


def test_a_timeout_names_its_seconds(world: World) -> None:
    world.program("echo partial; exec sleep 300")
    answer = ran(world.adapter.run(world.invocation(limits=Limits(timeout_s=0.5))))
    assert (answer.code, answer.error, answer.exit_code) == ("timeout", "timeout after 0.5 s", 124)
    assert answer.stdout == "partial\n"


def test_a_cancel_while_it_runs_is_cancelled(world: World) -> None:
    world.program("echo up; exec sleep 300")
    cancel = Cancel()
    invocation = world.invocation(cancel=cancel, on_output=lambda *_: cancel.cancel())
    answer = ran(world.adapter.run(invocation))
    assert (answer.code, answer.error, answer.exit_code) == ("cancelled", "cancelled", 130)
    assert answer.started


def test_a_cancel_before_the_start_starts_nothing(world: World) -> None:
    world.program("touch ran")
    cancel = Cancel()
    cancel.cancel()
    assert world.adapter.run(world.invocation(cancel=cancel)) == Denial("cancelled", 6, "cancelled")
    assert not (world.pack_root / "ran").exists()


def test_live_output_is_redacted_and_complete(world: World) -> None:
    world.program('echo "a $TOKEN b"; echo err >&2')
    seen: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    def show(name: str, data: bytes) -> None:
        seen[name] += data

    binding = Binding("user", {"TOKEN": "s3cret-value"}, secrets=("s3cret-value",))
    world.adapter.run(world.invocation(binding=binding, on_output=show))
    assert seen == {"stdout": b"a [redacted] b\n", "stderr": b"err\n"}


def test_a_program_of_the_host_must_be_allowed(world: World) -> None:
    answer = world.adapter.run(world.invocation("-c", "echo hi", bin="sh"))
    assert answer == Denial("not_allowlisted", 6, 'sandbox: bin "sh" not allowlisted', "hcpx allow sh")
    world.allowed["sh"] = os.path.realpath("/bin/sh")
    assert ran(world.adapter.run(world.invocation("-c", "echo hi", bin="sh"))).stdout == "hi\n"


def test_a_bin_that_leaves_the_pack_is_not_started(world: World) -> None:
    shutil.copy("/bin/true", world.root / "probe")
    assert world.adapter.run(world.invocation(bin="../probe")) == Denial(
        "not_allowlisted",
        6,
        'sandbox: bin "../probe" not allowlisted',
        "a program of a pack lies inside the pack's directory",
    )


def test_what_is_wrong_with_the_program_is_named_beforehand_and_at_the_start(world: World) -> None:
    world.program("true")
    (world.pack_root / "tool").chmod(0o600)
    denial = not_executable("./tool", "no run bit")
    assert world.adapter.inspect(world.target()) == denial
    assert world.adapter.run(world.invocation()) == denial


def test_an_argument_beyond_the_kernels_limit_is_named(world: World) -> None:
    world.program("true")
    answer = world.adapter.run(world.invocation("x" * 200_000))
    assert answer == not_executable("./tool", "argument list too long")


def test_inspect_gives_the_real_path_and_the_digest_of_the_content(world: World) -> None:
    world.program("true", "real")
    (world.pack_root / "tool").symlink_to("real")
    first = world.adapter.inspect(world.target())
    assert isinstance(first, Program)
    assert (first.path, len(first.digest)) == (str(world.pack_root / "real"), 64)
    world.program("false", "real")
    second = world.adapter.inspect(world.target())
    assert isinstance(second, Program)
    assert first.digest != second.digest
    assert isinstance(world.adapter.inspect(world.target(bin="nope")), Denial)


def test_mode_pack_runs_in_the_packs_directory(world: World) -> None:
    world.program("pwd -P")
    assert ran(world.adapter.run(world.invocation())).stdout == f"{world.pack_root}\n"


def test_mode_project_runs_in_the_opened_directory(world: World) -> None:
    world.program("pwd -P")
    path, opened = world.project()
    answer = world.adapter.run(world.invocation(workspace="project", directory=opened))
    assert ran(answer).stdout == f"{path}\n"
    assert os.fstat(opened.fd).st_ino == path.stat().st_ino
    opened.close()


def test_a_project_that_is_gone_is_named_and_other_packs_still_run(world: World) -> None:
    world.program("true")
    path, opened = world.project()
    path.rmdir()
    gone = not_executable("./tool", "working directory gone")
    assert world.adapter.run(world.invocation(workspace="project", directory=opened)) == gone
    opened.close()
    never = directories().open(str(path))
    assert world.adapter.run(world.invocation(workspace="project", directory=never)) == gone
    assert world.adapter.run(world.invocation(workspace="project")) == gone
    assert ran(world.adapter.run(world.invocation())).code is None


def test_mode_workspace_lasts_from_call_to_call_and_mode_ephemeral_does_not(world: World) -> None:
    world.program('ls; touch "$1"')
    for mode, lists in (("workspace", ["", "a\n"]), ("ephemeral", ["", ""])):
        assert [
            ran(world.adapter.run(world.invocation(name, workspace=mode))).stdout  # pyright: ignore[reportArgumentType]
            for name in ("a", "b")
        ] == lists
    assert len(world.traces()) == 0


def test_another_principal_has_another_workspace(world: World) -> None:
    world.program('ls; touch "$1"')
    mine = world.invocation("a", workspace="workspace")
    world.adapter.run(mine)
    for session in (
        replace(mine.session, principal="user:grace"),
        replace(mine.session, tenant="beta"),
    ):
        assert ran(world.adapter.run(replace(mine, session=session))).stdout == ""


def test_a_workspace_that_cannot_be_made_is_a_refusal(world: World) -> None:
    world.program("true")
    (world.state / "workspaces").touch()
    assert world.adapter.run(world.invocation(workspace="workspace")) == Denial(
        "sandbox_unavailable",
        6,
        "sandbox: unavailable: no private workspace: Not a directory",
        "hcpx doctor",
    )


def test_a_mock_call_without_a_fixture_is_refused_where_nothing_isolates_it(world: World) -> None:
    world.program("touch ran")
    assert not world.adapter.can_mock(world.target())
    answer = world.adapter.run(world.invocation(mock=True, binding=Binding("mock")))
    assert isinstance(answer, Denial)
    assert (answer.code, answer.step, answer.error) == ("no_mock", 5, "no mock for depot.item.show")
    assert not (world.pack_root / "ran").exists()


def test_where_nothing_isolates_nothing_runs_unless_the_owner_asked_for_this_one_call(world: World) -> None:
    world.program("echo $HCP_SANDBOX")
    refusal = deny("sandbox_unavailable", why="no such thing here")
    native = Native(str(world.state / "calls"))

    def choose(*, native_local: bool) -> Backend | Denial:
        return native if native_local else refusal

    adapter = world.adapter_of(choose)
    assert adapter.run(world.invocation()) == refusal
    assert not adapter.can_mock(world.target())
    assert ran(adapter.run(world.invocation(native_local=True))).stdout == "native-local\n"
    native.close()


def test_a_limit_that_was_asked_for_and_cannot_be_held_is_refused(world: World) -> None:
    world.program("touch ran")
    (world.pack_root / "tool").chmod(0o4700)
    limits = Limits(memory_mb=9, asked=("memory_mb",))
    answer = world.adapter.run(world.invocation(limits=limits))
    assert isinstance(answer, Denial)
    assert answer.error == "sandbox: unavailable: the limit memory_mb cannot be put on a setuid program"
    assert not (world.pack_root / "ran").exists()


def test_calls_past_the_limit_wait_and_are_busy_after_their_own_timeout(world: World) -> None:
    world.program('echo up; read -r _ < "$1"')
    fifo = world.root / "fifo"
    os.mkfifo(fifo)
    up = threading.Event()
    answers: list[Ran | Denial] = []
    first = world.invocation(str(fifo), limits=Limits(concurrency=1), on_output=lambda *_: up.set())
    thread = threading.Thread(target=lambda: answers.append(world.adapter.run(first)))
    thread.start()
    assert up.wait(30)
    busy = world.adapter.run(world.invocation(limits=Limits(concurrency=1, timeout_s=0.01)))
    fifo.write_text("go\n")
    thread.join()
    assert busy == Denial("busy", 6, "busy: concurrency 1", "try again when a running call has ended")
    assert ran(answers[0]).code is None
    world.program("true")
    assert ran(world.adapter.run(world.invocation(limits=Limits(concurrency=1)))).code is None


def test_a_denial_gives_its_place_back(world: World) -> None:
    for _ in range(3):
        answer = world.adapter.run(world.invocation(bin="nope", limits=Limits(concurrency=1, timeout_s=0.01)))
        assert isinstance(answer, Denial)
        assert answer.code == "not_allowlisted"


def test_a_command_without_output_has_an_empty_text_for_a_value(world: World) -> None:
    world.program("true")
    answer = ran(world.adapter.run(world.invocation()))
    assert (answer.value, answer.stdout, answer.stderr) == ("", "", "")
    assert answer.value is not msgspec.UNSET


def test_a_pack_of_another_kind_is_a_bug_and_not_a_denial(world: World) -> None:
    with pytest.raises(TypeError, match="kind wrap"):
        world.adapter.run(without_pack(world.invocation()))


def test_hostile_output_gives_a_value(world: World) -> None:
    for raw in (b"[" * 100_000, b'"\\ud800"', b"1e999", b"-", b'{"a":' * 600, b"\0\0", b"9" * 5000):
        (world.pack_root / "data").write_bytes(raw)
        world.program("cat data")
        answer = ran(world.adapter.run(world.invocation()))
        assert answer.code is None
        assert json.loads(msgspec.json.encode(answer.value)) == answer.value
