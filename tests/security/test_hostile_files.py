"""Files made to use up time or memory: refused in about a second, within a bound on memory."""

import gzip
import json
import subprocess
import sys

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEADER = b'{"format":"conjunct-model","version":3'
MEGABYTES = 100
SIZE = MEGABYTES << 20

# how much more memory, and how much processor time, is fair for a file of 100 MB
MEMORY = 900
SECONDS = 2.0

# made when needed: together they take more than a gigabyte
MODELS = {
    "brackets": lambda: b"[" * SIZE,
    "brackets closed": lambda: b"[" * (SIZE // 2) + b"]" * (SIZE // 2),
    "objects": lambda: b'{"a":' * (SIZE // 5),
    "brackets in a field": lambda: HEADER + b',"merges":' + b"[" * SIZE,
    "brackets in an unknown field": lambda: HEADER + b',"x":' + b"[" * SIZE,
    "digits": lambda: HEADER[:-1] + b"1" * SIZE + b"}",
    "a fraction": lambda: HEADER + b',"smoothing":0.' + b"1" * SIZE + b"}",
    "an exponent": lambda: HEADER + b',"kind":"UFC","threshold":1e' + b"9" * SIZE + b"}",
    "a string": lambda: b'{"format":"' + b"a" * SIZE + b'"}',
    "zero bytes": lambda: b"\0" * SIZE,
    "spaces": lambda: b" " * SIZE,
    "keys twice": lambda: HEADER + b',"version":3' * 1_000_000 + b',"version":7}',
    "unclosed": lambda: HEADER + b',"kind":"' + b"\\u0041" * (SIZE // 6),
    "deep": lambda: HEADER + b',"parameters":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    "another version": lambda: HEADER.replace(b"3", b"999999") + b"}",
}

# each file is read by a process of its own, which has imported everything already
READ = """
import json, os, sys, time
from conjunct import load
from conjunct.errors import InputError
from conjunct.files import read_boolean
import conjunct.estimators.integrations, polars

def memory():
    with open("/proc/self/status") as status:
        return next(int(x.split()[1]) for x in status if x.startswith("VmHWM")) >> 10

def answer(kind, path):
    read = {"model": load, "data": read_boolean}[kind]
    before, start = memory(), time.process_time()
    try:
        read(path)
        said = ""
    except InputError as error:
        said = str(error)
    return [said, time.process_time() - start, memory() - before]

for line in sys.stdin:
    if os.fork() == 0:
        print(json.dumps(answer(*json.loads(line))), flush=True)
        os._exit(0)
    _, status = os.wait()
    if status:
        print(json.dumps(f"died with status {status}"), flush=True)
"""


@pytest.fixture(scope="module")
def read():
    """The error, the processor time in seconds, and the megabytes that reading a file takes."""
    with subprocess.Popen(
        [sys.executable, "-c", READ], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:

        def ask(kind, path):
            print(json.dumps([kind, str(path)]), file=reader.stdin, flush=True)
            answer = json.loads(reader.stdout.readline())
            assert isinstance(answer, list), answer
            return answer

        yield ask


@pytest.mark.parametrize("case", MODELS)
def test_hostile_model(case, tmp_path, read):
    path = tmp_path / "model.json"
    path.write_bytes(MODELS[case]())
    said, seconds, megabytes = read("model", path)
    assert said.startswith(str(path))
    assert len(said) < 500
    assert "\n" not in said
    assert seconds < SECONDS
    assert megabytes < MEMORY


def test_a_model_without_end(read):
    said, _, megabytes = read("model", "/dev/zero")
    assert said == "/dev/zero: a model file has at most 256 MB"
    assert megabytes < MEMORY


# a start, and what is repeated after it until there are 300 MB; both compress to next to nothing
BOMBS = {
    "a cell": ("csv", b"a,b\n0,", b"0"),
    "a header": ("csv", b"a", b"a"),
    "zero bytes": ("csv", b"a,b\n", b"\0"),
    "an object": ("jsonl", b'{"a":"', b"x"),
    "brackets": ("jsonl", b"", b"["),
    "a basket": ("dat", b"", b"a "),
    "an attribute": ("arff", b"@relation r\n@attribute a {0,1}\n@data\n", b"1"),
    "a row": ("svmlight", b"1 ", b"1"),
}


@pytest.mark.parametrize(
    "packing",
    [gzip.open, pytest.param(zstd.open, marks=pytest.mark.slow)],
    ids=["gz", "zst"],
)
@pytest.mark.parametrize("case", BOMBS)
def test_a_bomb_does_not_go_off(case, packing, tmp_path, read):
    kind, start, repeated = BOMBS[case]
    path = tmp_path / f"bomb.{kind}.{'gz' if packing is gzip.open else 'zst'}"
    block = repeated * ((1 << 20) // len(repeated))
    with packing(path, "wb") as file:
        file.write(start)
        for _ in range(40):
            file.write(block)
    assert path.stat().st_size < 1 << 20
    said, seconds, megabytes = read("data", path)
    assert "is longer than 16 MB: not a table" in said
    assert seconds < SECONDS
    assert megabytes < 100


def test_wide_lines_together(tmp_path, read):
    """Each line is short enough, and all of a batch are too much."""
    line = gzip.compress(b"0," + b"0" * (8 << 20) + b"\n")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,b\n") + line * 80)
    said, _, megabytes = read("data", tmp_path / "t.csv.gz")
    assert "decompress the file first" in said
    assert megabytes < 100


@pytest.mark.parametrize("cut", [10, 15, -8, -1])
@pytest.mark.parametrize("packing", [gzip, zstd], ids=["gz", "zst"])
def test_compressed_files_that_break_off(cut, packing, tmp_path, read):
    whole = packing.compress(b"a b\n" * 1000)
    path = tmp_path / "t.dat"
    path.write_bytes(whole[:cut])
    assert "cannot be read" in read("data", path)[0]


SPARSE = {
    "column numbers": ("t.svmlight", b"1 2000000000:0.5\n0 1:1\n"),
    "columns of numbers": ("t.svmlight", b"".join(b"1 %d:0.5\n" % k for k in range(1, 30_000))),
    "empty rows": (
        "t.arff",
        b"".join(b"@attribute a%d numeric\n" % k for k in range(20_000))
        + b"@data\n"
        + b"{}\n" * 20_000,
    ),
    "keys": ("t.jsonl", b"".join(b'{"k%d": 1}\n' % k for k in range(20_000))),
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if case == "keys" else ()) for case in SPARSE],
)
def test_tables_that_are_small_only_in_their_file(case, tmp_path, read):
    name, content = SPARSE[case]
    (tmp_path / name).write_bytes(content)
    said, _, megabytes = read("data", tmp_path / name)
    assert case == "column numbers" or "too many cells for this kind of file" in said
    assert megabytes < 3500
