"""SQL and file names that reach past the database: sqlite3 lets them, the pack does not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.packs.shipped import as_nobody, compiled, exec_in, names, needs, open_folder, refusal, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs("sqlite3", "setpriv")


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as made:
        sh(made, "mkdir data")
        plain(made, "CREATE TABLE t(id INTEGER PRIMARY KEY, name); INSERT INTO t VALUES(1, 'Ada'), (2, 'Grace')")
        (made.parent / "secret").write_text("secret")
        yield made


def sh(folder: Path, script: str) -> str:
    done = run([*as_nobody(), "sh", "-ec", script], folder)
    return (done.stdout + done.stderr).decode()


def plain(folder: Path, sql: str) -> str:
    """The same SQL without the pack's guards."""
    done = run([*as_nobody(), "sqlite3", "data/app.db", sql], folder)
    return (done.stdout + done.stderr).decode()


def ask(folder: Path, sql: str, verb: str = "query", database: str = "data/app.db") -> tuple[int, Any, str]:
    done = exec_in(folder, "sqlite", verb, {"database": database, "sql": sql})
    out = done.stdout.decode()
    return done.returncode, json.loads(out) if out.strip() else None, done.stderr.decode()


def rows(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / "data/app.db") as db:
        found = db.execute("SELECT * FROM t ORDER BY id").fetchall()
    db.close()
    return found


def test_a_query_gives_rows_by_name(folder: Path) -> None:
    assert ask(folder, "SELECT * FROM t") == (0, [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}], "")


def test_a_query_may_begin_with_a_comment(folder: Path) -> None:
    assert ask(folder, "-- all of them\nSELECT count(*) AS n FROM t") == (0, [{"n": 2}], "")


def test_tables_and_schema_describe_the_database(folder: Path) -> None:
    plain(folder, "CREATE VIEW v AS SELECT name FROM t")
    done = exec_in(folder, "sqlite", "tables", {"database": "data/app.db"})
    assert json.loads(done.stdout) == [{"name": "t", "type": "table"}, {"name": "v", "type": "view"}]
    done = exec_in(folder, "sqlite", "schema", {"database": "data/app.db"})
    assert [entry["sql"] for entry in json.loads(done.stdout)] == [
        "CREATE TABLE t(id INTEGER PRIMARY KEY, name)",
        "CREATE VIEW v AS SELECT name FROM t",
    ]


def test_a_query_cannot_write(folder: Path) -> None:
    status, out, err = ask(folder, "DELETE FROM t")
    assert (status != 0, out) == (True, None)
    assert "readonly" in err
    assert len(rows(folder)) == 2


@pytest.mark.parametrize("command", [".shell echo ran", ".system echo ran", '.read "|echo .print ran"'])
@pytest.mark.parametrize("verb", ["query", "exec"])
def test_a_dot_command_runs_a_program_in_plain_sqlite3_and_not_here(verb: str, command: str, folder: Path) -> None:
    assert plain(folder, command) == "ran\n"
    status, out, _ = ask(folder, command, verb)
    assert (status != 0, out) == (True, None)


def test_safe_mode_stops_dot_commands_by_itself(folder: Path) -> None:
    """Without the blank that the pack puts in front of the SQL, and in later versions that may skip it."""
    done = run([*as_nobody(), "sqlite3", "-safe", "data/app.db", ".shell echo ran"], folder)
    assert (done.returncode != 0, done.stdout) == (True, b"")


def test_an_option_as_sql_is_sql(folder: Path) -> None:
    assert run(["sqlite3", "data/app.db", "-cmd", ".shell echo ran"], folder).stdout == b"ran\n"
    status, out, _ = ask(folder, "-cmd")
    assert (status != 0, out) == (True, None)


REACHING = {
    "writefile": ("SELECT writefile('../written', 'x')", "../written"),
    "attach": ("ATTACH '../written' AS w; CREATE TABLE w.x(y)", "../written"),
    "vacuum": ("VACUUM INTO '../written'", "../written"),
    "edit": ("SELECT edit('x', 'touch ../written; true')", "../written"),
}


@pytest.mark.parametrize("name", REACHING)
@pytest.mark.parametrize("verb", ["query", "exec"])
def test_sql_that_writes_elsewhere_works_in_plain_sqlite3_and_not_here(verb: str, name: str, folder: Path) -> None:
    sql, target = REACHING[name]
    plain(folder, sql)
    assert (folder / target).exists()
    (folder / target).unlink()
    assert ask(folder, sql, verb)[0] != 0
    assert not (folder / target).exists()


def test_readfile_reads_elsewhere_in_plain_sqlite3_and_not_here(folder: Path) -> None:
    sql = "SELECT readfile('../secret') AS x"
    assert plain(folder, sql) == "secret\n"
    assert ask(folder, sql)[:2] == (1, None)


def test_load_extension_is_refused(folder: Path) -> None:
    assert "safe mode" in ask(folder, "SELECT load_extension('x')")[2]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT data FROM fsdir('../secret')",
        "SELECT data FROM \"FsDir\"('../secret')",
        "SELECT * FROM zipfile('../x.zip')",
        "CREATE VIRTUAL TABLE z USING ZipFile('../x.zip')",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_dbpage SET data = x'00'",
    ],
)
def test_sql_with_a_word_that_safe_mode_lets_through_is_refused_before_it_runs(sql: str) -> None:
    assert refusal("sqlite", "query", {"database": "a.db", "sql": sql}) == "/sql"
    assert refusal("sqlite", "exec", {"database": "a.db", "sql": sql}) == "/sql"


