#!/usr/bin/env python3
"""The figures of docs/scaling.md are those that docs/scaling.py prints. Usage: scaling.py FOLDER_OF_THE_TREE"""
import pathlib
import re
import sys

docs = pathlib.Path(sys.argv[1]) / "docs"
sys.dont_write_bytecode = True
sys.path.insert(0, str(docs))
import scaling  # noqa: E402

page = (docs / "scaling.md").read_text()
# Tables of predictions; others of the page have words in them.
on_page = [table for table in re.findall(r"(?:^\|.*\n)+", page, re.M) if re.search(r"step s|predicted", table)]
printed = [table + "\n" for table in scaling.tables()]
wrong = [f"only docs/scaling.md has\n{table}" for table in on_page if table not in printed]
wrong += [f"only docs/scaling.py prints\n{table}" for table in printed if table not in on_page]
sentences = " ".join(page.split())
wrong += [f"docs/scaling.md lacks: {phrase}" for phrase in scaling.phrases() if phrase not in sentences]
print("\n".join(wrong) or f"{len(printed)} tables")
sys.exit(1 if wrong else 0)
