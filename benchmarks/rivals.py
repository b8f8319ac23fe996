"""uFC beside what one would pick instead: correlations, factors, clusters, frequent sets.

Each runs alone in a process, on one thread, on data in the form that it is quickest with, within
60 s of processor time and 8 GB. Imports, reading and that form are not timed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import _plain
from benchmarks._apart import Measurement, answer, limit_memory, measured_apart, timed
from benchmarks._data import benchmark_set, zipf
from benchmarks._results import save

SETS = ("nuswide81", "accidents_15k", "delicious", "t10i4d100k", "retail")
SECONDS, BYTES = 60, 8 * 10**9
N_ITER = 3
N_COMPONENTS = 50
MIN_SUPPORT = 0.01
BORGELT = f"pyfim fpgrowth(supp={100 * MIN_SUPPORT:g}, zmax=3)"
YARDSTICK = f'UFC("risk", max_iter={N_ITER})'


class Rival(NamedTuple):
    """How data are given to it, how it runs, and what to say of its result."""

    form: Callable[[Any], Any]
    run: Callable[[Any], Any]
    tell: Callable[[Any], str]


def main(default: bool = False) -> int:
    """Run all rivals or, with ``--default``, those that the default is compared with in short."""
    sets, load = [], os.getloadavg()[0]
    known = [name for name in (SHORT if default else RIVALS) if name != BORGELT or find_spec("fim")]
    if BORGELT not in known:
        print("pyfim is not installed: nothing is said about Borgelt's program")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "data.npz"
        for name in SETS:
            title, data = benchmark_set(name)
            sp.save_npz(file, data, compressed=False)
            n_rows, n_columns = data.shape
            print(f"{title}, {n_rows:,} × {n_columns:,}, {data.nnz / n_rows:.1f} ones a row")
            lines = [_measured(rival, file) for rival in known]
            ours = next(line["seconds"] for line in lines if line["rival"] == YARDSTICK)
            for line in lines:
                _print(line, ours)
            sets.append(
                {"name": title, "shape": [n_rows, n_columns], "ones": data.nnz, "rivals": lines}
            )
    limits = {"seconds": SECONDS, "bytes": BYTES, "yardstick": YARDSTICK}
    loads = [load, os.getloadavg()[0]]
    save(
        "rivals_default" if default else "rivals", {"limits": limits, "loads": loads, "sets": sets}
    )
    return 0


def _measured(rival: str, file: Path) -> Measurement:
    return {"rival": rival, **measured_apart("benchmarks.rivals", rival, file, seconds=SECONDS)}


def _print(line: Measurement, ours: float) -> None:
    if "stopped" in line:
        said = f"stopped at {line['stopped']} s"
    elif "needs" in line:
        said = f"needs {line['needs'] / 1e9:.1f} GB or more"
    else:
        said = (
            f"{line['seconds']:8.2f} s  {line['resident'] / 1e9:6.2f} GB  "
            f"{line['seconds'] / ours:7.1f} ×  {line['gives']}"
        )
    print(f"  {line['rival']:<44} {said}", flush=True)


def alone(name: str, file: str) -> Measurement:
    """One rival, in the process that it was given."""
    limit_memory(BYTES)
    rival = RIVALS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = zipf(400, 60, 8)
        rival.run(rival.form(small))  # what happens at the first call only
        data = rival.form(sp.load_npz(file))
        return timed(partial(rival.run, data), tell=rival.tell, repeat=15, seconds=SECONDS)


def _as_is(data: Any) -> Any:
    return data


def _booleans(data: Any) -> Any:
    return data.astype(bool).toarray()


def _floats(data: Any) -> Any:
    return data.astype(np.float32).toarray()


def _floats_unless_wide(data: Any) -> Any:
    return data.astype(np.float32) if data.shape[1] > 10_000 else _floats(data)


def _sparse_floats(data: Any) -> Any:
    return data.astype(np.float32)


def _lists(data: Any) -> Any:
    return [row.tolist() for row in np.split(data.indices, data.indptr[1:-1])]


def _frame(data: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(_booleans(data))


def _sparse_frame(data: Any) -> Any:
    import pandas as pd

    return pd.DataFrame.sparse.from_spmatrix(data.astype(bool))


def _ufc(data: Any, **options: Any) -> Any:
    from conjunct import UFC

    return UFC(**options).fit(data)


def _pca(data: Any) -> Any:
    from sklearn.decomposition import PCA

    return PCA(n_components=min(N_COMPONENTS, data.shape[1] - 1), random_state=0).fit(data)


def _nmf(data: Any) -> Any:
    from sklearn.decomposition import NMF

    return NMF(n_components=min(N_COMPONENTS, data.shape[1] - 1), random_state=0).fit(data)


def _kmeans(data: Any) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters=N_COMPONENTS, random_state=0).fit(data)


def _agglomeration(data: Any) -> Any:
    from sklearn.cluster import FeatureAgglomeration

    return FeatureAgglomeration(n_clusters=N_COMPONENTS).fit(data)


def _frequent(frame: Any, min_support: float = MIN_SUPPORT) -> Any:
    from mlxtend.frequent_patterns import fpgrowth

    return fpgrowth(frame, min_support=min_support, max_len=3)


def _borgelt(rows: Any) -> Any:
    import fim

    return fim.fpgrowth(rows, supp=100 * MIN_SUPPORT, zmax=3)


def _pairs(matrix: Any) -> str:
    return f"{matrix.shape[0] * (matrix.shape[0] - 1) // 2:,} correlations"


def _constructed(model: Any) -> str:
    return f"{len(model.features_):,} features, {model.n_iter_} iterations"


def _plainly_constructed(made: Any) -> str:
    columns, history = made
    return f"{columns.shape[1]:,} features, {len(history)} iterations"


RIVALS: dict[str, Rival] = {
    YARDSTICK: Rival(_as_is, partial(_ufc, criterion="risk", max_iter=N_ITER), _constructed),
    'UFC("risk")': Rival(_as_is, partial(_ufc, criterion="risk"), _constructed),
    "UFC()": Rival(_as_is, _ufc, _constructed),
    'UFC("bits")': Rival(_as_is, partial(_ufc, criterion="bits"), _constructed),
    "uFC in plain NumPy": Rival(
        _booleans, partial(_plain.dense, max_iter=N_ITER), _plainly_constructed
    ),
    "uFC in plain SciPy": Rival(
        _as_is, partial(_plain.sparse, max_iter=N_ITER), _plainly_constructed
    ),
    "np.corrcoef": Rival(_floats, partial(np.corrcoef, rowvar=False, dtype=np.float32), _pairs),
    "DataFrame.corr": Rival(_frame, lambda frame: frame.corr(), _pairs),
    f"PCA(n_components={N_COMPONENTS})": Rival(
        _floats_unless_wide, _pca, lambda model: f"{model.n_components_} components"
    ),
    f"NMF(n_components={N_COMPONENTS})": Rival(
        _sparse_floats, _nmf, lambda model: f"{model.n_components_} components"
    ),
    f"KMeans(n_clusters={N_COMPONENTS})": Rival(
        _sparse_floats, _kmeans, lambda model: f"{model.n_clusters} groups of rows"
    ),
    f"FeatureAgglomeration(n_clusters={N_COMPONENTS})": Rival(
        _floats, _agglomeration, lambda model: f"{model.n_clusters_} clusters"
    ),
    f"fpgrowth(min_support={MIN_SUPPORT}, max_len=3)": Rival(
        _sparse_frame, _frequent, lambda found: f"{len(found):,} sets"
    ),
    BORGELT: Rival(_lists, _borgelt, lambda found: f"{len(found):,} sets"),
}
SHORT = (
    *(YARDSTICK, "UFC()", BORGELT, f"fpgrowth(min_support={MIN_SUPPORT}, max_len=3)"),
    *(f"KMeans(n_clusters={N_COMPONENTS})", f"NMF(n_components={N_COMPONENTS})"),
)


if __name__ == "__main__":
    answer(lambda: alone(*sys.argv[1:]))
