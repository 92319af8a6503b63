"""The engine `embed`: groups by sentence embeddings, from a function of yours.

No model comes with the product. `function` names a `module:function` that takes a list
of texts and returns an array of finite numbers, one row a text; it is imported when
texts are first embedded. It is given keys (`flows.suggestions.texts`): lower case,
without marks or punctuation. Everything else is the code of the engine `lexical`; so is
its speed, which is meant for sparse vectors: a vector of d numbers costs as much as a
text of d grams.

Vectors are kept by key in a Parquet file, so that a model is asked for new keys only,
and so that a key keeps its vector though a model's results hang on what it is called
with. The file belongs to one function; delete it when the model changes.

Cosines of models differ (one puts unrelated texts at .1, another at .8), so every
threshold is to be measured and given: there are no defaults. Source: qna-suggestions
4.9, 5.2 and 5.3.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from flows import named
from flows.errors import UsageError
from flows.suggestions.clusters import Thresholds
from flows.suggestions.engine import Engine
from flows.suggestions.vectors import unit_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Thresholds):
    """Thresholds on cosines of the model's vectors, all required.

    function: `module:function`, of which modules in the folder `base` come first.
    vectors: the Parquet file that keeps them.
    """

    function: str
    base: Path
    vectors: Path


def engine(settings: Settings) -> Engine:
    """The engine with these settings."""
    return Engine(lambda keys: embedded(keys, settings), settings)


def embedded(keys: list[str], settings: Settings) -> csr_array:
    """Unit rows, one for each key, in their order; new ones are kept.

    Raises: UsageError when the function is absent, raises, or returns something else
    than finite numbers, one row a text, as long as those kept.
    """
    from scipy import sparse

    asked = pl.DataFrame({"key": keys}, schema={"key": pl.String})
    kept = _kept(settings.vectors)
    new = asked if kept is None else asked.join(kept, on="key", how="anti")
    if new.height:
        made = _made(new["key"], settings)
        if kept is not None and made.schema != kept.schema:
            raise UsageError(
                f"{settings.function} returns {made.schema['vector']}, but "
                f"{settings.vectors} keeps {kept.schema['vector']}. Delete that file "
                "when the model changes"
            )
        kept = made if kept is None else pl.concat([kept, made])
        _keep(kept.sort("key"), settings.vectors)
    if kept is None:
        return sparse.csr_array((0, 1), dtype=np.float32)
    vectors = asked.join(kept, on="key", maintain_order="left")["vector"]
    return unit_rows(sparse.csr_array(vectors.to_numpy()))


def _kept(file: Path) -> pl.DataFrame | None:
    """Key and vector of the keys that were asked for before; None before the first."""
    if not file.exists():
        return None
    try:
        return pl.read_parquet(file, columns=["key", "vector"], glob=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        told = str(error).partition("\n")[0]
        raise UsageError(
            f"{file} cannot be read ({told}); delete it, and the vectors are made anew"
        ) from None


def _made(keys: pl.Series, settings: Settings) -> pl.DataFrame:
    """Vectors of the model: key and vector."""
    name = settings.function
    try:
        answer = named.function(name, settings.base)(keys.to_list())
        rows = np.asarray(answer, dtype=np.float32)
    except Exception as error:
        raise UsageError(
            f"{name}: {type(error).__name__}: {error}. It must be a module:function "
            "that takes a list of texts and returns an array, one row a text"
        ) from error
    if rows.ndim != 2 or len(rows) != keys.len() or not np.isfinite(rows).all():  # noqa: PLR2004 - rows and columns
        raise UsageError(
            f"{name} was given {keys.len()} texts and returned an array of shape "
            f"{rows.shape}; it must return finite numbers, one row a text"
        )
    return pl.DataFrame({"key": keys, "vector": rows})


def _keep(kept: pl.DataFrame, file: Path) -> None:
    """Writes beside and renames: a run that dies leaves the last good file."""
    beside = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        kept.write_parquet(beside)
        beside.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror})") from None