def test_safe_mode_does_let_fsdir_read_elsewhere(folder: Path) -> None:
    """Why the words above are refused; when this fails, the refusal of `fsdir` can be reconsidered."""
    sql = "SELECT data FROM fsdir('../secret')"
    done = run([*as_nobody(), "sqlite3", "-safe", "-readonly", "data/app.db", sql], folder)
    assert done.stdout == b"secret\n"


def test_a_database_that_brings_a_zip_table_reads_elsewhere_in_safe_mode_and_not_here(folder: Path) -> None:
    plain(folder, "CREATE VIRTUAL TABLE z USING zipfile('../out.zip')")
    plain(folder, "INSERT INTO z(name, data) VALUES('f', 'private')")
    done = run([*as_nobody(), "sqlite3", "-safe", "-readonly", "data/app.db", "SELECT data FROM z"], folder)
    assert done.stdout == b"private\n"
    for verb in ("query", "exec"):
        status, out, err = ask(folder, "SELECT * FROM z", verb)
        assert (status, out) == (1, None)
        assert "refused: a table of this database is a zip file" in err


def test_a_view_or_trigger_that_reaches_elsewhere_is_refused(folder: Path) -> None:
    plain(folder, "CREATE VIEW v AS SELECT readfile('../secret') AS x")
    plain(folder, "CREATE VIEW w AS SELECT * FROM fsdir('..')")
    plain(folder, "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT writefile('../written', 'x'); END")
    assert ask(folder, "SELECT * FROM v")[:2] == (1, None)
    assert ask(folder, "SELECT * FROM w")[:2] == (1, None)
    assert ask(folder, "INSERT INTO t VALUES(3, 'x')", "exec")[0] != 0
    assert not (folder / "../written").exists()


@pytest.mark.parametrize(
    "database",
    ["../secret", "/etc/passwd", "data/../../secret", "./data/app.db", "data//app.db", "data/", ".", "..",
     "data/..", ".git/config", "x/.GIT/hooks/pre-commit", "a\nb", ""],
)  # fmt: skip
def test_a_database_that_is_no_plain_path_below_the_project_is_refused(database: str) -> None:
    for verb in ("query", "exec"):
        assert refusal("sqlite", verb, {"database": database, "sql": "SELECT 1"}) == "/database"
    for verb in ("tables", "schema"):
        assert refusal("sqlite", verb, {"database": database}) == "/database"


@pytest.mark.parametrize("database", ["-help", ":memory:", "file:data/app.db?mode=rwc", "new.db"])
def test_a_database_that_does_not_exist_is_not_made_by_a_query(database: str, folder: Path) -> None:
    status, out, err = ask(folder, "SELECT 1 AS one", database=database)
    assert (status, out) == (1, None)
    assert "unable to open database" in err
    assert names(folder) == ["data"]


def test_a_link_out_of_the_project_is_followed_by_plain_sqlite3_and_not_here(folder: Path) -> None:
    sh(folder, "sqlite3 ../other.db 'CREATE TABLE o(x)'; ln -s ../other.db link.db; ln -s .. up")
    assert sh(folder, "sqlite3 link.db .tables").strip() == "o"
    for database in ("link.db", "up/other.db"):
        for verb in ("query", "exec"):
            assert "unable to open database" in ask(folder, "SELECT 1", verb, database)[2]


def test_a_start_up_file_runs_programs_in_plain_sqlite3_and_every_command_names_an_empty_one(
    folder: Path,
) -> None:
    """sqlite3 looks for `.sqliterc` in the home directory of the user database, whatever HOME says."""
    (folder / "rc").write_text(".shell echo ran\n")
    assert run(["sqlite3", "-init", "rc", "data/app.db", "SELECT 1"], folder).stdout == b"ran\n1\n"
    for verb, command in compiled("sqlite").commands.items():
        assert (command.cli or ())[3:5] == ("-init", "/dev/null"), verb


def test_exec_changes_and_may_return_what_it_changed(folder: Path) -> None:
    assert ask(folder, "UPDATE t SET name = 'Ada L.' WHERE id = 1 RETURNING *", "exec") == (
        0,
        [{"id": 1, "name": "Ada L."}],
        "",
    )
    assert rows(folder) == [(1, "Ada L."), (2, "Grace")]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM t WHERE id = 2; nonsense",
        "DELETE FROM t WHERE id = 2; INSERT INTO t VALUES(1, 'again')",
        "DELETE FROM t WHERE id = 2; SELECT 'open",
        "DELETE FROM t WHERE id = 2; INSERT INTO t(",
        "DELETE FROM t WHERE id = 2; SELECT readfile('x')",
    ],
)
def test_exec_changes_nothing_when_one_of_its_statements_fails(sql: str, folder: Path) -> None:
    assert ask(folder, sql, "exec")[0] != 0
    assert rows(folder) == [(1, "Ada"), (2, "Grace")]


def test_a_comment_that_is_not_closed_cannot_swallow_the_commit(folder: Path) -> None:
    assert ask(folder, "DELETE FROM t WHERE id = 2 /* and so on", "exec")[0] == 0
    assert rows(folder) == [(1, "Ada")]


def test_after_a_large_exec_that_failed_the_database_can_still_be_read_without_writing(folder: Path) -> None:
    sql = "UPDATE t SET name = 'x';INSERT INTO t SELECT NULL, randomblob(500) FROM generate_series(1, 20000); nonsense"
    assert ask(folder, sql, "exec")[0] != 0
    for path in (folder / "data", *(folder / "data").iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert ask(folder, "SELECT count(*) AS n, min(name) AS name FROM t") == (0, [{"n": 2, "name": "Ada"}], "")
    (folder / "data").chmod(0o755)


def test_a_query_leaves_no_file_behind(folder: Path) -> None:
    before = names(folder / "data")
    ask(folder, "SELECT * FROM t")
    assert names(folder / "data") == before
