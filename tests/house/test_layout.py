"""The shape of the house: rooms, sizes, and what may stand at the top."""

from __future__ import annotations

import ast
import re

import pytest

TOP_LEVEL = {
    "LICENSE",
    "README.md",
    "data",
    "flows",
    "pyproject.toml",
    "requirements.lock",
    "sql",
    "tests",
}
LONGEST = {"flows/**/*.py": 300, "sql/**/*.sql": 80, "tests/**/*.py": 400}
LONGEST_FUNCTION = 60

# Written in pieces, so that this file does not name what it looks for.
HOSTS = [
    ".".join(pieces)
    for pieces in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("debian", "org"),
        ("anaconda", "org"),
        ("crates", "io"),
        ("proxy", "golang"),
    )
]
REGISTRY = re.compile(
    "|".join([*map(re.escape, HOSTS), r"https?://[\w.:-]+/(?:simple|packages)\b"])
)
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:work|farm|root)/|/tmp/(?:venv|house)|/opt/(?:pypi|wheels)"
    r"|(?<![\w.])/home/\w|(?<![\w.])/Users/\w"
)


def lines_of(path):
    return len(path.read_text().splitlines())


def functions_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


def matches(pattern, root, kept_files):
    found = []
    for name in kept_files:
        try:
            text = (root / name).read_text()
        except UnicodeDecodeError:
            continue  # Parquet and pictures
        found += [f"{name}: {hit.group()}" for hit in pattern.finditer(text)]
    return found


def test_packages_in_pyproject_are_the_folders(root, project):
    folders = {
        ".".join(file.parent.relative_to(root).parts)
        for file in (root / "flows").rglob("*.py")
        if "__pycache__" not in file.parts
    }
    assert set(project["tool"]["setuptools"]["packages"]) == folders | {"flows.sql"}


def test_every_room_has_its_chapter(root):
    silent = [
        str(folder.relative_to(root))
        for folder in (root / "flows").iterdir()
        if folder.is_dir() and folder.name != "__pycache__"
        if not (folder / "__init__.py").is_file()
        or ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) is None
    ]
    assert silent == []


def test_top_level_holds_only_what_is_allowed(kept_files):
    top = {name.parts[0] for name in kept_files if not name.parts[0].startswith(".")}
    assert top <= TOP_LEVEL


@pytest.mark.parametrize("pattern", LONGEST)
def test_no_file_is_too_long(root, pattern):
    limit = LONGEST[pattern]
    lengths = {
        str(file.relative_to(root)): lines_of(file) for file in root.glob(pattern)
    }
    assert {file: n for file, n in lengths.items() if n > limit} == {}


def test_no_function_is_too_long(root):
    long = [
        f"{file.relative_to(root)}: {name} has {length} lines"
        for file in sorted((root / "flows").rglob("*.py"))
        for name, length in functions_of(file)
        if length > LONGEST_FUNCTION
    ]
    assert long == []


def test_tests_are_no_packages(root):
    assert list((root / "tests").rglob("__init__.py")) == []


def test_no_file_names_a_registry_host(root, kept_files):
    assert matches(REGISTRY, root, kept_files) == []


def test_no_file_names_a_path_of_one_machine(root, kept_files):
    assert matches(MACHINE_PATH, root, kept_files) == []
