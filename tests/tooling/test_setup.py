"""scripts/setup on machines that lack something: it installs what it may, else says in one line what to do.

The machine is a folder with the few programs that the script may find; `python`, `apt-get` and `id` are
stand-ins that write down how they were called.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.architecture.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("sh", "bash", "cat", "cksum", "dirname", "head", "ls", "mkdir", "mktemp", "rm", "tail", "touch")
PYTHON = """#!/bin/sh
case $* in
*"sys.version_info <"*) exit {too_old} ;;
*ensurepip*) [ -e "$STATE/venv-package" ] ;;
*sys.version_info*) echo python3.12-venv ;;
--version) echo Python 3.12.0 ;;
"-m venv"*)
    echo "{name} $*" >>"$STATE/calls"
    for made; do :; done
    mkdir -p "$made/bin" && touch "$made/pyvenv.cfg"
    printf '#!/bin/sh\\ncase $2 in pip) echo "venv $*" >>"$STATE/calls" ;; esac\\n' >"$made/bin/python"
    /bin/chmod +x "$made/bin/python" ;;
esac
"""
APT = """#!/bin/sh
echo "apt-get $*" >>"$STATE/calls"
case $* in *python3.12-venv*) touch "$STATE/venv-package" ;; esac
"""
MADE = "python3 -m venv --clear -- .venv"
INSTALLED = "venv -m pip install --quiet --editable .[dev]"
NO_BWRAP = "setup: bubblewrap is missing, so nothing runs isolated; to have it: sudo apt-get install bubblewrap"


class Told(NamedTuple):
    status: int
    said: list[str]
    calls: list[str]


class Machine:
    """A machine with nothing on it but a shell; each method adds something."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self.state = folder / "state"
        self.checkout = folder / "a folder" / "hcpx"
        for made in (self.programs, self.state, self.checkout / "scripts"):
            made.mkdir(parents=True)
        for name in PROGRAMS:
            found = shutil.which(name)
            assert found
            (self.programs / name).symlink_to(found)
        shutil.copy(ROOT / "scripts" / "setup", self.checkout / "scripts" / "setup")
        (self.checkout / "pyproject.toml").write_text("[project]\n")
        self.user(1000)

    def program(self, name: str, text: str) -> Machine:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)
        return self

    def user(self, uid: int) -> Machine:
        return self.program("id", f"#!/bin/sh\necho {uid}\n")

    def python(self, name: str = "python3", *, too_old: bool = False) -> Machine:
        return self.program(name, PYTHON.format(name=name, too_old=int(too_old)))

    def venv_package(self) -> Machine:
        (self.state / "venv-package").touch()
        return self

    def bwrap(self) -> Machine:
        return self.program("bwrap", "#!/bin/sh\n")

    def apt(self, text: str = APT) -> Machine:
        return self.program("apt-get", text)

    def setup(self, level: str = "dev") -> Told:
        (self.state / "calls").write_text("")
        ended = subprocess.run(
            ["scripts/setup", level],
            cwd=self.checkout,
            env={"PATH": str(self.programs), "STATE": str(self.state), "TMPDIR": str(self.state)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = [line for line in ended.stderr.splitlines() if not line.startswith("setup: making .venv")]
        said = [line for line in said if not line.startswith("setup: installing hcpx")]
        return Told(ended.returncode, said, (self.state / "calls").read_text().splitlines())


@pytest.fixture
def bare(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def complete(bare: Machine) -> Machine:
    return bare.python().venv_package().bwrap()


def test_a_complete_machine_gets_its_environment_without_a_word(complete: Machine) -> None:
    assert complete.setup() == Told(0, [], [MADE, INSTALLED])


def test_the_second_time_nothing_is_done(complete: Machine) -> None:
    complete.setup()
    assert complete.setup() == Told(0, [], [])
    assert complete.setup("run") == Told(0, [], [])


def test_the_demo_needs_no_test_tools_and_the_tests_add_them_in_place(complete: Machine) -> None:
    assert complete.setup("run") == Told(0, [], [MADE, "venv -m pip install --quiet --editable ."])
    assert complete.setup("dev") == Told(0, [], [INSTALLED])


def test_a_changed_pyproject_installs_again_into_the_same_environment(complete: Machine) -> None:
    complete.setup()
    (complete.checkout / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert complete.setup() == Told(0, [], [INSTALLED])


def test_a_moved_checkout_gets_a_new_environment(complete: Machine) -> None:
    complete.setup()
    complete.checkout = complete.checkout.rename(complete.checkout.with_name("moved"))
    assert complete.setup() == Told(0, [], [MADE, INSTALLED])


def test_an_environment_whose_python_is_gone_is_made_anew(complete: Machine) -> None:
    complete.setup()
    (complete.checkout / ".venv" / "bin" / "python").unlink()
    assert complete.setup() == Told(0, [], [MADE, INSTALLED])


def test_an_install_that_broke_off_is_not_taken_for_a_finished_one(complete: Machine) -> None:
    complete.setup()
    for stamp in (complete.checkout / ".venv").glob(".made-for-*"):
        stamp.unlink()
    assert complete.setup() == Told(0, [], [MADE, INSTALLED])


def test_a_folder_that_is_no_environment_is_left_alone(complete: Machine) -> None:
    mine = complete.checkout / ".venv" / "letter.txt"
    mine.parent.mkdir()
    mine.write_text("dear")
    told = complete.setup()
    assert (told.status, told.calls, mine.read_text()) == (1, [], "dear")
    assert told.said == ["setup: .venv exists and is no virtual environment; remove it or choose another: VENV=..."]


def test_without_a_recent_python_one_line_says_how(bare: Machine) -> None:
    told = bare.python(too_old=True).setup()
    assert (told.status, told.calls, len(told.said)) == (1, [], 1)
    assert "sudo apt-get install python3.11" in told.said[0]


def test_the_first_recent_python_is_taken(complete: Machine) -> None:
    told = complete.python(too_old=True).python("python3.11").python("python3.12").setup()
    assert told.calls == ["python3.12 -m venv --clear -- .venv", INSTALLED]


def test_a_user_without_the_venv_module_is_told_in_one_line(bare: Machine) -> None:
    told = bare.python().bwrap().apt().setup()
    assert told == Told(
        1, ["setup: python3 cannot make a virtual environment; run: sudo apt-get install python3.12-venv"], []
    )


def test_root_gets_the_venv_module_and_bubblewrap_installed_without_a_question(bare: Machine) -> None:
    told = bare.python().apt().user(0).setup()
    assert told == Told(
        0,
        ["setup: installed python3.12-venv", "setup: installed bubblewrap"],
        [
            "apt-get update",
            "apt-get install -y --no-install-recommends python3.12-venv",
            MADE,
            "apt-get install -y --no-install-recommends bubblewrap",
            INSTALLED,
        ],
    )


def test_a_missing_bubblewrap_is_named_and_stops_nothing(bare: Machine) -> None:
    told = bare.python().venv_package().setup()
    assert told == Told(0, [NO_BWRAP], [MADE, INSTALLED])


def test_a_bubblewrap_that_cannot_be_installed_stops_nothing(bare: Machine) -> None:
    told = bare.python().venv_package().user(0).apt("#!/bin/sh\necho no network >&2\nexit 100\n").setup()
    assert told == Told(0, ["no network", NO_BWRAP], [MADE, INSTALLED])


def test_no_log_of_an_installer_is_left_behind(bare: Machine) -> None:
    bare.python().apt().user(0).setup()
    assert sorted(path.name for path in bare.state.iterdir()) == ["calls", "venv-package"]
