"""Progress of a fit: bars, and scikit-learn's callbacks."""

from __future__ import annotations

import sys
from typing import Any

try:  # since scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:  # type: ignore[no-redef]
        return method


__all__ = ["CallbackSupportMixin", "Watcher", "with_callbacks"]


class _Lines:
    """A bar for terminals without tqdm: one line, written over."""

    def __init__(self, total: int, desc: str) -> None:
        self.total, self.desc, self.n = total, desc, 0

    def refresh(self) -> None:
        share = f"{100 * self.n // self.total:3d} %" if self.total else ""
        sys.stderr.write(f"\r{self.desc} {share} ")
        sys.stderr.flush()

    def set_description(self, desc: str, refresh: bool = True) -> None:
        self.desc = desc

    def close(self) -> None:
        sys.stderr.write("\n")


def _bar(total: int, desc: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines(total, desc)
    return tqdm(total=total, desc=desc, unit=" rows", unit_scale=True, file=sys.stderr)


class Watcher:
    """Called by the native module about twenty times a second; returns whether the fit shall stop with what it has."""

    def __init__(self, estimator: Any, X: Any, y: Any) -> None:
        self.estimator, self.stopped = estimator, False
        self.bar: Any = None
        self.context: Any = None
        self.task: Any = None
        self.tasks = 0
        if getattr(estimator, "_skl_callbacks", None):
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    @property
    def needed(self) -> bool:
        return bool(self.estimator.verbose) or self.context is not None

    def __call__(self, number: int, limit: int, visited: int, visits: int, mistakes: int | None) -> bool:
        if self.estimator.verbose:
            self._show(number, visited, visits, mistakes)
        if self.context is not None and number > self.tasks:
            self._next_task(number)
        return self.stopped

    def _show(self, number: int, visited: int, visits: int, mistakes: int | None) -> None:
        title = f"{type(self.estimator).__name__}, pass {number}"
        if mistakes is not None:
            title += f", {mistakes} mistakes in the last"
        if self.bar is None:
            self.bar = _bar(visits, title)
        self.bar.set_description(title, refresh=False)
        self.bar.total, self.bar.n = visits, min(visited, visits) if visits else visited
        self.bar.refresh()

    def _next_task(self, number: int) -> None:
        self._end_task()
        self.tasks = number
        self.task = self.context.subcontext(task_name="pass")
        self.task.call_on_fit_task_begin(estimator=self.estimator)

    def _end_task(self) -> None:
        if self.task is not None:
            self.stopped |= bool(self.task.call_on_fit_task_end(estimator=self.estimator))
            self.task = None

    def close(self, passes: int) -> None:
        """The fit is over after so many passes."""
        if self.bar is not None:
            self.bar.close()
        if self.context is not None:
            if self.tasks == 0 and passes > 0:  # sooner than anybody looked
                self._next_task(passes)
            self._end_task()
            self.context.call_on_fit_task_end(estimator=self.estimator)

    def abandon(self) -> None:
        """The fit has failed, or was interrupted."""
        if self.bar is not None:
            self.bar.close()
