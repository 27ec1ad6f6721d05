"""How time and memory of batch learners grow with the data: synthetic text of a hundred thousand to a hundred million entries. No peers."""

import json
import re
import subprocess
import tempfile
import time

import common
import linear

# About 60 entries each.
ROWS = (1_667, 16_667, 166_667, 1_666_667)
MOST_MEMORY = 1.3
# Below this the program itself is most of its memory.
ENOUGH_ENTRIES = 10_000_000


def main():
    options = common.arguments()
    report = common.Report("growth", "Growth of time and memory", options.runs)
    report.text(
        "`seconds.train` of fits in memory, C = 1, no bias, `--gap 1e-3`; medians. Data at rest: 8 bytes an entry, 12 a row. "
        "Memory: the most that was resident without the pages of the mapped file, which the system may drop, from start to end, looked at every 2 ms."
    )
    rows = []
    for count in ROWS:
        path, other = common.synthetic(count)
        common.warm(path)
        for name in linear.TWO_CLASSES:
            common.say(f"{name}, {count} rows")
            figures = common.alternate(options.runs, {name: lambda _: fit(path, linear.OURS[name])})[name]
            entries, memory = figures["entries"].median, figures["memory"].median
            at_rest = 8 * entries + 12 * count
            train = figures["seconds"].median
            rows.append(
                [
                    name,
                    f"{entries:.3g}",
                    common.seconds(train),
                    f"{figures['passes'].median:.0f}",
                    f"{1e9 * train / entries:.1f}",
                    f"{memory / 1e6:.0f} MB",
                    f"{memory / at_rest:.2f}",
                ]
            )
            if entries >= ENOUGH_ENTRIES:
                report.goal(f"{name}, {entries:.2g} entries, data at rest for all memory", at_rest / memory, 1 / MOST_MEMORY)
        if count == ROWS[-1]:
            path.unlink()
            other.unlink()
    report.lines.append("")
    report.table(["loss", "entries", "seconds", "passes", "ns an entry", "memory", "times data at rest"], rows)
    report.finish()


def fit(path, learner):
    model = common.cache("growth.model")
    shown, memory = watched("train", path, *learner, "--format", "libsvm", "--bias", "none", "-o", model)
    entries = common.rosenblatt("inspect", model)[0]["data"]["entries"]
    return {"seconds": shown["seconds"]["train"], "passes": shown["passes"], "entries": entries, "memory": memory}


def watched(*words):
    """The JSON of a command, and the most memory that it had."""
    command = list(map(str, [common.binary(), *words, "--threads", common.THREADS, "--json"]))
    # Into a file, for nobody reads while the process is watched, and a pipe holds little.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as printed:
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.DEVNULL)
        most = 0
        while process.poll() is None:
            most = max(most, resident(process.pid))
            time.sleep(0.002)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}")
        printed.seek(0)
        return json.load(printed), most


def resident(process):
    """Bytes of a process that belong to no file; 0 when it has gone."""
    try:
        with open(f"/proc/{process}/status", encoding="utf-8") as status:
            found = re.search(r"RssAnon:\s+(\d+) kB", status.read())
    except OSError:
        return 0
    return 1024 * int(found.group(1)) if found else 0


if __name__ == "__main__":
    main()
