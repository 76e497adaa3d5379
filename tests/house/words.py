#!/usr/bin/env python3
"""The words of the house: how comments begin, names in public headers, subjects of commits. Run as: words.py ROOT

Each bound was measured when it was set. Lower a bound when text gets better; do not raise one.
"""
import collections
import pathlib
import re
import subprocess
import sys

# Comments that begin with these words need the line above to be understood.
OPENINGS = re.compile(r"(What|Whether|Of|As|The same)\b")
MOST_OPENINGS = 345
# Words that have a name of the field: backend, device counterpart, request, filter, undecided row, projection ...
FORBIDDEN = {"body", "bodies", "twin", "wish", "chooser", "chosen", "head", "heads", "tails", "settle", "settles",
             "settled", "told", "meets", "feeder", "feeders", "parcel", "parcels", "letters", "octet", "octets",
             "looks", "travelling"}
FORBIDDEN_PAIRS = {("open", "row"), ("open", "rows"), ("loose", "row"), ("loose", "rows"), ("as", "are")}
KNOWN_NAMES = "words_known.txt"  # those that public headers had before this test, a line each
LONGEST_SUBJECT = 72
FIRST_COMMIT = "72392b27908e64ce031d658ab145be68537ba5e3"  # subjects are read from here on


def openings(text, hashes):
    """The OPENINGS with which comments of a source begin; only the first line of a comment counts."""
    mark = "#+" if hashes else "///?<?"
    line_comment, after_code = rf"\s*{mark}\s*(.*)", rf"\s{mark}\s+(\S.*)"
    found, inside = [], False
    for line in text.split("\n"):
        whole = re.match(line_comment, line)
        first = None if whole and inside else whole or re.search(after_code, line)
        inside = bool(whole)
        if first and (word := OPENINGS.match(first[1])):
            found.append(word[1])
    return found


def names_of(text):
    """Identifiers of C and C++, without those of comments, strings and the names of included files."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"(\\.|[^\"\\])*\"|#include[^\n]*", " ", text, flags=re.S)
    return set(re.findall(r"\b[A-Za-z]\w*", code))


def is_forbidden(name):
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    return bool(FORBIDDEN & set(words) or FORBIDDEN_PAIRS & set(zip(words, words[1:])))


def public_headers(root):
    for lists in sorted(root.glob("*/**/CMakeLists.txt")):
        if lists.relative_to(root).parts[0] not in ("build", "tests"):
            for group in re.findall(r"PUBLIC_HEADERS\s+([^)]*)", lists.read_text()):
                yield from (lists.parent / name for name in group.split() if name.endswith((".hpp", ".h")))


def long_subjects(subjects):
    return [subject for subject in subjects if len(subject) > LONGEST_SUBJECT]


def git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def prove_that_it_fails():
    """A bad example of each kind is found, and a good one is not."""
    bad = "int a;  ///< whether\n/// Whether rows fit.\n/// Of all rows.\nint b;  // As above\n"
    assert openings(bad, False) == ["Whether", "As"], openings(bad, False)
    assert openings("# What is near.\nx = 1  # Of rows\n# Distance metric.\n", True) == ["What", "Of"]
    assert names_of('struct DirectBody { int a; };  // twin\nconst char* s = "wish";') >= {"DirectBody", "s"}
    assert not names_of('// twin\n"wish"') & {"twin", "wish"}
    assert all(map(is_forbidden, ["DirectBody", "open_rows", "told", "HermitianWish", "as_are", "settle_labels"]))
    assert not any(map(is_forbidden, ["backend", "opened", "headers", "somebody", "setting", "rows_open"]))
    assert long_subjects(["Add a test", "x" * 73]) == ["x" * 73]


def main():
    prove_that_it_fails()
    root, wrong = pathlib.Path(sys.argv[1]), []

    counts = collections.Counter()
    for room in ("app", "cmake", "docs", "gemm", "io", "solvers", "tests"):
        for source in sorted((root / room).rglob("*")):
            hashes = source.suffix in (".py", ".sh", ".cmake") or source.name == "CMakeLists.txt"
            if (hashes or source.suffix in (".hpp", ".cpp", ".ipp", ".cuh")) and "results" not in source.parts:
                counts.update(openings(source.read_text(errors="replace"), hashes))
    if counts.total() > MOST_OPENINGS:
        wrong.append(f"{counts.total()} comments begin with words that need the line above, more than {MOST_OPENINGS}: "
                     + ", ".join(f"{word} {count}" for word, count in counts.most_common()))

    headers = list(public_headers(root))
    if len(headers) < 50:
        wrong.append(f"only {len(headers)} public headers were found")
    names = {name for header in headers for name in names_of(header.read_text()) if is_forbidden(name)}
    known = set((pathlib.Path(__file__).parent / KNOWN_NAMES).read_text().split())
    wrong += [f"a new public name has a word that the glossary replaces: {name}" for name in sorted(names - known)]

    subjects = None
    if git(root, "rev-parse", "--show-prefix") == "\n" and git(root, "cat-file", "-e", FIRST_COMMIT) is not None:
        subjects = git(root, "log", "--no-merges", "--format=%s", f"{FIRST_COMMIT}..HEAD")
    if subjects is not None:
        wrong += [f"a subject of {len(s)} characters, more than {LONGEST_SUBJECT}: {s}"
                  for s in long_subjects(subjects.splitlines())]

    print("\n".join(wrong) or f"{counts.total()} openings, {len(headers)} public headers, "
          + ("no history" if subjects is None else f"{len(subjects.splitlines())} subjects"))
    if known - names:
        print("gone, and may leave the list of known names: " + " ".join(sorted(known - names)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
