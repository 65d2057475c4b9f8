"""Where trees of processes can be bounded (Spec 04 section 3)."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from hcpx.sandbox import cgroup
from hcpx.sandbox.cgroup import MEMORY, PIDS, Site
from hcpx.sandbox.job import Ended
from tests.sandbox_isolation.bench import Bench

if TYPE_CHECKING:
    from pathlib import Path

V1 = (
    "32 31 0:29 / {at}/pids rw,relatime - cgroup cgroup rw,pids\n"
    "33 31 0:30 / {at}/memory rw - cgroup cgroup rw,memory\n"
)
V2 = "35 24 0:30 {root} {at} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"


def _sites(tmp_path: Path, mounts: str, own: str) -> list[Site]:
    lines = mounts.format(at=tmp_path, root="/").splitlines()
    paths = {line.split(":", 2)[1]: line.split(":", 2)[2] for line in own.splitlines()}
    return [site for line in lines for site in cgroup._of_mount(line + "\n", paths)]


def test_version_1_bounds_below_our_own_group(tmp_path: Path) -> None:
    found = _sites(tmp_path, V1, "9:pids:/\n4:memory:/outer/ours\n0::/\n")
    assert found == [
        Site(f"{tmp_path}/pids", (PIDS,), 1),
        Site(f"{tmp_path}/memory/outer/ours", (MEMORY,), 1),
    ]


def test_version_2_bounds_beside_our_own_group(tmp_path: Path) -> None:
    folder = tmp_path / "user.slice" / "app.slice"
    folder.mkdir(parents=True)
    (folder / "cgroup.subtree_control").write_text("cpu memory pids\n")
    found = _sites(tmp_path, V2, "0::/user.slice/app.slice/ours.scope\n")
    assert found == [Site(str(folder), (MEMORY, PIDS), 2)]


def test_version_2_at_the_root_of_a_container(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("\n")
    assert _sites(tmp_path, V2, "0::/\n") == []
    (tmp_path / "cgroup.subtree_control").write_text("pids\n")
    assert _sites(tmp_path, V2, "0::/\n") == [Site(str(tmp_path), (PIDS,), 2)]


@pytest.mark.parametrize("mounts", ["", "nonsense\n", "1 2 3 / /x rw - cgroup2 x rw\n", "1 2 3 - cgroup cgroup\n"])
def test_what_cannot_be_read_bounds_nothing(tmp_path: Path, mounts: str) -> None:
    (tmp_path / "mountinfo").write_text(mounts)
    (tmp_path / "cgroup").write_text("0::/\n")
    assert cgroup.find(str(tmp_path / "mountinfo"), str(tmp_path / "cgroup")) == cgroup.Sites()
    assert cgroup.find(str(tmp_path / "none"), str(tmp_path / "none")) == cgroup.Sites()


def test_a_site_that_refuses_is_none(tmp_path: Path) -> None:
    (tmp_path / "mountinfo").write_text(V1.format(at=tmp_path))
    (tmp_path / "cgroup").write_text("9:pids:/\n4:memory:/\n")
    (tmp_path / "pids").mkdir()
    assert cgroup.find(str(tmp_path / "mountinfo"), str(tmp_path / "cgroup")) == cgroup.Sites()
    assert list((tmp_path / "pids").iterdir()) == []


@pytest.mark.root
def test_the_whole_tree_is_in_the_group_from_its_first_moment(bench: Bench) -> None:
    if not cgroup.find().bounds(PIDS):
        pytest.skip("no pids cgroup can be had here")
    told = bench.backend.run(bench.shell("cat /proc/self/cgroup /proc/1/cgroup"))
    assert isinstance(told, Ended)
    lines = [line for line in told.stdout.decode().splitlines() if ":pids:" in line or ":memory:" in line]
    assert lines
    assert all(f"/hcpx-{os.getpid()}-" in line for line in lines)


def test_no_two_trees_of_a_process_share_a_name() -> None:
    with ThreadPoolExecutor(4) as pool:
        names = list(pool.map(lambda _: cgroup.new_name(), range(200)))
    assert len(set(names)) == len(names)
