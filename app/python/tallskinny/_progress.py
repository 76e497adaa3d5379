"""What a long call tells while it runs."""

from __future__ import annotations

import contextlib
import sys


def _text(told):
    if "phase" in told:
        return f"{told['phase']}: {told['converged']} of {told['wanted']} pairs"
    if told["iteration"] == 0:
        return f"first centres: {told['chosen']} of {told['clusters']}"
    return f"iteration {told['iteration']}: {told['changed']} labels changed"


@contextlib.contextmanager
def progress_of(verbose, callback, title):
    """The function that the library calls with a dict: None where nothing is to be told."""
    if not verbose:
        yield callback
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        tqdm = None
    bar = tqdm(desc=title, unit=" step", bar_format="{desc}: {elapsed}{postfix}") if tqdm else None

    def tell(told):
        if bar is not None:
            bar.set_postfix_str(_text(told))
        else:
            print(f"{title}: {_text(told)}", file=sys.stderr)
        return callback(told) if callback is not None else False

    try:
        yield tell
    finally:
        if bar is not None:
            bar.close()
