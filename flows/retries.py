"""Which tasks are tried again: those that failed on input or output, which may pass."""

from __future__ import annotations

from typing import Any

from flows.errors import UntakenError


def is_io(_task: object, _run: object, state: object) -> bool:
    """Whether a task failed on input or output; what breaks a rule breaks it again."""
    try:
        state.result()  # type: ignore[attr-defined]
    except UntakenError:
        return False
    except OSError:
        return True
    except Exception:  # noqa: BLE001 - any other error will be the same next time
        return False
    return False


# For tasks that read files.
AGAIN: Any = {
    "retries": 2,
    "retry_delay_seconds": [1.0, 5.0],
    "retry_condition_fn": is_io,
}
