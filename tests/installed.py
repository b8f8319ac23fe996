"""Tries an installed conjunct; its own process, with the main dependencies and nothing else.

python tests/installed.py native|numpy      the kernel that must be used
"""

import sys
import tempfile
import warnings
from pathlib import Path

warnings.simplefilter("error")
import conjunct  # noqa: E402

assert "site-packages" in conjunct.__file__, conjunct.__file__
from conjunct import UFC, Risk, load, parse  # noqa: E402
from conjunct.datasets import load_spect  # noqa: E402

table = load_spect().values
model = UFC(Risk(alpha=0.0001, prune=False)).fit(table)
assert len(model.features_) == 39
with tempfile.TemporaryDirectory() as folder:
    model.save(Path(folder, "m.json"))
    assert load(Path(folder, "m.json")).features_ == model.features_
assert (model.inverse_transform(model.transform(table)) == table).all()
assert str(parse("a & ~b")) == "a \u2227 \u00acb"
for name in ("polars", "typer", "rich", "pandas", "sqlglot", "altair", "dask"):
    assert name not in sys.modules, name
from conjunct.columns.kernel import kernel_name  # noqa: E402

assert kernel_name() == sys.argv[1], kernel_name()
