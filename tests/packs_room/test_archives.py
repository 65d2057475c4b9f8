"""Archives from anywhere: a pack is unpacked, what could land elsewhere is refused (Spec 02 section 3)."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hcpx.packs import unpack as unpacking
from hcpx.packs import zip_reader
from hcpx.packs.archive_entry import BadArchive
from hcpx.packs.unpack import unpack

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SOUND = {"pack.yaml": b"hcp: 1\n", "bin/tool": b"#!/bin/sh\n", "docs/a.md": b"a"}


def header(name: str, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def tar(*entries: tuple[tarfile.TarInfo, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for info, content in entries:
            info.size = info.size or len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def sound_tar(form: int = tarfile.PAX_FORMAT) -> bytes:
    return tar(*((header(name, mode=0o755), content) for name, content in SOUND.items()), form=form)


def zipped(*entries: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for info, content in entries:
            archive.writestr(info, content, method)
    return out.getvalue()


def unix(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def landed(data: bytes, tmp_path: Path) -> dict[str, bytes]:
    """What an archive becomes: path to content, links as `-> target`."""
    (tmp_path / "archive").write_bytes(data)
    folder = tmp_path / "in" / "landing"
    folder.mkdir(parents=True)
    unpack(str(tmp_path / "archive"), str(folder))
    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(folder))] = f"-> {path.readlink()}".encode()
        elif path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def refusal(data: bytes, tmp_path: Path) -> str:
    with pytest.raises(BadArchive) as refused:
        landed(data, tmp_path)
    outside = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert {path for path in outside if not path.startswith("in/landing")} == {"archive", "in"}
    return str(refused.value)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("squeeze", [bytes, gzip.compress])
def test_a_tar_is_unpacked_whatever_wrote_it(form: int, squeeze: Callable[[bytes], bytes], tmp_path: Path) -> None:
    assert landed(squeeze(sound_tar(form)), tmp_path) == SOUND


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_is_unpacked(method: int, tmp_path: Path) -> None:
    assert landed(zipped(*SOUND.items(), method=method), tmp_path) == SOUND


def test_run_bits_come_along_and_no_others(tmp_path: Path) -> None:
    entries = [(header("run", mode=0o777), b""), (header("data", mode=0o666), b"")]
    landed(tar(*entries), tmp_path)
    folder = tmp_path / "in/landing"
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("run", "data")] == [0o700, 0o600]


def test_long_names_come_through_in_every_form(tmp_path: Path) -> None:
    name = "/".join(["folder-with-a-long-name"] * 10) + "/\u00e4"
    for number, form in enumerate((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)):
        entries = [(header(name), b"x"), (header("link", type=tarfile.SYMTYPE, linkname=name), b"")]
        place = tmp_path / str(number)
        place.mkdir()
        assert landed(tar(*entries, form=form), place) == {name: b"x", "link": b"-> " + name.encode()}


def test_links_inside_are_made_and_hard_links_become_files_of_their_own(tmp_path: Path) -> None:
    entries = [
        (header("a", mode=0o755), b"content"),
        (header("link", type=tarfile.SYMTYPE, linkname="a"), b""),
        (header("hard", type=tarfile.LNKTYPE, linkname="./a"), b""),
    ]
    assert landed(tar(*entries), tmp_path) == {"a": b"content", "link": b"-> a", "hard": b"content"}
    assert (tmp_path / "in/landing/hard").stat().st_nlink == 1


def test_folders_may_be_named_and_a_leading_dot_is_no_name(tmp_path: Path) -> None:
    entries = [
        (header("./", type=tarfile.DIRTYPE), b""),
        (header("./bin/", type=tarfile.DIRTYPE), b""),
        (header("./bin/", type=tarfile.DIRTYPE), b""),
        (header("./bin/tool"), b"x"),
    ]
    assert landed(tar(*entries), tmp_path) == {"bin/tool": b"x"}


def test_a_git_archive_with_its_global_header_is_unpacked(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "x"}) as archive:
        archive.addfile(header("a", size=1), io.BytesIO(b"a"))
    assert landed(out.getvalue(), tmp_path) == {"a": b"a"}


HOSTILE_TARS: dict[str, tuple[list[tuple[tarfile.TarInfo, bytes]], str]] = {
    "an absolute name": ([(header("/etc/x"), b"")], "/etc/x is an absolute name"),
    "a way out": ([(header("../x"), b"")], "../x leads out of the archive"),
    "a hidden way out": ([(header("a/../../x"), b"")], "a/../../x leads out of the archive"),
    "a backslash": ([(header("..\\x"), b"")], "..\\x: the file's name holds a backslash"),
    "a line break": (
        [(header("a\nb"), b"")],
        "a\\u{000A}b: the file's name holds a control or invisible character",
    ),
    "not UTF-8": ([(header("a\udcff"), b"")], "a\ufffd: the file's name is not UTF-8"),
    "a character device": ([(header("x", type=tarfile.CHRTYPE), b"")], "x is a character device"),
    "a block device": ([(header("x", type=tarfile.BLKTYPE), b"")], "x is a block device"),
    "a FIFO": ([(header("x", type=tarfile.FIFOTYPE), b"")], "x is a FIFO"),
    "a setuid bit": ([(header("x", mode=0o4755), b"")], "x has a setuid or setgid bit"),
    "a setgid bit": ([(header("x", mode=0o2755), b"")], "x has a setuid or setgid bit"),
    "a name twice": ([(header("x"), b"1"), (header("x"), b"2")], "x stands in the archive twice"),
    "a name twice by another spelling": (
        [(header("x"), b"1"), (header("./x"), b"2")],
        "x stands in the archive twice",
    ),
    "a link, then a file of that name": (
        [(header("x", type=tarfile.SYMTYPE, linkname="/etc"), b""), (header("x"), b"2")],
        "x stands in the archive twice",
    ),
    "a file below a link": (
        [(header("x", type=tarfile.SYMTYPE, linkname="/tmp"), b""), (header("x/y"), b"2")],
        "x stands in the archive twice, as a file and as a folder",
    ),
    "a link where a folder was": (
        [(header("x/y"), b"2"), (header("x", type=tarfile.SYMTYPE, linkname="/tmp"), b"")],
        "x stands in the archive twice",
    ),
    "a file below a file": (
        [(header("x"), b""), (header("x/y"), b"2")],
        "x stands in the archive twice, as a file and as a folder",
    ),
    "names that differ by case": (
        [(header("x"), b""), (header("X"), b"")],
        "X and x differ by case or accents only",
    ),
    "folders that differ by case": (
        [(header("lib/a"), b""), (header("LIB/b"), b"")],
        "LIB and lib differ by case or accents only",
    ),
    "names that differ by composition": (
        [(header("\u00e9"), b""), (header("e\u0301"), b"")],
        "e\u0301 and \u00e9 differ by case or accents only",
    ),
    "a hard link to nothing": (
        [(header("x", type=tarfile.LNKTYPE, linkname="y"), b"")],
        "x is a hard link to y, no file before it",
    ),
    "a hard link to itself": (
        [(header("x", type=tarfile.LNKTYPE, linkname="x"), b"")],
        "x is a hard link to x, no file before it",
    ),
    "a hard link to a link": (
        [
            (header("y", type=tarfile.SYMTYPE, linkname="/etc/passwd"), b""),
            (header("x", type=tarfile.LNKTYPE, linkname="y"), b""),
        ],
        "x is a hard link to y, no file before it",
    ),
    "a hard link out": (
        [(header("x", type=tarfile.LNKTYPE, linkname="/etc/passwd"), b"")],
        "/etc/passwd is an absolute name",
    ),
    "an unknown kind": ([(header("x", type=b"Z"), b"")], "x is of an unknown kind"),
}


@pytest.mark.parametrize("kind", HOSTILE_TARS)
def test_a_hostile_tar_is_refused_and_nothing_lands_outside(kind: str, tmp_path: Path) -> None:
    entries, message = HOSTILE_TARS[kind]
    assert refusal(tar(*entries, form=tarfile.GNU_FORMAT), tmp_path) == message


def test_more_than_ten_thousand_entries_are_refused(tmp_path: Path) -> None:
    entries = [(header(f"f{number}"), b"") for number in range(10_001)]
    assert refusal(gzip.compress(tar(*entries)), tmp_path) == "more than 10,000 entries"


def test_folders_that_are_only_implied_count_as_entries(tmp_path: Path) -> None:
    entries = [(header(f"{number}/{'a/' * 120}f"), b"") for number in range(100)]
    assert refusal(gzip.compress(tar(*entries)), tmp_path) == "more than 10,000 entries"


def test_what_unpacks_to_more_than_a_pack_may_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_BYTES", 3 * 1024 * 1024)
    for number, data in enumerate(
        (
            gzip.compress(tar((header("a"), bytes(2_000_000)), (header("b"), bytes(2_000_000)))),
            zipped(("a", bytes(2_000_000)), ("b", bytes(2_000_000))),
            gzip.compress(tar((header("a"), bytes(2_000_000)), (header("b", type=tarfile.LNKTYPE, linkname="a"), b""))),
        )
    ):
        place = tmp_path / str(number)
        place.mkdir()
        assert refusal(data, place) == "more than 3 MiB unpacked"


def test_a_gzip_bomb_is_left_as_soon_as_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_BYTES", 1024 * 1024)
    huge = header("a")
    huge.size = 8 * 1024**3 - 1
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(huge.tobuf(tarfile.GNU_FORMAT))]
    parts += [packer.compress(bytes(1024 * 1024)) for _ in range(64)]
    assert refusal(b"".join([*parts, packer.flush()]), tmp_path) == "more than 1 MiB unpacked"


def test_an_extended_header_cannot_ask_for_memory(tmp_path: Path) -> None:
    for number, kind in enumerate((b"x", b"L", b"K", b"g")):
        big = header("a", type=kind)
        big.size = 100 * 1024 * 1024
        place = tmp_path / str(number)
        place.mkdir()
        assert refusal(big.tobuf(tarfile.GNU_FORMAT), place) == "an extended header is larger than any name"


def pax(content: bytes) -> bytes:
    info = header("pax", type=b"x")
    info.size = len(content)
    block = content + bytes(-len(content) % 512)
    return info.tobuf(tarfile.USTAR_FORMAT) + block + tar((header("a"), b"a"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no number\n", "an extended header holds a bad number"),
        (b"999 path=x\n", "an extended header is damaged"),
        (b"3 \n", "an extended header is damaged"),
        (b"-1 path=x\n", "an extended header holds a bad number"),
        (b"0 path=x\n", "an extended header is damaged"),
        (b"9 path=\0\n", "an extended header holds NUL"),
        (b"12 path=/a/b\n", "an extended header is damaged"),
        (b"13 path=/a/b\n", "/a/b is an absolute name"),
        (b"13 path=../x\n", "../x leads out of the archive"),
        (b"12 size=-10\n", "an extended header holds a bad number"),
        (b"22 GNU.sparse.major=1\n", "the archive holds a sparse file"),
    ],
)
def test_a_damaged_or_lying_pax_header_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    assert refusal(pax(content), tmp_path) == message


def test_a_header_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    data = bytearray(sound_tar())
    data[0] ^= 1
    assert refusal(bytes(data), tmp_path) == "a header's checksum is wrong"


@pytest.mark.parametrize("cut", [100, 513, 600, 1024])
def test_an_archive_that_ends_too_early_is_refused(cut: int, tmp_path: Path) -> None:
    whole = tar((header("a"), b"x" * 2000))
    assert refusal(whole[:cut], tmp_path) in (
        "neither tar, tar.gz nor zip",
        "the archive ends too early",
        "the archive ends in the middle of a header",
    )


def test_compressed_data_that_is_cut_or_damaged_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(tar((header("a"), os.urandom(5000))))
    for number, data in enumerate((whole[:2000], whole[:-4] + b"\0\0\0\0", whole[:50] + b"\xff" * 50 + whole[100:])):
        place = tmp_path / str(number)
        place.mkdir()
        # A wrong sum at the end shows only to who reads on to it, so the tar itself may be whole by then.
        try:
            message = refusal(data, place)
        except AssertionError:
            raise
        except pytest.fail.Exception:
            assert number == 1
        else:
            assert message.startswith(("the compressed data is damaged", "the archive ends", "a header's"))


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    for number, data in enumerate((b"", b"x" * 1000, b"PK", b"\x1f\x8b", b"Rar!\x1a\x07" + bytes(600))):
        place = tmp_path / str(number)
        place.mkdir()
        assert refusal(data, place)


# --- zip --------------------------------------------------------------------------------------------------


def test_a_zip_brings_run_bits_and_links(tmp_path: Path) -> None:
    data = zipped(
        (unix("run", stat.S_IFREG | 0o755), b"x"),
        (unix("link", stat.S_IFLNK | 0o777), b"run"),
        (unix("folder/", stat.S_IFDIR | 0o755), b""),
    )
    assert landed(data, tmp_path) == {"run": b"x", "link": b"-> run"}
    assert (tmp_path / "in/landing/run").stat().st_mode & 0o777 == 0o700


HOSTILE_ZIPS: dict[str, tuple[bytes, str]] = {
    "an absolute name": (zipped(("/x", b"")), "/x is an absolute name"),
    "a way out": (zipped(("a/../../x", b"")), "a/../../x leads out of the archive"),
    "a backslash": (zipped(("..\\x", b"")), "..\\x: the file's name holds a backslash"),
    "a setuid bit": (zipped((unix("x", stat.S_IFREG | 0o4755), b"")), "x has a setuid or setgid bit"),
    "a device": (zipped((unix("x", stat.S_IFBLK), b"")), "'x' is neither a file, a folder nor a link"),
    "names that differ by case": (zipped(("x", b""), ("X", b"")), "X and x differ by case or accents only"),
    "a file below a link": (
        zipped((unix("x", stat.S_IFLNK | 0o777), b"/tmp"), ("x/y", b"")),
        "x stands in the archive twice, as a file and as a folder",
    ),
    "a link's target that is no path": (
        zipped((unix("x", stat.S_IFLNK | 0o777), b"a" * 5000)),
        "the target of the link 'x' is no path",
    ),
    "another compression": (
        zipped(("x", b"x"), method=zipfile.ZIP_LZMA),
        "'x' is compressed in a way that is not read here",
    ),
    "many entries": (
        zipped(*((str(number), b"") for number in range(10_001)), method=zipfile.ZIP_STORED),
        "more than 10,000 entries",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE_ZIPS)
def test_a_hostile_zip_is_refused_and_nothing_lands_outside(kind: str, tmp_path: Path) -> None:
    data, message = HOSTILE_ZIPS[kind]
    assert refusal(data, tmp_path) == message


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_in_a_zip_is_refused(tmp_path: Path) -> None:
    assert refusal(zipped(("x", b"1"), ("x", b"2")), tmp_path) == "x stands in the archive twice"


def test_a_name_that_ends_in_the_list_and_goes_on_in_the_file_is_refused(tmp_path: Path) -> None:
    data = zipped(("good.txt", b"x"))
    assert refusal(data.replace(b"good.txt", b"a\0od.txt"), tmp_path).startswith("a\\u{0000}od.txt: ")
    first = data.replace(b"good.txt", b"evil.txt", 1)
    (tmp_path / "b").mkdir()
    assert refusal(first, tmp_path / "b").startswith("the zip archive is damaged")


def test_a_zip_that_lies_about_a_size_is_refused(tmp_path: Path) -> None:
    data = zipped(("a", bytes(100_000)))
    size = struct.pack("<I", 100_000)
    assert data.count(size) == 2
    assert refusal(data.replace(size, struct.pack("<I", 10)), tmp_path).startswith("the zip archive is damaged")


def test_a_zip_whose_entries_overlap_counts_what_it_unpacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "MAX_BYTES", 10 * 1024 * 1024)
    kernel = zipped(*((f"f{number:04}", bytes(1024 * 1024)) for number in range(50)))
    assert refusal(kernel, tmp_path) == "more than 10 MiB unpacked"


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped(("a", b"x")))
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + offset] |= 1
    assert refusal(bytes(data), tmp_path) == "'a' is encrypted"


def test_a_list_that_is_larger_than_a_packs_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zip_reader, "_MAX_LIST", 100)
    data = zipped(*((f"file-{number}", b"") for number in range(10)))
    assert refusal(data, tmp_path) == "the zip archive's list of entries is too large"


def test_a_zip_without_a_list_is_refused(tmp_path: Path) -> None:
    assert refusal(zipped(("a", b"x"))[:-30], tmp_path) == "the zip archive has no list of entries"


# --- anything ---------------------------------------------------------------------------------------------

SEEDS = [sound_tar(), sound_tar(tarfile.GNU_FORMAT), zipped(*SOUND.items()), gzip.compress(sound_tar())]


@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 4000), st.binary(min_size=1, max_size=4)), max_size=6),
)
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_archive_with_other_bytes_in_it_is_unpacked_or_refused(
    tmp_path_factory: pytest.TempPathFactory, seed: bytes, patches: list[tuple[int, bytes]]
) -> None:
    data = bytearray(seed)
    for start, patch in patches:
        data[start : start + len(patch)] = patch
    place = tmp_path_factory.mktemp("any")
    with suppress(BadArchive):
        landed(bytes(data), place)
    assert {path.name for path in place.iterdir()} == {"archive", "in"}
    assert {path.name for path in (place / "in").iterdir()} == {"landing"}
