"""Looks whether every local link of a built site leads somewhere, anchors included: check_links.py FOLDER"""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page; what it fetches from elsewhere when it is looked at."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.fetched = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors.update(value for name, value in attrs if name in ("id", "name") and value)
        target = given.get("href") or given.get("src")
        if not target:
            return
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            if tag in ("script", "img", "link") and parts.scheme in ("", "http", "https"):
                self.fetched.append(target)
        else:
            self.links.append((unquote(parts.path), unquote(parts.fragment)))


folder = Path(sys.argv[1]).resolve()
pages = {path: Page(path.read_text(errors="replace")) for path in sorted(folder.rglob("*.html"))}
wrong, links = [], 0
for path, page in pages.items():
    where = path.relative_to(folder)
    wrong += [f"{where}: fetches {target}" for target in page.fetched]
    for target, anchor in page.links:
        links += 1
        goal = (path.parent / target).resolve() if target else path
        if goal.is_dir():
            goal = goal / "index.html"
        if not goal.exists():
            wrong.append(f"{where}: {target} is not there")
        elif where.parts[0] == "api":
            continue  # Doxygen links to parts that it leaves out, such as private types
        elif anchor and goal in pages and anchor not in pages[goal].anchors:
            wrong.append(f"{where}: {target}#{anchor} is not there")
print("\n".join(wrong[:100]))
if wrong or links < 1000:
    sys.exit(f"{len(wrong)} of {links} links lead nowhere")
