"""What a fit is estimated to take, and which store is chosen by that: at the ends of each range."""

import pytest

from conjunct.columns import sizing
from conjunct.columns.sizing import CostEstimate, Size, choose_storage
from conjunct.errors import InputError

SIZE = Size(n_rows=10_000, n_columns=300, n_ones=60_000, n_meetings=400_000, n_common_pairs=9_000)


@pytest.mark.parametrize(
    ("n_bytes", "seconds", "text"),
    [
        (0, 0, "about 1 s and 1 MB of memory"),
        (10**6, 119, "about 119 s and 1 MB of memory"),
        (2 * 10**6, 120, "about 2 minutes and 2 MB of memory"),
        (3 * 10**9, 7199, "about 120 minutes and 3 GB of memory"),
        (3 * 10**9, 7200, "about 2 hours and 3 GB of memory"),
        (3 * 10**9, 36_000, "about 10 hours and 3 GB of memory"),
    ],
)
def test_estimates_in_words(n_bytes, seconds, text):
    assert str(CostEstimate(n_bytes, seconds)).startswith(text)


def more(kind, in_merges=False, size=SIZE, **changes):
    """What a larger size takes more: bytes, seconds."""
    larger = Size(**(vars(size) | {name: vars(size)[name] + n for name, n in changes.items()}))
    one, other = (each.estimate_cost(kind, in_merges=in_merges) for each in (size, larger))
    return other.n_bytes - one.n_bytes, other.seconds - one.seconds


def test_lists_take_what_their_ones_meetings_and_pairs_take():
    assert more("sparse", n_ones=10) == (360, pytest.approx(10 * sizing._ONE_SECONDS))
    assert more("sparse", n_meetings=10) == (0, pytest.approx(10 * sizing._MEETING_SECONDS))
    assert more("sparse", n_common_pairs=10) == (700, pytest.approx(10 * sizing._MET_SECONDS))
    assert more("sparse", n_rows=10) == (0, pytest.approx(10 * sizing._ROW_SECONDS))
    assert more("sparse", n_columns=10) == (0, 0)
    empty = Size(0, 0, 0, 0, 0)
    assert empty.estimate_cost("sparse") == CostEstimate(0, 0)


def test_bits_take_what_their_rows_and_pairs_of_columns_take():
    for nothing in ("n_ones", "n_meetings", "n_common_pairs"):
        assert more("dense", **{nothing: 1000}) == (0, 0)
    # 64 rows: a word more in each line of three tables, and 50 bytes for each row
    seconds = 300**2 * 64 / sizing.BIT_PAIRS_A_SECOND + sizing._PACK_SECONDS * 64 * 300
    assert more("dense", n_rows=64) == (3 * 300 * 8 + 50 * 64, pytest.approx(seconds))
    pairs = 600**2 - 300**2
    seconds = pairs * (10_000 / sizing.BIT_PAIRS_A_SECOND + sizing._CELL_SECONDS)
    seconds += sizing._PACK_SECONDS * 10_000 * 300
    n_bytes = 3 * 300 * 8 * 157 + 22 * pairs
    assert more("dense", n_columns=300) == (n_bytes, pytest.approx(seconds))


def test_merges_take_more_with_the_columns_up_to_a_number():
    parts = SIZE.estimate_cost("dense", in_parts=True)
    assert parts.n_bytes == 22 * 300**2
    assert parts.seconds == SIZE.estimate_cost("dense").seconds
    merges = SIZE.estimate_cost("dense", in_parts=True, in_merges=True)
    # counts, a matrix with room, names and patterns, 1,500 merges, pairs of tags
    expected = 4 * 300**2 + 4 * 375**2 + 700 * 300 + 8000 * 1500 + 60 * 300**2
    assert merges.n_bytes == expected
    lists = SIZE.estimate_cost("sparse", in_parts=True, in_merges=True)
    expected += 28 * 9000 - 4 * 300**2
    assert lists.n_bytes == expected
    merge = sizing._MERGE_SECONDS + min(sizing.merge_seconds(10_000, 300, 60_000))
    tested = {"dense": 45_000, "sparse": 9000}
    for kind, n_pairs in tested.items():
        plain = SIZE.estimate_cost(kind).seconds
        added = sizing._TEST_SECONDS * n_pairs + sizing._COLUMN_SECONDS * 300 + 1500 * merge
        found = SIZE.estimate_cost(kind, in_merges=True).seconds
        assert found == pytest.approx(plain + added)
    # no more than 4,000 merges, 1,000 tags, and matrices of a quarter of the largest
    wide = Size(100, 4096, 5000, 9000, 1000)
    own = 28 * 1000 + 700 * 4096 + 8000 * 4000 + 60 * 1000**2
    wide_bytes = wide.estimate_cost("sparse", in_parts=True, in_merges=True).n_bytes
    assert wide_bytes == own + int(4 * (1.25 * 4096) ** 2)
    wider = Size(100, 4097, 5000, 9000, 1000)
    wider_bytes = wider.estimate_cost("sparse", in_parts=True, in_merges=True).n_bytes
    assert wider_bytes == own + 700


