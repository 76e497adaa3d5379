"""The site: Sphinx over the Markdown of the whole tree, so that no text exists twice. `bash docs/build.sh` runs it."""
import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent

project = "tallskinny"
author = "The tallskinny developers"
copyright = "the tallskinny developers, Apache License 2.0"
release = re.search(r"project\(tallskinny VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()).group(1)
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# Docstrings of the Python package, which need not be built for them.
sys.path.insert(0, str(root / "app/python"))
autodoc_mock_imports = ["numpy", "scipy", "tallskinny._core"]
sys.modules["sklearn"] = None  # where it is installed, it does not load beside a mock of numpy
root_doc = "docs/index"
rooms = ["app", "data", "docs", "gemm", "io", "solvers", "tests"]
include_patterns = ["*.md"] + [f"{room}/**.md" for room in rooms]
exclude_patterns = ["build*", "out", "**/fixtures/**"]  # builds have links to the root, which Sphinx would follow

myst_heading_anchors = 3
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # words for types, such as array
smartquotes = False  # two hyphens begin an option
highlight_language = "text"  # of blocks that name none: commands and what they print

html_theme = "furo"
html_title = f"tallskinny {release}"
html_extra_path = ["site"]
html_static_path = []
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
