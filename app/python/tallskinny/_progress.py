"""Progress reports of long calls."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings

_pause = 0.1  # seconds between two pictures of a line


def _text(progress):
    if "phase" in progress:
        return f"{progress['phase']}: {progress['converged']} of {progress['wanted']} pairs, {progress['fraction']:.0%}"
    run = f"run {progress['run'] + 1} of {progress['runs']}, " if progress["runs"] > 1 else ""
    if progress["iteration"] == 0:
        return f"{run}first centres: {progress['chosen']} of {progress['clusters']}"
    return f"{run}iteration {progress['iteration']}: {progress['changed']} labels changed"


class _Line:
    """A line on standard error that is overwritten: one line in terminals and notebooks."""

    def __init__(self, title):
        self._title, self._begin, self._width = title, time.monotonic(), 0

    def set_postfix_str(self, text):
        line = f"{self._title}: {time.monotonic() - self._begin:.1f} s, {text}"
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self):
        if self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()


def _line_of(title):
    """A bar of tqdm, as widgets where a notebook has them; without tqdm, a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a notebook has no widgets: tqdm writes text there
            from tqdm.auto import tqdm
    except ImportError:
        return _Line(title)
    return tqdm(desc=title, bar_format="{desc}: {elapsed}{postfix}")


@contextlib.contextmanager
def progress_of(verbose, callback, title):
    """The progress function that the library calls with a dict; None without progress."""
    if not verbose:
        yield callback
        return
    line, last, last_progress = _line_of(title), 0.0, None

    def report(progress):
        nonlocal last, last_progress
        last_progress = progress
        if time.monotonic() - last >= _pause:
            last = time.monotonic()
            line.set_postfix_str(_text(progress))
        return callback(progress) if callback is not None else False

    try:
        yield report
    finally:
        if last_progress is not None:
            line.set_postfix_str(_text(last_progress))
        line.close()
