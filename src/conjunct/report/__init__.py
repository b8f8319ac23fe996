"""A fitted model on its data as one offline page: what was found, and why."""

from importlib.util import find_spec

if not all(map(find_spec, ("altair", "jinja2", "PIL", "vl_convert"))):
    raise ImportError("a report needs more libraries: pip install 'conjunct[report]'")

from conjunct.report.document import Report

__all__ = ["Report"]