def test_seconds_of_a_merge():
    of_bits, of_lists = sizing.merge_seconds(1000, 50, 4000)
    assert of_bits == pytest.approx(10 * 50 * 1000 / sizing.BIT_PAIRS_A_SECOND)
    # a column has 80 ones, and a row 4
    assert of_lists == pytest.approx(sizing._MERGED_SECONDS * 80 * 4)
    assert sizing.merge_seconds(0, 0, 0) == (0, 0)


def test_what_fits(monkeypatch):
    monkeypatch.setattr(sizing, "available_bytes", lambda: 1 << 30)
    assert sizing.fits(1 << 30)
    assert not sizing.fits((1 << 30) + 1)
    assert sizing.fits(5, 5)
    assert not sizing.fits(6, 5)
    monkeypatch.setattr(sizing, "available_bytes", lambda: 0)
    # what is small is not worth a look
    assert sizing.fits(1 << 24)
    assert not sizing.fits((1 << 24) + 1)


def test_what_is_refused(monkeypatch):
    monkeypatch.setattr(sizing, "available_bytes", lambda: 1 << 30)
    sizing.check_packed_size(64 << 20, 128)
    with pytest.raises(InputError, match="67108865 rows and 128 columns need"):
        sizing.check_packed_size((64 << 20) + 1, 128)
    with pytest.raises(InputError, match="129 columns"):
        sizing.check_packed_size(64 << 20, 129)
    # counts, and the next ones
    sizing.check_counts(1 << 13, 8)
    with pytest.raises(InputError, match="the counts of 8193 columns"):
        sizing.check_counts((1 << 13) + 1, 8)


def test_lists_save_much_where_ones_are_few():
    n_columns = 128
    n_rows = 8 * (sizing._SMALL_BYTES // n_columns) + 64
    packed = n_columns * n_rows // 8
    assert packed > sizing._SMALL_BYTES
    assert sizing.is_sparse(packed // 4 - 1, n_rows, n_columns)
    assert not sizing.is_sparse(packed // 4, n_rows, n_columns)
    # a small table is packed
    assert not sizing.is_sparse(0, n_rows - 64, n_columns)


DENSE, SPARSE = Size(1000, 100, 60_000, 4 * 10**6, 4950), Size(10**5, 9000, 10**5, 10**5, 0)


@pytest.mark.parametrize(("size", "quicker"), [(DENSE, "dense"), (SPARSE, "sparse")])
def test_the_quickest_store_that_fits_is_chosen(size, quicker, monkeypatch):
    needs = {kind: size.estimate_cost(kind) for kind in ("dense", "sparse")}
    assert min(needs, key=lambda kind: needs[kind].seconds) == quicker
    monkeypatch.setattr(sizing, "_SMALL_BYTES", 0)
    largest = max(one.n_bytes for one in needs.values())
    monkeypatch.setattr(sizing, "available_bytes", lambda: largest)
    asked = []
    survey = lambda: asked.append(1) or size  # noqa: E731
    assert choose_storage(size, "auto", survey) == quicker
    # bits that are quicker whatever the pairs need no look at them
    assert len(asked) == (quicker == "sparse")
    for kind in ("dense", "sparse"):
        assert choose_storage(size, kind) == kind
    cheap, dear = sorted(needs, key=lambda kind: needs[kind].n_bytes)
    monkeypatch.setattr(sizing, "available_bytes", lambda: largest - 1)
    assert choose_storage(size, "auto") == cheap
    with pytest.raises(InputError, match=f"storage='{dear}'"):
        choose_storage(size, dear)
    monkeypatch.setattr(sizing, "available_bytes", lambda: needs[cheap].n_bytes - 1)
    with pytest.raises(InputError, match=f"storage='{cheap}'.*leave out rare columns"):
        choose_storage(size, "auto")
    # rows in parts: only counts take memory here
    counts = {kind: size.estimate_cost(kind, in_parts=True).n_bytes for kind in needs}
    for kind, n_bytes in counts.items():
        assert choose_storage(size, kind, memory=n_bytes) == kind
        if n_bytes:
            with pytest.raises(InputError, match=f"the counts of {size.n_columns} columns"):
                choose_storage(size, kind, memory=n_bytes - 1)


def test_lists_are_advised_where_only_bits_do_not_fit(monkeypatch):
    monkeypatch.setattr(sizing, "_SMALL_BYTES", 0)
    of_lists = SPARSE.estimate_cost("sparse").n_bytes
    monkeypatch.setattr(sizing, "available_bytes", lambda: of_lists)
    with pytest.raises(InputError, match="storage='sparse' takes"):
        choose_storage(SPARSE, "dense")
    monkeypatch.setattr(sizing, "available_bytes", lambda: of_lists - 1)
    with pytest.raises(InputError, match="leave out rare columns"):
        choose_storage(SPARSE, "dense")
