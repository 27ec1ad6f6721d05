"""What every bench needs: data, the two sides, and a report. `cargo xtask bench` starts them."""

import argparse
import datetime
import gzip
import hashlib
import inspect
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
THREADS = 2
# Libraries under the peers take their number of threads from here.
PEER_THREADS = {name: str(THREADS) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rows", type=int, default=200_000)
    return parser.parse_args()


def asked(variable, known):
    """The names, of those known, that an environment variable lists with commas between; all if it lists none."""
    only = [name for name in os.environ.get(variable, "").split(",") if name] or known
    if unknown := [name for name in only if name not in known]:
        raise SystemExit(f"{variable}: {', '.join(unknown)} is none of {', '.join(known)}")
    return [name for name in known if name in only]


def say(text):
    print(text, file=sys.stderr, flush=True)


# Ours


def binary():
    return os.environ["ROSENBLATT"]


def timed(command, **options):
    """What the command printed, and the wall time of the whole process."""
    start = time.perf_counter()
    done = subprocess.run(
        list(map(str, command)), capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, **options
    )
    wall = time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout, wall


def rosenblatt(*words):
    """The JSON of a command, and the wall time of the whole process."""
    printed, wall = timed([binary(), *words, "--threads", THREADS, "--json"])
    return json.loads(printed), wall


def formats():
    """Names that `--format` takes, as its help lists them."""
    return formats_in(timed([binary(), "train", "--help"])[0])


def formats_in(text):
    listed = re.search(r"--format <FORMAT>\s+([^\[]*)", text)
    return re.findall(r"\w+", listed.group(1).replace(" or ", " ")) if listed else []


# Theirs


def elsewhere(function, *words, timeout=None):
    """Calls a function of a bench in a fresh Python; returns its result and the wall time of that process with its imports.
    Above the timeout in seconds it is ended: `subprocess.TimeoutExpired`."""
    module = Path(inspect.getfile(function)).stem
    call = f"import json, sys, {module}; print(json.dumps({module}.{function.__name__}(*json.loads(sys.argv[1]))))"
    command = [sys.executable, "-c", call, json.dumps([str(w) if isinstance(w, Path) else w for w in words])]
    printed, wall = timed(command, cwd=BENCH, env={**os.environ, **PEER_THREADS}, timeout=timeout)
    return json.loads(printed.splitlines()[-1]), wall


# Data


def data_folders():
    """Where to look, in this order."""
    named = os.environ.get("ROSENBLATT_DATA")
    return [*([Path(named)] if named else []), ROOT.parent / "shared" / "data"]


def find(name):
    """A file of the data folders, or None."""
    return next((folder / name for folder in data_folders() if (folder / name).is_file()), None)


def cache(name):
    return Path(os.environ["BENCH_DATA"]) / name


def made_once(path, make):
    """A file that is complete or not there: `make` writes it under another name first."""
    if not path.is_file():
        say(f"  making {path.name}")
        part = path.with_name(path.name + ".part")
        make(part)
        part.rename(path)
    return path


def unpacked(name):
    """The plain text of a gzipped file of the data folders, or None."""
    packed = find(name)

    def unpack(part):
        with gzip.open(packed) as source, open(part, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 20)

    return packed and made_once(cache(Path(name).name.removesuffix(".gz")), unpack)


def synthetic(rows):
    """The synthetic text as LIBSVM and as Vowpal Wabbit text. A change of the recipe makes it anew."""
    recipe = (ROOT / "crates/rosenblatt-cli/examples/synthetic.rs").read_bytes()
    stem = f"synthetic-{rows}-"
    prefix = cache(stem + hashlib.sha256(recipe).hexdigest()[:8])
    files = [prefix.with_name(prefix.name + ending) for ending in (".svm", ".vw")]
    if not all(file.is_file() for file in files):
        for old in prefix.parent.glob(stem + "*"):
            old.unlink()
        say(f"  making {prefix.name}.svm and .vw")
        part = prefix.with_name(prefix.name + ".part")
        timed([os.environ["SYNTHETIC"], rows, part])
        for file in files:
            part.with_name(part.name + file.suffix).rename(file)
    return files


def warm(path):
    """Reads a file through, so that it is in the page cache; returns its size."""
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass
    return path.stat().st_size


# Measuring


def alternate(runs, contestants, first=0):
    """Every contestant once, then all again: what disturbs the machine disturbs all. A contestant takes the number of the
    run, from `first`, and returns its figures by name; the result has a list for each figure."""
    figures = {name: {} for name in contestants}
    for run in range(first, first + runs):
        for name, contestant in contestants.items():
            measured = contestant(run)
            say(f"  run {run + 1} of {first + runs}  {name}: " + ", ".join(f"{key} {value:.4g}" for key, value in measured.items()))
            for key, value in measured.items():
                figures[name].setdefault(key, []).append(value)
    return {name: {key: Figure(values) for key, values in of.items()} for name, of in figures.items()}


class Figure:
    """A number measured several times."""

    def __init__(self, values):
        self.values = list(values)
        self.median = statistics.median(values)
        self.least = min(values)
        self.most = max(values)


def seconds(value):
    """Three significant digits."""
    if value < 1:
        return f"{1000 * value:.3g} ms"
    return f"{value:.0f} s" if value >= 999.5 else f"{value:.3g} s"


def percent(value):
    return f"{100 * value:.2f}%"


def ratio(theirs, ours):
    """How many times as fast ours is: of the medians, and of the minima."""
    return f"{theirs.median / ours.median:.2f} ({theirs.least / ours.least:.2f})"


# Report


class Report:
    """Markdown, printed and kept in `bench/runs`."""

    def __init__(self, name, title, runs):
        self.name = name
        self.path = None
        self.lines = [f"# {title}", ""]
        # Others at work on the machine spoil the figures; the load tells.
        self.load_before = os.getloadavg()
        # Now, for others may commit during a long run.
        self.version = our_version()
        self.text(
            f"`cargo xtask bench {name}`: runs of each, alternating: {runs}; {THREADS} threads each. "
            "Ratios are theirs / ours, of medians (of minima)."
        )

    def text(self, text):
        self.lines += [text, ""]

    def section(self, title):
        self.text(f"## {title}")

    def missing(self, name):
        self.text(f"Missing: {name} is not in {' or '.join(map(str, data_folders()))}.")

    def table(self, head, rows):
        self.lines += ["| " + " | ".join(map(str, cells)) + " |" for cells in (head, ["---"] * len(head), *rows)]
        self.lines.append("")

    def goal(self, text, value, at_least, unit=""):
        verdict = "met" if value >= at_least else "NOT met"
        self.lines.append(f"- {verdict}: {text}: {value:.4g}{unit}, asked {at_least:.4g}{unit}")

    def keep(self, *closing):
        """Writes what there is so far, so that a run that is stopped leaves its report; `closing` ends this writing only."""
        if self.path is None:
            self.path = free_name(BENCH / "runs", f"{datetime.date.today().isoformat()}-{self.name}")
            self.path.parent.mkdir(exist_ok=True)
        self.path.write_text("\n".join([*self.lines, *closing]), encoding="utf-8")

    def so_far(self):
        """To be called after each part of a long bench."""
        self.keep("", f"Unfinished: the run has not come further, or was stopped here. {self.version}.", "")

    def finish(self, *peers):
        load = f"load average {self.load_before[0]:.1f} before, {os.getloadavg()[0]:.1f} after"
        self.lines += ["## Machine", "", f"- {machine()}", f"- {load}", f"- {self.version}; {peer_versions(peers)}", ""]
        print("\n".join(self.lines))
        self.keep()
        say(f"Wrote {self.path.relative_to(ROOT)}")


def free_name(folder, stem):
    """stem.md, or stem-2.md, stem-3.md, … if there is one already."""
    number = 1
    path = folder / f"{stem}.md"
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.md"
    return path


def machine() -> str:
    """What ratios may depend on; they are compared within a run, so more would only name a place."""
    return f"{os.cpu_count()} cores"


def our_version():
    git = ["git", "-C", ROOT]
    commit = timed([*git, "rev-parse", "--short", "HEAD"])[0].strip()
    changed = " with changes" if timed([*git, "status", "--porcelain", "--", "crates"])[0] else ""
    return f"{timed([binary(), '--version'])[0].strip()} ({commit}{changed})"


def peer_versions(peers):
    return ", ".join([*(f"{peer} {version(peer)}" for peer in peers), f"Python {platform.python_version()}"])
