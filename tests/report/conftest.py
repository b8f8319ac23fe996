"""Pages of reports, and a real browser to open them in."""

import json
import os
from pathlib import Path

import polars as pl
import pytest

from browser import chromium, missing
from conjunct import UFC, Report, UFCPath, datasets


class Page:
    """A page in the browser, and what the browser said about it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1280, height=900, mobile=False, media=()):
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.run_devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        features = [{"name": name, "value": value} for name, value in media]
        self.run_devtools("Emulation.setEmulatedMedia", media="", features=features)
        self.driver.get(Path(path).resolve().as_uri())
        return self

    def run_devtools(self, command, **options):
        return self.driver.execute_cdp_cmd(command, options)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector):
        return self.js(
            "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent.trim())",
            selector,
        )

    def console(self):
        """Everything on the console: errors, warnings and breaches of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The address of everything that was asked for."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    if reason := missing():
        # a test that is skipped everywhere would never fail
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    with chromium(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture
def page(driver):
    return Page(driver)


def frame_of(name):
    data = datasets.load(name)
    return pl.DataFrame(data.values, schema=list(data.feature_names))


@pytest.fixture(scope="session")
def street():
    """A model that a person would make, and its data."""
    data = frame_of("coco_street")
    return UFC("risk", search="pairwise", max_length=4).fit(data), data


@pytest.fixture(scope="session")
def street_report(street):
    return Report(*street, title="Street")


@pytest.fixture(scope="session")
def street_page(street_report, tmp_path_factory):
    path = tmp_path_factory.mktemp("street") / "street.html"
    street_report.save(path)
    return path


@pytest.fixture(scope="session")
def chunks():
    """A model as it is made by default, and its data."""
    data = frame_of("coco_val2017")
    return UFC().fit(data), data


@pytest.fixture(scope="session")
def chunks_page(chunks, tmp_path_factory):
    path = tmp_path_factory.mktemp("chunks") / "chunks.html"
    Report(*chunks, title="Chunks").save(path)
    return path


@pytest.fixture(scope="session")
def zoo_path():
    data = frame_of("zoo")
    return UFCPath(prune=True).fit(data), data
