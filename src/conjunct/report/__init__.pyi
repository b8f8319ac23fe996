"""A fitted model on its data as one offline page: what was found, and why."""

from .document import Report as Report
