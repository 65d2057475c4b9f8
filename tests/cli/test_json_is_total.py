"""Whatever stands on the line: with `--json` one JSON document or help, without it one message; never a trace."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hcpx import __main__
from tests.cli.shell import run
from tests.cli.test_groups import LEAVES

# Commands that wait for somebody, take seconds, or write into the current directory.
SLOW = {"demo", "conformance", "approvals watch", "pack new"}
STATUSES = {0, 1, 2, 64, 65, 66, 69, 70, 73, 75, 77, 78, 124, 127}
WORDS = sorted({word for words in LEAVES for word in words.split()} - {"demo", "conformance", "watch", "new"})
OPTIONS = sorted(
    {option for one in LEAVES.values() for param in one.params for option in param.opts if option[:1] == "-"}
)
odd = st.text(st.characters(exclude_characters="\0"), max_size=8) | st.binary(max_size=8).map(
    lambda data: data.replace(b"\0", b"").decode("utf-8", "surrogateescape")
)
word = st.sampled_from(["ledger", "transit", "stops", "*", "-", "--", "x=y", "x:=[", "@", "user:ada", ""]) | odd
lines = st.one_of(
    st.lists(st.sampled_from(WORDS) | st.sampled_from(OPTIONS) | word, max_size=7),
    st.tuples(
        st.sampled_from(sorted(set(LEAVES) - SLOW)).map(str.split),
        st.lists(st.sampled_from(OPTIONS) | word, max_size=5),
    ).map(lambda parts: [*parts[0], *parts[1]]),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, made_store: Path) -> Path:
    home = tmp_path_factory.mktemp("total") / "home"
    shutil.copytree(made_store, home, symlinks=True)
    return home


def called(home: Path, words: list[str]) -> tuple[int, bytes, bytes]:
    """Run a line in this process, on streams of bytes and in an environment of its own."""
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("HCP_", "CI"))]:
            patch.delenv(name)
        patch.setenv("HCP_HOME", str(home))
        patch.setattr(sys, "argv", ["hcpx", *words])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        patch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="utf-8", write_through=True))
        patch.setattr(sys, "stderr", io.TextIOWrapper(err, errors="backslashreplace", write_through=True))
        return __main__.main(), out.getvalue(), err.getvalue()


def judge(words: list[str], status: int, out: bytes, err: bytes) -> None:
    assert status in STATUSES, (words, status)
    assert b"Traceback" not in out + err
    assert b"internal error" not in out + err, (words, out, err)
    if "--json" not in words or "--" in words[: words.index("--json")]:
        return
    if (
        out.startswith((b"Usage: ", b"usage: ", b"hcpx 0.", b"_hcpx", b"#compdef", b"function _hcpx"))
        or b"_HCPX_COMPLETE" in out
    ):
        return
    assert err == b"", (words, err)
    json.loads(out)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(words=lines)
def test_any_line_with_json_answers_with_one_document(place: Path, words: list[str]) -> None:
    line = [*words[:2], "--json", *words[2:]] if words[:1] != ["exec"] else ["exec", "--json", *words[1:]]
    judge(line, *called(place, line))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(words=lines)
def test_any_line_without_json_ends_with_a_message(place: Path, words: list[str]) -> None:
    line = [word for word in words if word != "--json"]
    status, out, err = called(place, line)
    judge(line, status, out, err)
    assert status == 0 or err or out


@pytest.mark.parametrize(
    "words",
    [
        [b"exec", b"\xff\xfe", b"\xc3\x28", b"--json"],
        [b"exec", b"ledger", b"balance", b"--json", b"--", b"\xff=\xfe"],
        [b"pack", b"show", b"\xff", b"--json"],
        [b"\xff", b"--json"],
        [b"session", b"new", b"--actor", b"agent:\xf0\x28\x8c\x28", b"--json"],
        [b"exec", b"\x1b[31m", b"x\r\n", b"--json"],
    ],
    ids=["ids", "args", "show", "command", "actor", "escapes"],
)
def test_odd_bytes_in_argv_give_one_json_error(words: list[bytes], store: Path) -> None:
    said = run(store, *words)
    assert (said.document()["ok"], said.err) == (False, "")
    assert said.status not in {0, 70}
    assert "\x1b" not in said.out


@pytest.mark.parametrize("lang", ["C", "POSIX", "de_DE.ISO-8859-1"])
def test_a_locale_that_cannot_say_it_changes_nothing(lang: str, store: Path) -> None:
    words = ("exec", "transit", "plan", "--json", "--", "from=Zürich", "to=B")
    said = run(store, *words, LC_ALL=lang)
    assert (said.status, said.document()["ok"]) == (1, False)
    people = run(store, *words[:3], *words[4:], LC_ALL=lang, PYTHONIOENCODING="ascii")
    assert people.status == 1
    assert "Traceback" not in people.err
