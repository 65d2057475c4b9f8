"""Reads a pack directory and judges it: the one gate for installed and linked packs (Spec 02 section 6)."""

from __future__ import annotations

import os

import msgspec

from hcpx.vocabulary.finding import MANIFEST, Finding, errors, in_order
from hcpx.vocabulary.json_text import encode
from hcpx.vocabulary.pack import Pack, Skill
from hcpx.vocabulary.text import shown

from .digest import pack_digest
from .files import Inventory, TooMuch, read_file, take_inventory
from .frontmatter import SkillFile, read_skill
from .lint.rule import Draft, Installed
from .manifest import JsonObject, Manifest, compile_pack, read_manifest, skill_files
from .yaml_nodes import MAX_BYTES


class Reading(msgspec.Struct, frozen=True):
    """What a pack directory came to: the pack where it can be compiled, and all findings, in order."""

    pack: Pack | None
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> Pack | None:
        """The pack, where no finding is an error."""
        return None if errors(self.findings) else self.pack


def nothing_installed(_: str) -> Pack | None:
    """Stand in where no other pack is known: steps of composites that lead elsewhere give warnings."""
    return None


def lint(path: str, *, installed: Installed = nothing_installed, packaged: bool = False) -> tuple[Finding, ...]:
    """Return every finding about the pack directory at `path`, in order; without an `error` it passes.

    `installed` looks up the tenant's other packs, `packaged` says that the pack comes in a Python package.
    """
    return read_pack(path, installed=installed, packaged=packaged).findings


def read_pack(
    path: str, *, installed: Installed = nothing_installed, packaged: bool = False, judged: bool = True
) -> Reading:
    """Read, compile and judge the pack directory at `path`; whatever is there, the answer is a `Reading`.

    With `judged=False` the rules of lint are left out: what can be compiled passes.
    """
    if "\0" in path:
        return _refused("manifest_missing", "a path holds no NUL", "name the folder of the pack")
    root = os.path.realpath(path)
    try:
        manifest = _manifest(root)
        if manifest.root is None and not os.path.isdir(root):
            return Reading(None, manifest.findings)
        inventory = take_inventory(root)
    except TooMuch as problem:
        return _refused("pack_too_large", f"the pack holds {problem}", "leave out what the pack does not need")
    except OSError as problem:
        why = f"the pack directory cannot be read: {problem.strerror or problem}"
        return _refused("unreadable", why, "name a folder with a pack.yaml that you may read")
    findings = [*manifest.findings, *inventory.findings]
    if manifest.root is None or not manifest.fits:
        return Reading(None, in_order(findings))
    value = manifest.value()
    skills = _skills(root, value, inventory)
    findings += [finding for file in skills.values() for finding in file.findings]
    pack = _compiled(root, value, inventory, skills)
    if judged:
        from .lint.rules import RULES

        draft = Draft(root, manifest.root, pack, inventory, skills, installed, packaged)
        findings += [finding for rule in RULES for finding in rule.findings(draft)]
    return Reading(pack, in_order(findings))


def _manifest(root: str) -> Manifest:
    try:
        data = read_file(root, MANIFEST, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        why, mend = "there is no pack.yaml", "name the folder that holds it, or make one: hcpx pack new"
        return Manifest(None, (Finding("manifest_missing", "error", why, mend),))
    except OSError as problem:
        why = f"the manifest cannot be read: {shown(problem.strerror or str(problem))}"
        return Manifest(None, (Finding("unreadable", "error", why, "make it a plain file that you may read"),))
    return read_manifest(data)


def _skills(root: str, value: JsonObject, inventory: Inventory) -> dict[str, SkillFile]:
    """Read the Skill files that the manifest names and the pack has."""
    found: dict[str, SkillFile] = {}
    looks = inventory.looks()
    real_root = os.path.realpath(root)
    for file in skill_files(value):
        real = os.path.realpath(os.path.join(real_root, file))
        if file in looks and os.path.isfile(real):
            try:
                data = read_file(real_root, os.path.relpath(real, real_root), MAX_BYTES)
            except OSError:
                continue
            found[file] = read_skill(data, file)
    return found


def _compiled(root: str, value: JsonObject, inventory: Inventory, skills: dict[str, SkillFile]) -> Pack:
    leads: list[Skill] = [file.skill for file in skills.values() if file.skill is not None]
    looks = inventory.looks()
    return compile_pack(
        value,
        digest=pack_digest(value, looks),
        root=root,
        skills=tuple(leads),
        files=encode(looks).decode(),
    )


def _refused(code: str, message: str, mend: str) -> Reading:
    return Reading(None, (Finding(code, "error", shown(message), mend, file="."),))
