"""NVIDIA's compiler of kernels, where pip or conda put it: loaded before the library looks for it by name."""

from __future__ import annotations

import ctypes
import glob
import os
import site
import sys


def folders():
    """Folders that wheels of NVIDIA and conda install into, the first to be searched first."""
    roots = list(site.getsitepackages()) if hasattr(site, "getsitepackages") else []
    roots += [site.getusersitepackages()] if hasattr(site, "getusersitepackages") else []
    roots += [p for p in sys.path if p.endswith("site-packages")]
    found = []
    for root in dict.fromkeys(roots):
        found += sorted(glob.glob(os.path.join(root, "nvidia", "*", "lib")), reverse=True)
    for prefix in dict.fromkeys([os.environ.get("CONDA_PREFIX", ""), sys.prefix]):
        if prefix:
            found.append(os.path.join(prefix, "lib"))
    return found


def find(where=None):
    """The newest libnvrtc in these folders, or None.

    Parameters
    ----------
    where : list of str, optional
        Folders; those of `folders()` unless given.
    """
    for folder in folders() if where is None else where:
        names = glob.glob(os.path.join(folder, "libnvrtc.so.[0-9]*"))
        versions = {name: [int(x) for x in name.rsplit(".so.", 1)[1].split(".") if x.isdigit()] for name in names}
        if versions:
            return max(versions, key=versions.get)
    return None


def preload():
    """Loads what `find` gives, so that loading by name finds it too. Returns its path, or None."""
    path = find()
    if path is None:
        return None
    try:
        ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return None
    return path
