"""Exit statuses and texts as a table (Spec 05 section 1, Spec 07), each through the whole command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Hcpx
from tests.cli.shell import run

BAD_PACK = """hcp: 1
id: bad
version: 1.0.0
title: Bad
kind: wrap
wrap: {bin: bad}
commands: {a: {cli: [bad]}}
policy: {}
"""

# words, status, code, error (its beginning)
LINES: list[tuple[str, int, str, str]] = [
    ("exec nopack x", 69, "unknown_pack", "unknown pack nopack"),
    ("exec ledger nope", 69, "no_policy", "no policy for nope"),
    ("exec sqlite tables", 69, "pack_not_activated", "pack sqlite not activated"),
    ("exec ledger transfer -- amount=1.00 payee=demo", 75, "confirm_required", "confirm required"),
    ("exec ledger transfer -- amount=1.00 confirm=true", 64, "invalid_args", "invalid args: /payee: missing"),
    ("exec ledger transfer -- amount=1.00 payee=x memmo=y confirm=true", 64, "invalid_args",
     "invalid args: /memmo: unknown argument, did you mean memo?"),
    ("exec ledger transfer -- amount=1.00 payee=x confirm=true", 78, "binding_missing",
     "binding user for ledger: not connected"),
    ("exec git status", 77, "project_required", "workspace project requires project_id"),
    ("exec transit cancel -- booking=bk-9 confirm=true", 1, "exit", 'transit: unknown booking "bk-9"'),
    ("exec transit", 2, "usage", "the verb is missing"),
    ("exec transit stops --nosuch", 2, "usage", "unknown option --nosuch"),
    ("exec transit stops -- x", 2, "usage", "no = in 'x'; write name=value"),
    ("exec transit stops -- x:=[", 2, "usage", "x: "),
    ("exec transit stops -- x=@/nonexistent", 2, "usage", "x: cannot read '/nonexistent'"),
    ("exec transit stops --args-json [] --", 2, "usage", "--args-json: not an object"),
    ("pack show nope", 66, "not_found", "no pack nope is installed"),
    ("pack add /nonexistent", 66, "not_found", "no folder or archive at /nonexistent"),
    ("pack remove nope", 66, "not_found", "no pack nope is installed"),
    ("pack diff nope", 66, "not_found", "no pack nope is installed"),
    ("pack new", 2, "usage", "missing argument 'PROGRAM'"),
    ("pack new no-such-program --from-help", 66, "not_found", "no program 'no-such-program'"),
    ("pack new x --deep", 2, "usage", "--deep goes with --from-help"),
    ("activate nope", 66, "not_found", "no pack nope is installed"),
    ("activate ledger --follow", 2, "usage", "only a linked pack can be followed"),
    ("activate ledger --on nope", 66, "not_found", "no session nope"),
    ("deactivate git --on nope", 66, "not_found", "no session nope"),
    ("deactivate nope", 66, "not_found", "pack nope is not activated"),
    ("session new --pack nope", 66, "not_found", "pack nope is not activated"),
    ("session new --ttl 0s", 2, "usage", "not a time: '0s'"),
    ("session new --principal ada", 2, "usage", "'ada' is no principal id"),
    ("session new --project nope", 66, "not_found", "no project nope"),
    ("session show nope", 66, "not_found", "no session nope"),
    ("session revoke nope", 66, "not_found", "no session nope"),
    ("principal disable user:nobody", 66, "not_found", "no principal user:nobody"),
    ("grant user:ada verb.exec --pack x --verb y", 2, "usage", "invalid value for 'CAPABILITY'"),
    ("grant user:ada verb.exec.read --pack led* --verb y", 2, "usage", "pack 'led*': there is no pattern but *"),
    ("grant user:ada verb.exec.read --pack ledger", 2, "usage", "missing option '--verb'"),
    ("grant user:ada verb.exec.read --pack x --verb y --until 2001-01-01T00:00:00Z", 2, "usage",
     "until is not in the future"),
    ("grant user:ada verb.exec.read --pack x --verb y --until 2099-01-01T00:00:00", 2, "usage",
     "not a time: '2099-01-01T00:00:00' has no zone"),
    ("grant user:ada verb.exec.read --pack x --verb y --args-schema /nonexistent", 2, "usage", "cannot read"),
    ("revoke user:ada verb.exec.read --pack x --verb y", 66, "not_found", "user:ada has no such grant"),
    ("revoke user:ada", 2, "usage", "a grant is named by"),
    ("revoke --id 99", 66, "not_found", "no grant 99"),
    ("policy show ledger.nope", 69, "no_policy", "no policy for nope"),
    ("policy tighten ledger", 2, "usage", "'ledger' names no command"),
    ("policy tighten ledger.tranfer --confirm", 66, "not_found",
     "no policy for ledger.tranfer, did you mean transfer?"),
    ("policy tighten ledger.transfer", 2, "usage", "nothing to tighten"),
    ("policy tighten ledger.transfer --timeout-s 31", 2, "usage", "an overlay only tightens: timeout_s is 30"),
    ("policy tighten ledger.transfer --timeout-s nan", 2, "usage", "an overlay only tightens: timeout_s is 30"),
    ("policy tighten ledger.transfer --timeout-s 0", 2, "usage", "an overlay only tightens"),
    ("policy tighten ledger.transfer --approvals -1", 2, "usage", "an overlay only tightens: approvals"),
    ("allow no-such-program", 66, "not_found", "no program 'no-such-program'"),
    ("allow", 2, "usage", "name one program"),
    ("allow git --list", 2, "usage", "--list stands alone"),
    ("allow --remove git", 66, "not_found", "git is not on the allow-list"),
    ("connect nope", 66, "not_found", "no pack nope is installed"),
    ("connect transit", 2, "usage", "transit needs none"),
    ("connect ledger --family local", 2, "usage", "no command of ledger asks for 'local'"),
    ("connect ledger s3cret-in-argv", 2, "usage", "a secret is no argument"),
    ("disconnect ledger", 66, "not_found", "pack ledger is not connected"),
    ("approvals show nope", 66, "not_found", "no approval nope"),
    ("approvals approve nope", 66, "not_found", "no approval nope"),
    ("audit show nope", 66, "not_found", "no call nope"),
    ("audit list --since yesterday", 2, "usage", "not a time: 'yesterday'"),
    ("audit export --format xml", 2, "usage", "invalid value for '--format'"),
    ("brain show nope", 66, "not_found", "nothing was kept of call nope"),
    ("config set sandbox off", 2, "usage", "sandbox is one of sandbox, native-local"),
    ("config set sandbx off", 2, "usage", "unknown setting 'sandbx', did you mean sandbox?"),
    ("config get nope", 66, "not_found", "no setting nope"),
    ("project add x /nonexistent", 66, "not_found", "'/nonexistent' cannot be a project"),
    ("project add null .", 2, "usage", "'null' is no project id"),
    ("project remove nope", 66, "not_found", "no project nope"),
    ("skill nope", 69, "unknown_pack", "unknown pack nope"),
    ("skill ledger --full", 2, "usage", "which Skill?"),
    ("conformance /nonexistent --face nope", 2, "usage", "no face 'nope'; there are "),
]  # fmt: skip


@pytest.fixture
def more_packs(store: Path, hcpx: Hcpx) -> None:
    for words in ("pack add sqlite", "pack add git", "activate git"):
        assert hcpx(*words.split()).status == 0


@pytest.mark.usefixtures("more_packs")
@pytest.mark.parametrize(("words", "status", "code", "error"), LINES, ids=[line[0] for line in LINES])
def test_every_end_has_its_status_code_and_text(words: str, status: int, code: str, error: str, hcpx: Hcpx) -> None:
    head, dashes, tail = words.partition(" --")
    line = [*head.split(), "--json", *(dashes + tail).split()]
    said = hcpx(*line)
    document = said.document()
    assert (said.status, document["ok"], document["code"]) == (status, False, code)
    assert document["error"].startswith(error)
    assert said.err == ""
    assert "s3cret-in-argv" not in said.out


@pytest.mark.usefixtures("store")
def test_people_get_the_denial_with_its_hint_on_stderr(hcpx: Hcpx) -> None:
    said = hcpx("exec", "ledger", "transfer", "--", "amount=1.00", "payee=x", "confirm=true")
    assert said == (
        78,
        "",
        "binding_missing: binding user for ledger: not connected\nhint: hcpx connect ledger\n",
    )
    assert hcpx("config", "get", "nope") == (66, "", "hcpx: no setting nope\nhint: hcpx config list\n")


def test_a_pack_that_lint_refuses_is_not_installed(hcpx: Hcpx, store: Path, tmp_path: Path) -> None:
    (tmp_path / "bad pack").mkdir()
    (tmp_path / "bad pack" / "pack.yaml").write_text(BAD_PACK)
    folder = str(tmp_path / "bad pack")
    added = hcpx("pack", "add", folder, "--json")
    document = added.document()
    assert (added.status, document["code"], document["hint"]) == (
        65,
        "lint_failed",
        f"hcpx pack lint '{folder}'",
    )
    linted = hcpx("pack", "lint", folder, "--json")
    assert (linted.status, linted.document()["code"]) == (65, "lint_failed")
    assert linted.document()["findings"] == document["findings"]
    assert {"code", "severity", "message", "mend", "file", "line", "column"} == set(document["findings"][0])
    people = hcpx("pack", "add", folder)
    assert people.status == 65
    assert "mend:" in people.err
    assert "bad" not in hcpx("pack", "list", "--json").out


def test_another_version_needs_replace(hcpx: Hcpx, store: Path, tmp_path: Path) -> None:
    hcpx("pack", "new", "true", "--dir", str(tmp_path / "true"))
    assert hcpx("pack", "add", str(tmp_path / "true")).status == 0
    manifest = tmp_path / "true" / "pack.yaml"
    manifest.write_text(manifest.read_text().replace("version: 0.1.0", "version: 0.2.0"))
    said = hcpx("pack", "add", str(tmp_path / "true"), "--json")
    assert (said.status, said.document()["code"]) == (73, "exists")
    assert hcpx("pack", "add", str(tmp_path / "true"), "--replace").status == 0


def test_exists_already_is_73(hcpx: Hcpx, store: Path, tmp_path: Path) -> None:
    grant = ("grant", "user:ada", "verb.exec.read", "--pack", "ledger", "--verb", "*", "--json")
    assert hcpx(*grant).status == 0
    assert (hcpx(*grant).status, hcpx(*grant).document()["code"]) == (73, "exists")
    assert hcpx("project", "add", "here", str(tmp_path)).status == 0
    assert hcpx("project", "add", "here", str(tmp_path)).status == 73


def test_an_unknown_setting_of_the_environment_is_a_usage_error(
    hcpx: Hcpx, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HCP_SESION", "x")
    for words in (("exec", "ledger", "balance"), ("pack", "list"), ("schema", "pack")):
        said = hcpx(*words, "--json")
        assert (said.status, said.document()["code"]) == (2, "usage")
        assert "did you mean HCP_SESSION?" in said.document()["error"]


def test_a_damaged_store_is_named_and_left_as_it_is(hcpx: Hcpx, store: Path) -> None:
    (store / "hcpx.db").write_bytes(b"not a database" * 100)
    before = (store / "hcpx.db").read_bytes()
    for words in (
        ("exec", "ledger", "balance"),
        ("grants",),
        ("grant", "user:a", "audit.read", "--pack", "*", "--verb", "*"),
    ):
        said = hcpx(*words, "--json")
        assert (said.status, said.document()["code"]) == (70, "store_unavailable")
        assert str(store / "hcpx.db") in said.document()["error"]
    doctor = hcpx("doctor", "--json")
    document = doctor.document()
    assert (doctor.status, document["ok"], document["checks"][0]["ok"]) == (1, False, False)
    assert (store / "hcpx.db").read_bytes() == before


def test_a_wrong_vault_key_is_an_error_that_destroys_nothing(hcpx: Hcpx, store: Path) -> None:
    assert run(store, "connect", "ledger", stdin=b"the-secret").status == 0
    key = store / "vault.key"
    kept = key.read_bytes()
    key.write_bytes(b"x" * len(kept))
    call = ("exec", "ledger", "whoami", "--json")
    rotated = hcpx("vault", "rotate", "--json")
    assert (rotated.status, rotated.document()["code"]) == (70, "store_unavailable")
    assert hcpx("vault", "status", "--json").status == 1
    assert hcpx(*call).status != 0
    key.write_bytes(kept)
    assert hcpx(*call).status == 0


def test_a_bug_is_an_id_on_the_line_and_a_trace_in_the_log(
    hcpx: Hcpx, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hcpx.runtime.view import View

    def broken(_: View) -> None:
        raise ZeroDivisionError("secret words")

    monkeypatch.setattr(View, "sessions", broken)
    said = hcpx("session", "list", "--json")
    document = said.document()
    assert (said.status, said.err, document["code"]) == (70, "", "internal")
    trouble_id = document["error"].removeprefix("internal error ")
    log = (store / "trouble.log").read_text()
    assert f"{trouble_id} ZeroDivisionError" in log
    assert "secret words" not in log + said.out
