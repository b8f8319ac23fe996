"""Report a fitted model and its data as one offline page."""

from .document import Report as Report
