"""Disk: rows that are read from files some at a time, and kept in a scratch file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from conjunct.columns import StoreKind
from conjunct.counting.engines.base import ENGINES, Engine, ReadPart
from conjunct.counting.partitioned import Partitions
from conjunct.errors import InputError


class StreamedRows(ABC):
    """Rows that come some at a time, whenever they are wanted."""

    @property
    @abstractmethod
    def head(self) -> Any:
        """A container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(self, read: ReadPart, n_jobs: int | None, store: StoreKind) -> Partitions:
        """The rows in parts."""


class Disk(Engine):
    name = "disk"
    summary = "streams of files, whose rows stay on disk"
    advice = "a stream gives tables to use one by one: for table in stream: …"

    def holds(self, data: Any) -> bool:
        return isinstance(data, StreamedRows)

    def head(self, data: StreamedRows) -> Any:
        return data.head

    def partitions(
        self,
        data: StreamedRows,
        read: ReadPart,
        n_columns: int,
        store: StoreKind,
        n_jobs: int | None,
    ) -> Partitions:
        return data.partitions(read, n_jobs, store)

    def mapped(self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any) -> Any:
        raise InputError(self.advice)


ENGINES.enter(Disk())
