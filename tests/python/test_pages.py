"""Runs every block of Python of every page: those of a page in their order, in one namespace, in a folder of their own.

A page is a Markdown file of the repository. What begins in a line that says <!-- not run: REASON --> stays as it is.
"""
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re
import traceback

import pytest

import tallskinny

root = pathlib.Path(__file__).resolve().parents[2]
rooms = ("app", "data", "docs", "gemm", "io", "solvers", "tests")
pages = [root / "README.md", *sorted(page for room in rooms for page in (root / room).rglob("*.md"))]
mark = re.compile(r"<!-- not run:(.*)-->")


def blocks_of(text):
    """(number of its first line, source) of each block that is to run. ValueError for a mark that marks nothing."""
    lines = text.split("\n")
    found, marked, begin, runs = [], None, None, True
    for number, line in enumerate(lines, 1):
        if begin is not None:
            if line.strip() == "```":
                if runs:
                    found.append((begin, "\n".join(lines[begin - 1:number - 1])))
                begin = None
        elif match := mark.fullmatch(line.strip()):
            if not match[1].strip():
                raise ValueError(f"line {number}: the mark gives no reason")
            marked = number
        elif line.startswith("```python"):
            begin, runs, marked = number + 1, marked is None, None
        elif marked and line.strip():
            raise ValueError(f"line {marked}: no block of Python follows the mark")
    if begin is not None:
        raise ValueError(f"line {begin - 1}: the block has no end")
    return found


def run(text, name):
    """Runs the blocks of a page. Returns how many; AssertionError naming the page and the line that failed."""
    space = {"__name__": "__main__"}
    try:
        blocks = blocks_of(text)
    except ValueError as e:
        raise AssertionError(f"{name}: {e}") from None
    for begin, source in blocks:
        line = begin
        try:
            exec(compile("\n" * (begin - 1) + source, name, "exec"), space)
        except SyntaxError as e:
            raise AssertionError(f"{name}:{e.lineno or line}: {e.msg}") from None
        except Exception as e:
            for frame in traceback.extract_tb(e.__traceback__):
                line = frame.lineno if frame.filename == name else line
            raise AssertionError(f"{name}:{line}: {type(e).__name__}: {e}") from e
    return len(blocks)


@pytest.mark.parametrize("page", [str(page.relative_to(root)) for page in pages if "\n```python" in page.read_text()])
def test_page(page, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "data").symlink_to(root / "data")
    monkeypatch.chdir(tmp_path / "out")
    run((root / page).read_text(), page)


page = """# A page
```python
x = 3
```
words
<!-- not run: takes an hour -->

```python
x = 1 / 0
```
```python
def half(y):
    return x / y

half(2)
half(0)
```
"""


def test_what_a_page_is_told():
    assert blocks_of(page) == [(3, "x = 3"), (12, "def half(y):\n    return x / y\n\nhalf(2)\nhalf(0)")]
    with pytest.raises(AssertionError, match="^p.md:13: ZeroDivisionError: "):
        run(page, "p.md")
    assert run(page.replace("half(0)", "assert x == 3"), "p.md") == 2
    with pytest.raises(AssertionError, match="^p.md:1[56]: "):
        run(page.replace("half(2)", "half(2"), "p.md")
    with pytest.raises(AssertionError, match="p.md: line 6: the mark gives no reason"):
        run(page.replace(" takes an hour", ""), "p.md")
    with pytest.raises(AssertionError, match="p.md: line 6: no block of Python follows"):
        run(page.replace("\n\n```python", "\nno block\n```python"), "p.md")
    with pytest.raises(AssertionError, match="p.md: line 11: the block has no end"):
        run(page[:page.rindex("```")], "p.md")


def test_pages_have_python():
    """At least the pages that are for readers who come from Python."""
    have = {page.name for page in pages if blocks_of(page.read_text())}
    assert {"eigsh.md", "faiss.md", "scikit-learn.md", "slepc.md"} <= have


def test_examples_of_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = [m.name for m in pkgutil.iter_modules(tallskinny.__path__) if m.name != "_core"]
    found = [doctest.testmod(importlib.import_module(f"tallskinny.{name}")) for name in names]
    assert sum(result.failed for result in found) == 0
    assert sum(result.attempted for result in found) >= 10


def python_column(text):
    """(line, cell) of the last column of the tables whose last heading has `ts.` or imports the package."""
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if inside and cells:
            yield number, cells[-1]
        else:
            inside = bool(cells) and ("`ts." in cells[-1] or "import tallskinny" in cells[-1])


@pytest.mark.parametrize("page", ["eigsh", "faiss", "scikit-learn", "slepc"])
def test_arguments_that_tables_name(page):
    calls = (tallskinny.eigsh, tallskinny.eigs, tallskinny.svds, tallskinny.Context, tallskinny.KMeans,
             tallskinny.MiniBatchKMeans, tallskinny.BisectingKMeans)
    known = {name for call in calls for name in inspect.signature(call).parameters}
    cells = list(python_column((root / "docs/coming-from" / f"{page}.md").read_text()))
    named = [(line, name) for line, cell in cells for code in re.findall("`([^`]*)`", cell)
             for name in re.findall(r"\b(\w+)=", code)]
    assert len(cells) > 10 and len(named) > 3
    assert [(line, name) for line, name in named if name not in known] == []
    attributes = [name for _, cell in cells for name in re.findall(r"\bts\.(\w+)", cell)]
    assert [name for name in attributes if not hasattr(tallskinny, name)] == []
