"""The rules of the house that no linter can say: who starts, who reads the environment, who makes what."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.sources import PACKAGE, ROOT, Source, python_sources, source

if TYPE_CHECKING:
    from pathlib import Path

# Module -> why it may. A backend that has to start something itself is added here, with its reason.
STARTS_PROCESSES = {
    "sandbox/spawn.py": "the one module that starts a process",
    "sandbox/backends/landlock_helper.py": "a program of its own, single-threaded, that starts one under Landlock",
    "conformance/faces.py": "the runner is a caller of the command line, in a process of its own",
}
READS_ENVIRONMENT = {
    "settings.py": "the one reader of configuration and environment",
    "conformance/faces.py": "a case lays down variables of the runtime's own process",
}
MADE_BY = {
    "Resolved": "pipeline/step1_resolve.py",
    "Authenticated": "pipeline/step2_authenticate.py",
    "Permitted": "pipeline/step3_authorize.py",
    "Confirmed": "pipeline/step4_confirm.py",
    "Replayed": "pipeline/step4_confirm.py",
    "Intended": "pipeline/step5_mint.py",
    "Bound": "pipeline/step5_mint.py",
    "Outcome": "pipeline/step6_run.py",
}

PROCESS = re.compile(
    r"""(?:subprocess|multiprocessing|pty|_posixsubprocess|popen2)(?:\.|$)
    | (?:os|posix)\.(?:fork|forkpty|system|popen|posix_spawnp?|exec[lv]p?e?|spawn[lv]p?e?)$
    | asyncio\.(?:subprocess|create_subprocess_\w+)(?:\.|$)
    | concurrent\.futures\.(?:process|ProcessPoolExecutor)(?:\.|$)
    """,
    re.VERBOSE,
)
ENVIRONMENT = re.compile(
    r"""(?:os|posix)\.(?:environb?|getenvb?|putenv|unsetenv|get_exec_path)(?:\.|$)
    | (?:os\.path|posixpath)\.(?:expandvars|expanduser)$
    | pathlib\.(?:Posix)?Path\.home$
    | shutil\.which$
    | getpass\.getuser$
    """,
    re.VERBOSE,
)
NAMELESS = re.compile(r"^_*(?:utils?|common|core|helpers?|managers?)$")
EXECUTE_LINES = 120
# Folders of machines that build: a text that names one was written for that machine.
BUILD_FOLDERS = ("work", "farm", "github/workspace", "home/runner")
BUILD_PATH = re.compile(rf"(?<![\w.$}}\])~/-])/(?:{'|'.join(BUILD_FOLDERS)})/\w")
PRODUCT = ("src", "packs", "conformance", "docs", "bench", "tests", "scripts", "changelog.d", ".ci")
PURE_ROOMS = ("pipeline/", "rendering/", "vocabulary/")


def offences(sources: list[Source], pattern: re.Pattern[str], allowed: dict[str, str]) -> list[str]:
    """`path:line name` for each use that matches outside the allowed modules."""
    return sorted(
        {
            f"{one.path}:{use.line} {use.name}"
            for one in sources
            if one.path not in allowed
            for use in one.uses()
            if pattern.match(use.name)
        }
    )


def environment_options(one: Source) -> list[str]:
    """Looks at the environment behind another name: click's `envvar=`, a path's `expanduser()`."""
    found: list[str] = []
    for node in ast.walk(one.tree):
        match node:
            case ast.keyword(arg="envvar" | "auto_envvar_prefix" as name, value=ast.expr(lineno=line)):
                found.append(f"{one.path}:{line} {name}=")
            case ast.Call(func=ast.Attribute(attr="expanduser", lineno=line)):
                found.append(f"{one.path}:{line} expanduser()")
            case _:
                pass
    return found


def stage_makers(sources: list[Source]) -> dict[str, set[str]]:
    """For each stage the modules that make one: call it, hand the class to a maker, or derive from it."""
    makers: dict[str, set[str]] = {stage: set() for stage in MADE_BY}
    for one in sources:
        for use in one.uses():
            module, _, stage = use.name.rpartition(".")
            if stage in makers and module.startswith("hcpx.pipeline") and use.role in {"call", "argument", "base"}:
                makers[stage].add(one.path)
    return makers


def test_processes_start_in_one_module_only() -> None:
    assert offences(list(python_sources()), PROCESS, STARTS_PROCESSES) == []


def test_the_environment_is_read_in_one_module_only() -> None:
    sources = list(python_sources())
    options = [found for one in sources if one.path not in READS_ENVIRONMENT for found in environment_options(one)]
    assert offences(sources, ENVIRONMENT, READS_ENVIRONMENT) + options == []


def test_each_stage_is_made_in_its_own_step_only() -> None:
    strangers = {
        stage: sorted(modules - {MADE_BY[stage]})
        for stage, modules in stage_makers(list(python_sources())).items()
        if modules - {MADE_BY[stage]}
    }
    assert strangers == {}


def test_every_stage_type_has_its_step() -> None:
    stages = PACKAGE / "pipeline" / "stages.py"
    declared = [node.name for node in ast.parse(stages.read_text()).body if isinstance(node, ast.ClassDef)]
    assert sorted(declared) == sorted(MADE_BY)
    makers = stage_makers(list(python_sources()))
    assert [stage for stage, step in MADE_BY.items() if (PACKAGE / step).exists() and not makers[stage]] == []


def test_the_pipeline_fits_on_one_page() -> None:
    pages = [one for one in python_sources() if one.path == "pipeline/execute.py"]
    assert [one.path for one in pages if len(one.text.splitlines()) > EXECUTE_LINES] == []


def test_every_module_has_a_name_of_the_field() -> None:
    paths = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    nameless = {path.as_posix() for path in paths for part in path.with_suffix("").parts if NAMELESS.match(part)}
    assert nameless == set()


def test_nobody_excuses_a_line_of_the_pure_rooms_from_coverage() -> None:
    excused = [one.path for one in python_sources() if one.path.startswith(PURE_ROOMS) and "pragma: no" in one.text]
    assert excused == []


def test_no_product_file_names_a_path_of_the_machine_that_built_it() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in product_files()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if BUILD_PATH.search(line)
    ]
    assert named == []


def product_files() -> list[Path]:
    """Every text that people get: the folders of the product and the files at the top."""
    below = [path for folder in PRODUCT for path in sorted((ROOT / folder).rglob("*"))]
    top = [path for path in sorted(ROOT.iterdir()) if path.suffix in {".md", ".toml"} or path.name == "Makefile"]
    return [path for path in [*below, *top] if path.is_file() and "__pycache__" not in path.parts]


# The rules bite: each of these texts would be found.


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess",
        "from subprocess import run",
        "import subprocess as s",
        "import os\nos.fork()",
        "import os as o\no.posix_spawn('/bin/true', [], {})",
        "from os import execve as go\ngo('/bin/true', [], {})",
        "import os\nstart = os.system",
        "from importlib import import_module\nimport_module('subprocess')",
        "__import__('multiprocessing')",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from concurrent.futures import ProcessPoolExecutor",
        "def late():\n    import pty",
    ],
)
def test_a_start_in_another_module_is_found(text: str) -> None:
    assert offences([source("hub/hub.py", text)], PROCESS, STARTS_PROCESSES) != []
    assert offences([source("sandbox/spawn.py", text)], PROCESS, STARTS_PROCESSES) == []


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.environ['A']",
        "from os import environ",
        "from os import getenv as g\ng('A')",
        "import os\nos.path.expandvars('$A')",
        "from os.path import expanduser",
        "import shutil\nshutil.which('git')",
        "from pathlib import Path\nPath.home()",
    ],
)
def test_a_look_at_the_environment_elsewhere_is_found(text: str) -> None:
    assert offences([source("hub/hub.py", text)], ENVIRONMENT, READS_ENVIRONMENT) != []


@pytest.mark.parametrize("text", ["option('--x', envvar='HCP_X')", "path.expanduser()"])
def test_a_hidden_look_at_the_environment_is_found(text: str) -> None:
    assert environment_options(source("faces/cli/exec.py", text)) != []


@pytest.mark.parametrize(
    "text",
    [
        "from hcpx.pipeline.stages import Bound\nBound()",
        "from hcpx.pipeline import stages\nstages.Bound()",
        "from .stages import Bound as B\nB()",
        "import hcpx.pipeline.stages as s\nconvert({}, type=s.Bound)",
        "from hcpx.pipeline.stages import Bound\nclass Mine(Bound): ...",
        "from typing import cast\nfrom hcpx.pipeline.stages import Bound\ncast('Bound', {})",
    ],
)
def test_evidence_made_in_another_step_is_found(text: str) -> None:
    assert stage_makers([source("pipeline/step6_run.py", text)])["Bound"] == {"pipeline/step6_run.py"}


def test_a_stage_that_is_only_named_as_a_type_is_no_evidence_made() -> None:
    text = "from .stages import Bound\ndef run(bound: Bound) -> bool:\n    return isinstance(bound, Bound)"
    assert stage_makers([source("pipeline/step6_run.py", text)])["Bound"] == set()


@pytest.mark.parametrize("folder", BUILD_FOLDERS)
def test_a_path_of_a_build_machine_is_found(folder: str) -> None:
    assert BUILD_PATH.search(f"see /{folder}/notes.md")
    assert not BUILD_PATH.search(f"see src/{folder}/notes.md")
