"""Make docs/images/report.png, a picture of README.md: ``make picture``."""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import polars as pl  # noqa: E402

from browser import chromium, missing  # noqa: E402
from conjunct import UFC, Report, datasets  # noqa: E402

WIDTH = 1180


def main() -> int:
    if reason := missing():
        sys.stderr.write(reason + "\n")
        return 1
    coco = datasets.load_coco_val2017()
    table = pl.DataFrame(coco.values, schema=list(coco.feature_names))
    model = UFC().fit(table)
    with tempfile.TemporaryDirectory() as folder, chromium(folder) as driver:
        page = Path(folder) / "report.html"
        Report(model, table, title="Objects in photographs").save(page)
        size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        bottom = driver.execute_script(
            "return document.getElementById('findings').getBoundingClientRect().bottom + scrollY"
        )
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom + 12, "scale": 1}
        shot = driver.execute_cdp_cmd(
            "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
        )
    (ROOT / "docs" / "images" / "report.png").write_bytes(base64.b64decode(shot["data"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
