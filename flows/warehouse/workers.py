"""Work on both cores: the intervals of many candidates and segments.

numpy leaves the interpreter's lock for its large steps alone, and intervals are made of
small ones; so candidates are handed to processes of their own where there are enough to
pay for starting them. What comes back does not depend on how many there are.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def results(
    work: Callable[[Task], Result], tasks: Iterable[Task], *, is_large: bool
) -> Iterator[Result]:
    """The result of each task, in their order.

    work, tasks: can be sent to another process.
    is_large: whether the tasks take long enough to start processes for them.
    """
    tasks = list(tasks)
    cores = int(os.environ.get("POLARS_MAX_THREADS", "0")) or os.cpu_count() or 1
    if not is_large or cores == 1 or len(tasks) == 1:
        yield from map(work, tasks)
        return
    # A process a core: threads of their own would only wait for one another.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Forked processes would share the locks of polars' threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(cores, len(tasks)), mp_context=context) as pool:
        yield from pool.map(work, tasks)
