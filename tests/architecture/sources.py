"""The product's sources as syntax trees, with every name resolved through the imports of its file."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "hcpx"


@dataclass(frozen=True)
class Use:
    """One name that a file uses (`os.environ`), where, and as what."""

    name: str
    line: int
    role: str  # "call", "argument", "base", "import", "other"


@dataclass(frozen=True)
class Source:
    """One Python file: `path` is relative to the package (`pipeline/execute.py`)."""

    path: str
    text: str
    tree: ast.Module = field(repr=False)

    def uses(self) -> list[Use]:
        """Every dotted name of the file, aliases undone: `from os import fork as f; f()` uses `os.fork`."""
        imports = _Imports(self.tree, self.path)
        roles = _roles(self.tree)
        found = [Use(name, line, "import") for name, line in imports.lines]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute):
                dotted = imports.resolve(node)
                if dotted is not None:
                    found.append(Use(dotted, node.lineno, roles.get(id(node), "other")))
            elif isinstance(node, ast.Call):
                found.extend(Use(module, node.lineno, "import") for module in _imported_by_text(node))
                found.extend(Use(imports.named(text), node.lineno, "argument") for text in _cast_by_text(node))
        return found


def python_sources() -> Iterator[Source]:
    """Every module of the package, in a fixed order."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield source(path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8"))


def source(path: str, text: str) -> Source:
    """A source from its text; `path` is relative to the package."""
    return Source(path, text, ast.parse(text, filename=path))


class _Imports:
    """What each name of a file stands for."""

    def __init__(self, tree: ast.Module, path: str) -> None:
        self._names: dict[str, str] = {}
        self.lines: list[tuple[str, int]] = []
        package = ["hcpx", *path.split("/")[:-1]]
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self._names[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
                    self.lines.append((alias.name, node.lineno))
            elif isinstance(node, ast.ImportFrom):
                parents = package[: len(package) - node.level + 1] if node.level else []
                module = ".".join([*parents, *([node.module] if node.module else [])])
                for alias in node.names:
                    self._names[alias.asname or alias.name] = f"{module}.{alias.name}"
                    self.lines.append((f"{module}.{alias.name}", node.lineno))

    def named(self, text: str) -> str:
        """What a dotted text stands for: `s.Bound` of `cast("s.Bound", x)`."""
        first, dot, rest = text.partition(".")
        return self._names.get(first, first) + dot + rest

    def resolve(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return f"{owner}.{node.attr}" if owner else None
        return None


def _roles(tree: ast.Module) -> dict[int, str]:
    roles: dict[int, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            roles[id(node.func)] = "call"
            if not (isinstance(node.func, ast.Name) and node.func.id == "isinstance"):
                roles.update({id(arg): "argument" for arg in node.args})
                roles.update({id(keyword.value): "argument" for keyword in node.keywords})
        elif isinstance(node, ast.ClassDef):
            roles.update({id(base): "base" for base in node.bases})
    return roles


def _imported_by_text(call: ast.Call) -> list[str]:
    """`os` for `import_module("os")` and `__import__("os")`."""
    match call:
        case ast.Call(
            func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(module)), *_],
        ):
            return [module]
        case _:
            return []


def _cast_by_text(call: ast.Call) -> list[str]:
    """`Bound` for `cast("Bound", x)`."""
    match call:
        case ast.Call(func=ast.Name(id="cast") | ast.Attribute(attr="cast"), args=[ast.Constant(value=str(name)), *_]):
            return [name]
        case _:
            return []
