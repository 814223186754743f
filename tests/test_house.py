"""House rules that a machine can keep."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from processes.tools import TOOLS

ROOT = Path(__file__).resolve().parents[1]
APPS = ("config", "approvals", "processes", "checks")
LINES, FUNCTION_LINES = 400, 60
# who may assign the state of a run, a step, an item or a submission
STATE_WRITERS = {
    "processes/now.py",
    "processes/runs.py",
    "processes/loaded.py",
    "processes/checking.py",
    "processes/applying.py",
    "processes/tools/decide.py",
}
# who may write their rows
ROWS = {"Run", "Step", "Attempt", "WorkItem"}
ROW_WRITERS = {"processes/runs.py", "processes/saving.py", "processes/waking.py"}
WRITES = {"update", "bulk_update", "bulk_create", "create", "get_or_create", "update_or_create", "delete"}
# names that Django gives a migration when nobody else does
AUTOMATIC = re.compile(r"\d{4}_(auto_|alter_|remove_|rename_|delete_|.*_and_more$)")
TEXTS = {".py", ".md", ".toml", ".txt", ".html", ".css", ".js", ".json", ".yml", ".yaml", ".cfg", ""}
SKIPPED = {".venv", ".git", "var", "staticfiles", "node_modules", "__pycache__"}


@cache
def sources() -> dict[str, ast.Module]:
    """Every module of the apps but migrations, by its path from the root."""
    found = {}
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                found[path.relative_to(ROOT).as_posix()] = ast.parse(path.read_text("utf-8"))
    return found


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    for name, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield name, node


def test_no_file_is_too_long():
    long = {}
    for name in sources():
        lines = len((ROOT / name).read_text("utf-8").splitlines())
        if lines > LINES:
            long[name] = lines
    assert not long, f"over {LINES} lines: {long}"


def test_no_function_is_too_long():
    long = {}
    for name, node in nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        lines = (node.end_lineno or 0) - node.lineno + 1
        if lines > FUNCTION_LINES:
            long[f"{name}:{node.name}"] = lines
    assert not long, f"over {FUNCTION_LINES} lines: {long}"


def test_states_are_assigned_where_the_moves_are_made():
    found = {
        name
        for name, node in nodes(ast.Assign, ast.AugAssign, ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for part in (target.elts if isinstance(target, ast.Tuple) else [target])
        if isinstance(part, ast.Attribute) and part.attr == "state"
    }
    assert found <= STATE_WRITERS


def test_rows_of_a_run_are_written_by_its_writers_alone():
    found = set()
    for name, node in nodes(ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in WRITES:
            root: ast.AST = node.func
            while isinstance(root, ast.Attribute | ast.Call):
                root = root.value if isinstance(root, ast.Attribute) else root.func
            if isinstance(root, ast.Name) and root.id in ROWS:
                found.add(name)
    assert found <= ROW_WRITERS


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_has_a_test_file_of_its_own(tool):
    assert (ROOT / "tests" / "processes" / f"test_tool_{tool}.py").is_file()


def test_every_tool_is_a_module_of_its_own():
    modules = {path.stem for path in (ROOT / "processes" / "tools").glob("*.py")} - {"__init__"}
    assert modules == set(TOOLS)


def test_migrations_are_named_by_hand():
    names = [path.stem for app in APPS for path in (ROOT / app).glob("migrations/0*.py")]
    assert names
    assert not [name for name in names if AUTOMATIC.match(name)]


def test_no_sleeping_and_no_printing():
    called = {
        f"{name}:{node.lineno} {ast.unparse(node.func)}"
        for name, node in nodes(ast.Call)
        if ast.unparse(node.func) in ("print", "breakpoint", "pdb.set_trace")
        and "/management/commands/" not in name
    }
    assert not called


def texts() -> Iterator[Path]:
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part in SKIPPED or (part.startswith(".") and part != ".ci") for part in parts)
        if not hidden and path.suffix in TEXTS and path.is_file() and path.name != "uv.lock":
            yield path


def test_no_word_of_anybodys_machine():
    """A path of a home or of a build machine says nothing to whoever clones this."""
    machine = re.compile(r"(?<![\w.])/(work|root|home/\w+|Users/\w+)/\w")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in texts()
        for match in machine.finditer(path.read_text("utf-8", errors="replace"))
    ]
    assert not found
