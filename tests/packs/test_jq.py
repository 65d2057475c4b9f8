"""Filters and file names that reach past the file: jq lets them, the pack does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.packs.shipped import exec_in, needs, refusal, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("jq")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "users.json").write_text('{"users": [{"name": "Ada", "age": 36}, {"name": "Grace", "age": 45}]}')
    (made / "lines.jsonl").write_text('{"n": 1}\n{"n": 2}\n')
    (tmp_path / "secret.json").write_text('"secret"')
    return made


def query(folder: Path, filter_: str, file: str = "users.json") -> tuple[int, Any]:
    done = exec_in(folder, "jq", "query", {"file": file, "filter": filter_})
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else None


@pytest.mark.parametrize(
    ("filter_", "result"),
    [
        (".users[].name", ["Ada", "Grace"]),
        (".users | length", [2]),
        (".users[] | select(.age > 40) | {name}", [{"name": "Grace"}]),
        ("empty", []),
        ("1, 2 # a comment", [1, 2]),
        ("def two: 2; two", [2]),
        ("-1", [-1]),
    ],
)
def test_the_result_is_one_list_of_all_outputs(filter_: str, result: list[Any], folder: Path) -> None:
    assert query(folder, filter_) == (0, result)


def test_every_document_of_the_file_is_asked(folder: Path) -> None:
    assert query(folder, ".n", "lines.jsonl") == (0, [1, 2])


def test_import_reads_another_file_in_plain_jq_and_not_here(folder: Path) -> None:
    (folder / "other.json").write_text('"private"')
    filter_ = 'import "other" as $d; $d'
    assert b"private" in run(["jq", "-L", ".", "-n", filter_], folder).stdout
    for text in (filter_, f"1)] | {filter_} | [(1", f"1) ] ; {filter_}"):
        assert query(folder, text) == (3, None)


@pytest.mark.parametrize("filter_", ["--help", "--rawfile", "-n", "-L..", "--args"])
def test_an_option_as_filter_is_a_filter(filter_: str, folder: Path) -> None:
    done = exec_in(folder, "jq", "query", {"file": "users.json", "filter": filter_})
    assert (done.returncode, done.stdout) == (3, b"")


def test_an_option_as_file_is_a_file(folder: Path) -> None:
    assert run(["jq", ".", "--version"], folder).stdout.startswith(b"jq-")
    assert query(folder, ".", "--version") == (2, [])
    (folder / "-n").write_text("7")
    assert query(folder, ".", "-n") == (0, [7])


@pytest.mark.parametrize("file", ["../secret.json", "/etc/passwd", "a/../../secret.json", "./users.json", "a//b", ""])
def test_a_file_that_is_no_plain_path_below_the_project_is_refused(file: str) -> None:
    assert refusal("jq", "query", {"file": file, "filter": "."}) == "/file"
