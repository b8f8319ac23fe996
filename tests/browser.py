"""Chromium without a window, driven through its own driver."""

import shutil
from contextlib import contextmanager

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
NAMES = ("chromium", "chromium-browser", "google-chrome")


def missing():
    """Why there is no browser; empty if there is one."""
    if _binary() is not None and shutil.which("chromedriver") is not None:
        return ""
    return "no browser to test in: install the packages chromium and chromium-driver"


@contextmanager
def chromium(folder):
    """A driver of a new browser that keeps its files in ``folder``."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _binary()
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # both paths are given, so that nothing is looked for elsewhere
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def _binary():
    return next(filter(None, map(shutil.which, NAMES)), None)
