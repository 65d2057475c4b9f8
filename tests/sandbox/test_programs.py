from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from hcpx.sandbox.programs import Found, NotFound, Programs

NOT_LISTED = NotFound()
OUTSIDE = NotFound(hint="a program of a pack lies inside the pack's directory")
BLANKS = NotFound(hint="the name of a program has no blanks around it")


class Host:
    """A host with a folder `bin` on the search path, a pack folder `pack`, and an allow-list."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.bin = self.root / "bin"
        self.pack = self.root / "pack"
        self.allowed: dict[str, str] = {}
        self.asked: list[str] = []
        self.bin.mkdir()
        self.pack.mkdir()

    def program(self, path: str, content: bytes = b"#!/bin/sh\n", mode: int = 0o755) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
        return file

    def allow(self, name: str, path: Path) -> None:
        self.allowed[name] = str(path)

    def find(self, name: str, search_path: str | None = None) -> Found | NotFound:
        path = f"{self.root}/first:{self.bin}:/bin" if search_path is None else search_path
        return Programs(path, self._look_up).find(name, str(self.pack))

    def _look_up(self, name: str) -> str | None:
        self.asked.append(name)
        return self.allowed.get(name)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    # Temporary folders lie in a sticky folder of root's, which counts as safe.
    return Host(tmp_path)


def own(path: Path) -> Found:
    return Found(str(path), str(path))


def test_a_relative_path_is_the_packs_own_file_without_an_entry(host: Host) -> None:
    path = host.program("pack/bin/tool")
    assert host.find("bin/tool") == own(path)
    assert host.find("./bin/tool") == own(path)
    assert host.find("bin/../bin/./tool") == own(path)
    assert host.asked == []


def test_an_entry_of_the_same_base_name_is_never_consulted_for_an_own_file(host: Host) -> None:
    host.allow("tool", host.program("bin/tool"))
    path = host.program("pack/tool")
    assert host.find("./tool") == own(path)
    assert host.find("tool") == own(path)
    assert host.asked == []


@pytest.mark.parametrize("name", ["../bin/tool", "bin/../../bin/tool", "../pack2/tool", "link/tool", "out", "./out"])
def test_a_path_that_leaves_the_pack_is_refused_though_the_name_is_allowed(name: str, host: Host) -> None:
    tool = host.program("bin/tool")
    host.program("pack2/tool")
    host.allow(name, tool)
    host.allow("out", tool)
    (host.pack / "bin").mkdir()
    (host.pack / "link").symlink_to(host.bin)
    (host.pack / "out").symlink_to(tool)
    assert host.find(name) == OUTSIDE


def test_a_link_that_stays_inside_of_the_pack_is_fine(host: Host) -> None:
    path = host.program("pack/libexec/tool-1")
    (host.pack / "bin").symlink_to("libexec")
    (host.pack / "tool").symlink_to("bin/tool-1")
    assert host.find("bin/tool-1") == own(path)
    assert host.find("tool") == own(path)


def test_a_pack_reached_through_a_link_still_owns_its_files(host: Host) -> None:
    path = host.program("pack/tool")
    (host.root / "linked").symlink_to(host.pack)
    assert Programs("/bin", lambda _: None).find("./tool", str(host.root / "linked")) == own(path)


def test_an_own_file_that_is_missing_or_no_program_is_named(host: Host) -> None:
    host.program("pack/bin/plain", mode=0o644)
    host.program("pack/bin/dos", b"#!/usr/bin/env python3\r\nprint()\r\n")
    host.program("pack/bin/lost", b"#!/no/such/interpreter\n")
    host.program("pack/bin/lost-env", b"#!/usr/bin/env no-such-interpreter\n")
    (host.pack / "dangling").symlink_to("bin/nothing")
    assert host.find("bin/nothing") == NotFound("no such file")
    assert host.find("./dangling") == NotFound("no such file")
    assert host.find("bin/") == NotFound("is a directory")
    assert host.find("bin/plain") == NotFound("no run bit")
    assert host.find("bin/dos") == NotFound("CR LF in the first line")
    assert host.find("bin/lost") == NotFound("missing interpreter /no/such/interpreter")
    assert host.find("bin/lost-env") == NotFound("missing interpreter no-such-interpreter")


def test_a_link_out_of_the_pack_to_nothing_is_outside_too(host: Host) -> None:
    (host.pack / "dangling").symlink_to("../nothing")
    assert host.find("./dangling") == OUTSIDE


def test_an_own_file_that_anybody_may_change_is_held_by_the_packs_digest(host: Host) -> None:
    path = host.program("pack/tool", mode=0o777)
    host.pack.chmod(0o777)
    assert host.find("./tool") == own(path)


def test_a_bare_name_is_the_first_match_on_the_search_path_and_needs_an_entry(host: Host) -> None:
    host.program("first/tool", mode=0o644)
    tool = host.program("bin/tool")
    assert host.find("tool") == NOT_LISTED
    host.allow("tool", tool)
    assert host.find("tool") == own(tool)


def test_only_the_first_match_counts(host: Host) -> None:
    host.allow("tool", host.program("bin/tool"))
    host.program("first/tool")
    assert host.find("tool") == NOT_LISTED


def test_the_name_it_is_started_under_is_the_one_on_the_search_path(host: Host) -> None:
    real = host.program("lib/tool-1.2")
    (host.bin / "tool").symlink_to(real)
    host.allow("tool", real)
    assert host.find("tool") == Found(str(real), str(host.bin / "tool"))


def test_a_file_at_the_packs_root_that_is_no_program_does_not_stand_in(host: Host) -> None:
    host.program("pack/tool", mode=0o644)
    (host.pack / "other").mkdir()
    tool, other = host.program("bin/tool"), host.program("bin/other")
    host.allow("tool", tool)
    host.allow("other", other)
    assert host.find("tool") == own(tool)
    assert host.find("other") == own(other)


def test_an_absolute_path_needs_an_entry_too_even_inside_of_the_pack(host: Host) -> None:
    tool = host.program("bin/tool")
    inside = host.program("pack/inside")
    host.allow("tool", tool)
    assert host.find(str(tool)) == NOT_LISTED
    assert host.find(str(inside)) == NOT_LISTED
    host.allow(str(tool), tool)
    assert host.find(str(tool)) == own(tool)


def test_a_changed_real_path_is_refused(host: Host) -> None:
    first, second = host.program("lib/tool-1"), host.program("lib/tool-2")
    (host.bin / "tool").symlink_to(first)
    host.allow("tool", first)
    assert host.find("tool") == Found(str(first), str(host.bin / "tool"))
    (host.bin / "tool").unlink()
    (host.bin / "tool").symlink_to(second)
    assert host.find("tool") == NOT_LISTED


def test_a_program_that_is_gone_is_refused(host: Host) -> None:
    tool = host.program("bin/tool")
    host.allow("tool", tool)
    tool.unlink()
    assert host.find("tool") == NOT_LISTED
    assert host.find(str(tool)) == NOT_LISTED


def test_what_anybody_may_change_is_refused(host: Host) -> None:
    refused = NotFound(hint="tool or a folder on the way to it can be changed by anybody: forbid that")
    tool = host.program("bin/tool")
    host.allow("tool", tool)
    for place, bad, good in ((tool, 0o757, 0o755), (host.bin, 0o777, 0o755), (host.root, 0o757, 0o755)):
        place.chmod(bad)
        assert host.find("tool") == refused
        place.chmod(good)
        assert host.find("tool") == own(tool)


def test_a_sticky_folder_is_safe_only_where_it_is_roots(host: Host) -> None:
    tool = host.program("bin/tool")
    host.allow("tool", tool)
    host.bin.chmod(0o1777)
    safe = host.find("tool") == own(tool)
    assert safe == (os.geteuid() == 0)
    if os.geteuid() == 0:
        os.chown(host.bin, 65534, 65534)
        assert host.find("tool") != own(tool)


def test_an_allowed_program_without_its_interpreter_is_named(host: Host) -> None:
    host.allow("tool", host.program("bin/tool", b"#!/no/such/interpreter\n"))
    assert host.find("tool") == NotFound("missing interpreter /no/such/interpreter")


@pytest.mark.parametrize("name", ["", " tool", "tool ", "\ttool", "tool\n", " bin/tool", "tool\u00a0", "a\0b"])
def test_a_name_with_blanks_around_it_is_refused(name: str, host: Host) -> None:
    for path in ("bin/tool", "pack/tool", "pack/tool ", "bin/tool "):
        host.program(path)
    host.allow(name, host.bin / "tool")
    assert host.find(name) == BLANKS


@pytest.mark.parametrize("name", [".", "..", "/", "//", "nope", "*"])
def test_a_name_of_no_program_is_not_listed(name: str, host: Host) -> None:
    host.allow(name, Path("/bin/sh"))
    answer = host.find(name)
    assert isinstance(answer, NotFound)
    assert answer.why is None


def test_a_relative_or_empty_part_of_the_search_path_is_skipped(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = host.program("bin/tool")
    host.allow("tool", tool)
    monkeypatch.chdir(host.bin)
    assert host.find("tool", "::.:bin:") == NOT_LISTED


def test_a_program_that_is_replaced_is_looked_at_again(host: Host) -> None:
    path = host.program("pack/tool")
    programs = Programs("/bin", lambda _: None)
    assert programs.find("./tool", str(host.pack)) == own(path)
    path.unlink()
    host.program("pack/tool", b"#!/gone\n")
    assert programs.find("./tool", str(host.pack)) == NotFound("missing interpreter /gone")


def test_the_digest_is_of_the_content_and_follows_it(host: Host) -> None:
    path = host.program("pack/tool", b"one")
    programs = Programs("/bin", lambda _: None)
    assert programs.digest(str(path)) == sha256(b"one").hexdigest()
    assert programs.digest(str(path)) == sha256(b"one").hexdigest()
    status = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert programs.digest(str(path)) == sha256(b"two").hexdigest()
    with pytest.raises(FileNotFoundError):
        programs.digest(str(host.pack / "gone"))
