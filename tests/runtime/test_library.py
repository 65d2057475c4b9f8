"""The SDK in process (Spec 05 section 3): one signature, Results, no exception for what an envelope carries."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from hcpx import Cancel, Hcp, Result
from hcpx.runtime import BadSettings, Runtime, StoreUnavailable
from tests.runtime.conftest import House


@pytest.fixture
def hcp(house: House) -> Iterator[Hcp]:
    house.installed()
    with Hcp.open(home=str(house.home)) as opened:
        yield opened


def test_a_result_is_true_where_ok_and_matches_on_its_code(hcp: Hcp) -> None:
    result = hcp.exec("tool", "see", {"what": 2**70})
    assert result
    assert result.result == {"argv": ["see", str(2**70), "--json"]}
    match hcp.exec("tool", "set"):
        case Result(ok=False, code="confirm_required", step=4):
            pass
        case other:
            pytest.fail(repr(other))


@pytest.mark.parametrize(
    "envelope",
    [
        {"pack_id": "tool", "verb_key": "see"},
        '{"pack_id": "tool", "verb_key": "see"}',
        b'{"surface_id": "tool", "verb_key": "see", "args": {}}',
    ],
    ids=["mapping", "text", "bytes"],
)
def test_an_envelope_may_be_a_mapping_text_or_bytes(hcp: Hcp, envelope: Any) -> None:
    assert hcp.exec(envelope).result == {"argv": ["see", "--json"]}


@pytest.mark.parametrize("envelope", [b"\xff", "", "[]", {}, {"pack_id": object()}, {1: 2}], ids=repr)
def test_what_is_no_envelope_is_a_result_too(hcp: Hcp, envelope: Any) -> None:
    assert (hcp.exec(envelope).ok, hcp.exec(envelope).code) == (False, "invalid_envelope")


def test_a_wrong_python_type_in_the_positional_form_is_a_type_error(hcp: Hcp) -> None:
    with pytest.raises(TypeError, match="pack and a verb"):
        hcp.exec(1, "see")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="mapping"):
        hcp.exec("tool", "see", ["a"])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("beside", [{"args": {}}, {"request_id": "r"}, {"idempotency_key": "k"}], ids=str)
def test_what_stands_beside_an_envelope_is_never_ignored(hcp: Hcp, beside: dict[str, Any]) -> None:
    envelope = {"pack_id": "tool", "verb_key": "set", "args": {"confirm": True}}
    with pytest.raises(TypeError, match="in the envelope"):
        hcp.exec(envelope, **beside)
    with pytest.raises(TypeError, match="in the envelope"):
        asyncio.run(hcp.aexec(envelope, **beside))


def test_request_id_and_idempotency_key_go_into_the_envelope(hcp: Hcp) -> None:
    first = hcp.exec("tool", "set", {"confirm": True}, request_id="r-1", idempotency_key="k-1")
    again = hcp.exec("tool", "set", {"confirm": True}, request_id="r-2", idempotency_key="k-1")
    assert (first.request_id, again.request_id) == ("r-1", "r-2")
    assert again.warnings == (f"replayed: this is the recorded result of {first.audit_id}",)
    assert hcp.exec("tool", "set", {"confirm": True, "x": 1}, idempotency_key="k-1").code == "idempotency_conflict"


def test_a_session_token_narrows_the_caller(house: House, hcp: Hcp) -> None:
    token, _ = house.owner.new_session(actor="agent:claude", packs=["tool"], read_only=True)
    agent = Hcp.open(home=str(house.home), session=token)
    assert agent.exec("tool", "see").ok
    assert agent.exec("tool", "set", {"confirm": True}).code == "denied"
    assert token not in repr(agent)
    agent.close()


@pytest.mark.parametrize("token", ["", "hcps_unknown", "\ud800"], ids=repr)
def test_a_dead_token_never_becomes_the_owner(hcp: Hcp, house: House, token: str) -> None:
    dead = Hcp.open(home=str(house.home), session=token)
    assert dead.exec("tool", "see").code == "unauthenticated"
    dead.close()


def test_hcp_session_names_the_session(house: House, hcp: Hcp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HCP_SESSION", "")
    empty = Hcp.open(home=str(house.home))
    assert empty.exec("tool", "see").code == "unauthenticated"
    empty.close()


def test_output_streams_while_the_program_runs(hcp: Hcp) -> None:
    seen: list[tuple[str, bytes]] = []
    result = hcp.exec("tool", "see", {"what": "x"}, on_output=lambda stream, data: seen.append((stream, data)))
    assert b"".join(data for stream, data in seen if stream == "stdout").decode() == result.stdout


def test_cancel_ends_a_running_call_from_another_thread(hcp: Hcp) -> None:
    cancel, ended = Cancel(), Event()
    found: list[Result] = []

    def call() -> None:
        found.append(hcp.exec("tool", "sleep", {"s": 60}, cancel=cancel))
        ended.set()

    Thread(target=call).start()
    cancel.cancel()
    assert ended.wait(20)
    assert (found[0].ok, found[0].code) == (False, "cancelled")


def test_aexec_gives_the_same_result(hcp: Hcp) -> None:
    result = asyncio.run(hcp.aexec("tool", "see", {"what": "x"}))
    assert result.result == {"argv": ["see", "x", "--json"]}


def test_cancelling_the_task_of_aexec_cancels_the_call_and_records_it(house: House, hcp: Hcp) -> None:
    async def cancelled() -> None:
        task = asyncio.ensure_future(hcp.aexec("tool", "sleep", {"s": 60}))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    from hcpx.audit.views import Filter

    newest = house.runtime.books.audit.list(["local"], Filter(verb_key="sleep"))[0]
    assert newest["code"] == "cancelled"


def test_availability_and_skill_are_methods(hcp: Hcp) -> None:
    rows = hcp.availability("tool", "see")
    assert [(row["verb_key"], row["available"]) for row in rows] == [("see", True)]
    leads: Any = hcp.skill("tool")
    assert [lead["name"] for lead in leads] == ["tool"]
    assert "see" in str(hcp.skill("tool", "tool", full=True))
    with pytest.raises(LookupError, match="unknown pack nope"):
        hcp.skill("nope")


def test_opening_makes_the_store_once_and_needs_no_ceremony(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    with Hcp.open(home=str(home)) as first:
        assert first.exec("hcp-cli", "hcp.list").ok
    assert os.stat(home).st_mode & 0o777 == 0o700
    with Hcp.open(home=str(home)) as second:
        assert second.exec("hcp-cli", "hcp.list").ok


def test_a_reader_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        Runtime.open(home=str(tmp_path / "home"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("HCP_SESION", "unknown setting HCP_SESION in the environment, did you mean HCP_SESSION?"),
        ("HCP_QWERTYUIOPQ", "unknown setting HCP_QWERTYUIOPQ in the environment; known are "),
    ],
    ids=["near", "far"],
)
def test_an_unknown_setting_refuses_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(BadSettings) as refused:
        Hcp.open(home=str(tmp_path / "home"))
    assert str(refused.value).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_importing_hcpx_loads_nothing_of_it() -> None:
    import subprocess
    import sys

    code = "import sys, hcpx; print([m for m in sys.modules if m.startswith('hcpx.')], hcpx.__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("[]")


@pytest.mark.parametrize(
    "error", [BrokenPipeError(), ValueError("closed"), StoreUnavailable("another store")], ids=repr
)
@pytest.mark.parametrize("mode", ["sandbox", "native-local"])
def test_a_write_whose_viewer_breaks_is_recorded_as_unknown_and_never_runs_twice(
    house: House, mode: str, error: Exception
) -> None:
    house.owner.configure("sandbox", mode)
    house.installed()

    def gone(_stream: str, _data: bytes) -> None:
        raise error

    with Hcp.open(home=str(house.home)) as hcp:
        keyed: dict[str, Any] = {"args": {"confirm": True}, "idempotency_key": "k"}
        first = hcp.exec("tool", "set", **keyed, on_output=gone)
        assert (first.code, hcp.exec("tool", "set", **keyed).code) == ("internal", "outcome_unknown")
    view = house.runtime.view(None)
    assert view is not None
    entry = view.call(first.audit_id)
    assert (entry["decision"], entry["outcome"], entry["code"]) == ("allowed", "unknown", "internal")


def test_a_call_on_a_closed_store_is_a_result_that_says_so(house: House) -> None:
    house.installed()
    closed = Hcp.open(home=str(house.home))
    closed.close()
    result = closed.exec("tool", "see")
    assert (result.ok, result.code) == (False, "store_unavailable")
    assert str(result.error).endswith("hcpx.db was closed by this process; open it again")


def test_where_children_are_ignored_nothing_is_started_whenever_that_began(house: House) -> None:
    house.installed()
    assert house.call("see").ok
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        result = house.call("see")
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert (result.ok, result.code) == (False, "sandbox_unavailable")
    assert house.call("see").ok
