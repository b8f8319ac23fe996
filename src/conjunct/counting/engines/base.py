"""What an engine must say about rows that it holds in parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from conjunct.columns import Columns, StoreKind
from conjunct.counting.partitioned import Partitions
from conjunct.errors import InputError
from conjunct.registry import Registry

ReadPart = Callable[[Any], Columns]
"""The columns of the rows of one part, here or on a worker."""


class Engine(ABC):
    """A place where rows are in parts, each of which counts by itself."""

    name: ClassVar[str]
    summary: ClassVar[str]
    advice: ClassVar[str]
    """What to do where all rows must be in memory."""
    takes_expressions: ClassVar[bool] = False
    """Whether its tables compute expressions of narwhals by themselves."""

    @abstractmethod
    def holds(self, data: Any) -> bool:
        """Whether these rows are the engine's, told without importing its library."""

    @abstractmethod
    def head(self, data: Any) -> Any:
        """A container in memory with the same columns and without rows."""

    @abstractmethod
    def partitions(
        self, data: Any, read: ReadPart, n_columns: int, store: StoreKind, n_jobs: int | None
    ) -> Partitions:
        """The rows as parts that count; ``read`` makes columns of one."""

    def made_by(
        self,
        tasks: Sequence[Callable[[], Columns]],
        n_columns: int,
        store: StoreKind,
        part_bytes: int,
    ) -> Partitions:
        """Parts that workers make, each by a call; the largest takes ``part_bytes``, packed."""
        raise InputError(f"{self.name} has no workers that read files")

    def connected(self, address: str | None, memory: int | None) -> AbstractContextManager[object]:
        """A cluster at an address, or one on this machine, which may take ``memory`` bytes."""
        raise InputError(f"{self.name} is no cluster")

    @abstractmethod
    def mapped(self, data: Any, make: Callable[[Any], Any], n_columns: int, dtype: Any) -> Any:
        """A collection of what ``make`` makes of each part, when it is used.

        It has ``n_columns``; where the engine has to know, their cells are of type ``dtype``.
        """


ENGINES: Registry[Engine] = Registry("engine", "conjunct.counting.engines")


def engine_of(data: Any) -> Engine | None:
    """The engine that holds these rows; ``None`` for what is in memory."""
    return next((engine for engine in ENGINES.values() if engine.holds(data)), None)
