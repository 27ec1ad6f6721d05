"""Runs the Python examples of Markdown files; needs nothing but the package."""

import doctest
import re
import sys
from pathlib import Path


def run(path: Path) -> tuple[int, int]:
    """How many examples failed, and of how many."""
    text = path.read_text(encoding="utf-8")
    failed = tried = 0
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL), 1):
        test = doctest.DocTestParser().get_doctest(block, {}, f"{path.name}, example {number}", str(path), 0)
        results = doctest.DocTestRunner().run(test)
        failed, tried = failed + results.failed, tried + results.attempted
    return failed, tried


if __name__ == "__main__":
    failed, tried = map(sum, zip(*(run(Path(name)) for name in sys.argv[1:]), strict=True))
    print(f"{tried - failed} of {tried} examples hold")
    sys.exit(failed > 0 or tried == 0)
