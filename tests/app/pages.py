#!/usr/bin/env python3
"""Opens the pages of --report in Chromium as a reader would: light and dark, narrow and wide, by keys alone.

Run as: pages.py BIN. Exit status 77 where Chromium is not installed. Talks to it through its pipe for developers (one
JSON object a message, each followed by a zero byte), which needs no other module.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

programs = pathlib.Path(sys.argv[1]).resolve()
names = ("chromium", "chromium-browser", "google-chrome", "chrome")
chromium = next(filter(None, map(shutil.which, names)), None)
if chromium is None or subprocess.run([chromium, "--version"], capture_output=True).returncode != 0:
    print("left out: Chromium is not installed")
    sys.exit(77)
failed = []

# Contrast of each element with its background in the page as it is drawn (WCAG 2: text 4.5, pictures 3).
CONTRAST = """(() => {
  const light = c => {
    const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255).map(
        v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = light(getComputedStyle(document.body).backgroundColor);
  const ratio = c => (Math.max(light(c), back) + 0.05) / (Math.min(light(c), back) + 0.05);
  const worst = (where, colour) => Math.min(99, ...[...document.querySelectorAll(where)].map(
      e => ratio(getComputedStyle(e)[colour])));
  return {back, text: Math.min(worst('h1, p, td, th', 'color'), worst('svg text', 'fill')),
          marks: Math.min(worst('circle, rect, path', 'fill'), worst('polyline', 'stroke'))};
})()"""
LAYOUT = """(() => {
  const seen = [...document.querySelectorAll('svg text')].map(e => e.getScreenCTM()).map(
      m => 11 * Math.hypot(m.a, m.b));
  return {overflow: document.documentElement.scrollWidth - innerWidth, text: Math.min(99, ...seen),
          loaded: performance.getEntriesByType('resource').length, charts: document.querySelectorAll('svg').length,
          unnamed: document.querySelectorAll('svg:not(:has(title)), [role=region]:not([aria-label])').length};
})()"""
FOCUS = """(() => {
  const all = [...document.querySelectorAll('.scroll')], e = document.activeElement, s = getComputedStyle(e);
  const box = e.getBoundingClientRect();
  return {which: all.indexOf(e), of: all.length, outline: s.outlineStyle == 'none' ? 0 : parseFloat(s.outlineWidth),
          left: e.scrollLeft, more: e.scrollWidth > e.clientWidth, seen: box.top < innerHeight && box.bottom > 0};
})()"""


class Browser:
    def __init__(self, folder):
        read_end, write_end = os.pipe(), os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                 f"--user-data-dir={folder}/profile", "--no-first-run", "--disable-background-networking"]

        def connect():  # Chromium reads messages from 3 and writes them to 4
            low, high = os.dup2(read_end[0], 103), os.dup2(write_end[1], 104)
            os.dup2(low, 3), os.dup2(high, 4)

        self.process = subprocess.Popen([chromium, *flags, "about:blank"], preexec_fn=connect, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_end[0]), os.close(write_end[1])
        self.to, self.answers = os.fdopen(read_end[1], "wb"), os.fdopen(write_end[0], "rb")
        self.number, self.session = 0, None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.ask("Page.enable")

    def message(self):
        text = bytearray()
        while (byte := self.answers.read(1)) != b"\0":
            if not byte:
                raise RuntimeError("Chromium has ended")
            text += byte
        return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while (answer := self.message()).get("id") != self.number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(str(result["exceptionDetails"]))
        return result["result"].get("value")

    def open(self, page, width, scheme):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=page.as_uri())
        self.value("new Promise(go => document.readyState == 'complete' ? go() : addEventListener('load', go))")

    def press(self, key, code):
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)
        self.value("new Promise(go => setTimeout(go, 150))" if key == "ArrowRight" else "0")  # it scrolls smoothly

    def close(self):
        try:
            self.ask("Browser.close")
            self.process.wait(20)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def check(condition, sentence):
    if not condition:
        failed.append(sentence)


def look(browser, page):
    backs = {}
    for width in (400, 1200):
        for scheme in ("light", "dark"):
            name = f"{page.name}, {width} px, {scheme}"
            browser.open(page, width, scheme)
            layout, contrast = browser.value(LAYOUT), browser.value(CONTRAST)
            check(layout["overflow"] <= 0, f"{name}: {layout['overflow']} px wider than the window")
            check(layout["loaded"] == 0, f"{name}: loads {layout['loaded']} files")
            check(layout["charts"] >= 2, f"{name}: {layout['charts']} charts")
            check(layout["unnamed"] == 0, f"{name}: {layout['unnamed']} parts have no name for a screen reader")
            check(layout["text"] >= 8, f"{name}: text of charts is {layout['text']:.1f} px high")
            check(contrast["text"] >= 4.5, f"{name}: the contrast of text is {contrast['text']:.2f}")
            check(contrast["marks"] >= 3, f"{name}: the contrast of marks is {contrast['marks']:.2f}")
            backs[scheme] = contrast["back"]
            walk(browser, name)
    check(backs["light"] > 0.8 and backs["dark"] < 0.05, f"{page.name}: backgrounds are {backs}")


def walk(browser, name):
    """Tab reaches every part that may scroll, in its order, and the arrow keys scroll it."""
    first = browser.value(FOCUS)
    scrolled = 0
    for step in range(first["of"]):
        browser.press("Tab", 9)
        at = browser.value(FOCUS)
        check(at["which"] == step, f"{name}: Tab {step + 1} comes to part {at['which']}")
        check(at["outline"] >= 1, f"{name}: part {step} does not show that it has the focus")
        check(at["seen"], f"{name}: part {step} has the focus out of sight")
        if at["more"] and scrolled < 2:
            scrolled += 1
            browser.press("ArrowRight", 39)
            check(browser.value(FOCUS)["left"] > 0, f"{name}: the arrow key does not scroll part {step}")
    check("400 px" not in name or scrolled, f"{name}: nothing scrolls")


def make(folder):
    """A page of every kind."""
    def run(*words, code=0):
        done = subprocess.run([programs / words[0], *map(str, words[1:]), "-q"], cwd=folder, capture_output=True,
                              text=True, timeout=300)
        check(done.returncode == code, f"{' '.join(map(str, words))}: {done.returncode}: {done.stderr}")

    run("tsdata", "gen", "lap3d", "--n", 8, "-o", "lap.h5")
    run("tsdata", "gen", "circulant", "--n", 300, "-o", "flow.h5")
    run("tsdata", "gen", "blobs", "--n", 3000, "--cols", 12, "--groups", 8, "-o", "points.h5")
    long_name = "a-file-whose-name-is-as-long-as-they-sometimes-are-" + 12 * "0123456789" + ".h5"
    (folder / long_name).symlink_to(folder / "points.h5")
    run("tssolve", "lap.h5", "-k", 6, "--which", "SA", "--report", "cut-off.html")
    run("tssolve", "lap.h5", "-k", 3, "--which", "SA", "--method", "lanczos", "--max-iter", 2, "--report",
        "not-converged.html", code=3)
    run("tssolve", "flow.h5", "--general", "-k", 4, "--which", "LR", "--report", "general.html")
    run("tskmeans", f"{long_name}:/features", "-k", 10, "--report", "clusters.html")
    run("tskmeans", "points.h5:/features", "-k", "4:80:19", "--metric", "cosine", "--report", "choices.html")
    return sorted(folder.glob("*.html"))


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    pages = make(folder)
    check(len(pages) == 5, f"{len(pages)} pages")
    browser = Browser(folder)
    try:
        for page in pages:
            look(browser, page)
    finally:
        browser.close()
print("\n".join(failed) or f"{len(pages)} pages, light and dark, at 400 and 1200 px")
sys.exit(1 if failed else 0)
