"""Parts of dates that features can be about."""

from __future__ import annotations

import calendar
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from conjunct.data.raw_columns import Column

DatePart = Literal["year", "month", "weekday", "hour"]
PARTS: tuple[DatePart, ...] = get_args(DatePart)

# not calendar.month_name, which speaks the language of the machine
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
WEEKDAYS = (
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
)
HOURS = (6.0, 12.0, 18.0)


def part_of(column: Column, part: DatePart) -> Column:
    """One part of a column of dates: a number for year and hour, a word for month and weekday."""
    days = column.values.astype("datetime64[D]")
    if part == "year":
        return _numbers(column, column.values.astype("datetime64[Y]").astype(np.int64) + 1970)
    if part == "hour":
        return _numbers(column, (column.values - days) / np.timedelta64(1, "h"))
    if part == "month":
        return _words(column, days.astype("datetime64[M]").astype(np.int64) % 12, MONTHS)
    # 1 January 1970 was a Thursday
    return _words(column, (days.astype(np.int64) + calendar.THURSDAY) % 7, WEEKDAYS)


def has_hours(column: Column) -> bool:
    """Whether some moment is not midnight."""
    present = column.values[~column.missing]
    return bool((present != present.astype("datetime64[D]")).any())


def _numbers(column: Column, values: NDArray[Any]) -> Column:
    numbers = np.where(column.missing, np.nan, values.astype(np.float64))
    return replace(column, kind="number", values=numbers)


def _words(column: Column, codes: NDArray[np.int64], words: tuple[str, ...]) -> Column:
    values = np.where(column.missing, -1, codes)
    return replace(column, kind="text", values=values, words=words)
