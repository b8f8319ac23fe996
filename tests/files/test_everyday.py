"""Files as people have them: read as a person would, or refused in a line that says what to add."""

import csv
import datetime
import gzip
import io
import json
import re
import sqlite3
import tracemalloc
import warnings
import zipfile
from dataclasses import dataclass, field

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

from conjunct import Binarizer, BooleanData, ConjunctWarning, InputError
from conjunct.files import read_boolean, stream

N = 40
DAYS = [datetime.date(2021 + k % 3, 1 + k % 12, 13 + k % 15) for k in range(N)]
PEOPLE = pl.DataFrame(
    {
        "name": [f"Ñame {k}" for k in range(N)],
        "age": [18 + (k * 7) % 60 for k in range(N)],
        "weight": [50.5 + (k * 3.25) % 41 for k in range(N)],
        "member": [k % 3 == 0 for k in range(N)],
        "colour": [("red", "green", "navy blue")[k % 3] for k in range(N)],
        "seen": DAYS,
    }
)
TAGS = [["sea", "sky"], ["sky", "tree"], ["sea"], ["sea", "sky", "tree"], ["boat", "sea"]] * 8
LISTED = {",": [", ".join(tags) for tags in TAGS], ";": [";".join(tags) for tags in TAGS]}


def pandas(frame=PEOPLE):
    return pd.DataFrame(
        {name: pd.to_datetime(c) if name == "seen" else c for name, c in frame.to_dict().items()}
    )


def spelled(frame=PEOPLE, day="%Y-%m-%d", comma=False, yes="yes", no="no"):
    """The cells as text, as a spreadsheet shows them."""
    columns = frame.with_columns(
        pl.col("seen").dt.strftime(day),
        pl.when("member").then(pl.lit(yes)).otherwise(pl.lit(no)).alias("member"),
    ).cast(pl.String)
    if comma:
        columns = columns.with_columns(pl.col("weight").str.replace(".", ",", literal=True))
    return columns


def with_cells(column, cells, frame=None):
    """The table as text, with other cells in the first rows of a column."""
    text = spelled() if frame is None else frame
    return text.with_columns(
        pl.Series(column, [*cells, *text.get_column(column).to_list()[len(cells) :]])
    )


def lines(frame, separator=",", quote=False, header=True):
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=separator, quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL
    )
    writer.writerows([*([frame.columns] if header else []), *frame.rows()])
    return out.getvalue()


def text(content, encoding="utf-8"):
    return lambda path: path.write_bytes(content.encode(encoding))


def sqlite(path):
    """As ``.mode csv`` and ``.headers on`` print a table whose columns are all text."""
    base = sqlite3.connect(":memory:")
    frame = with_cells("age", [None, None])
    columns = ", ".join(f'"{name}" text' for name in frame.columns)
    base.execute(f"create table t ({columns})")
    base.executemany(f"insert into t values ({', '.join('?' * frame.width)})", frame.rows())
    rows = [
        ["" if cell is None else cell for cell in row] for row in base.execute("select * from t")
    ]
    base.close()
    path.write_text(lines(pl.DataFrame(rows, frame.columns, orient="row")), encoding="utf-8")


def workbook(*sheets, above=0, between=0):
    """A spreadsheet as a person fills it: sheets, a gap above, blank rows between."""

    def write(path):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, frame in sheets:
            sheet = book.create_sheet(title)
            for _ in range(above):
                sheet.append([None])
            sheet.append(frame.columns)
            for k, row in enumerate(frame.rows()):
                sheet.append(row)
                if between and k % between == 0:
                    sheet.append([None])
        book.save(path)

    return write


def _book(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def ods(path):
    """A table of LibreOffice, cell by cell."""

    def cell(value):
        if isinstance(value, bool):
            kind = f'boolean" office:boolean-value="{str(value).lower()}'
        elif isinstance(value, datetime.date):
            kind = f'date" office:date-value="{value}'
        elif isinstance(value, float | int):
            kind = f'float" office:value="{value}'
        else:
            kind = "string"
        shown = f"<text:p>{value}</text:p>"
        return f'<table:table-cell office:value-type="{kind}">{shown}</table:table-cell>'

    rows = "".join(
        f"<table:table-row>{''.join(map(cell, row))}</table:table-row>"
        for row in [PEOPLE.columns, *PEOPLE.rows()]
    )
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content{spaces} office:version="1.2"><office:body>'
        f'<office:spreadsheet><table:table table:name="Sheet1">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{manifest}"><manifest:file-entry '
            f'manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>',
        )


def r_table(frame, separator=",", na="NA", names=True):
    """As R writes it: text in quotes, numbers not, a column of row names without a name."""
    rows = [[f'"{name}"' for name in (["", *frame.columns] if names else frame.columns)]]
    for k, row in enumerate(frame.rows(), start=1):
        cells = [na if c is None else c if _is_number(c) else f'"{c}"' for c in row]
        rows.append([*([f'"{k}"'] if names is not None else []), *cells])
    return "".join(separator.join(row) + "\n" for row in rows)


def _is_number(cell):
    return cell.replace(",", ".").replace(".", "", 1).isdigit()


@dataclass
class Case:
    """A file, how it is read, and what comes out: people, tags, or a line with these words."""

    file: str
    write: object
    options: dict = field(default_factory=dict)
    comes_out: object = "people"
    notes: tuple = ()
    missing: dict = field(default_factory=dict)
    """Rows of a column whose cells are missing."""


PEOPLE_CSV = lines(spelled())
GERMAN = spelled(day="%d.%m.%Y", comma=True, yes="Ja", no="Nein")
AMERICAN = spelled(day="%m/%d/%Y")
EARLY = [f"0{1 + k % 9}/0{1 + k % 5}/2024" for k in range(N)]
COMMENTS = [f"Came at {k}, left early, said nothing new about it, really" for k in range(N)]
TOWNS = [f"Town {k}, {('France', 'Italy', 'Spain')[k % 3]}" for k in range(N)]
MISSING_AGES = {"age": [0, 1, 2]}
AS_TAGS = {"tags": "keywords", "id": "id"}
PHOTOS = pl.DataFrame({"id": [f"p{k}" for k in range(N)], "keywords": LISTED[","]})


def database(path, *names):
    """A file of SQLite with the same table under several names."""
    base = sqlite3.connect(path)
    frame = PEOPLE.with_columns(pl.col("seen").cast(pl.String))
    for name in names:
        base.execute(f'create table "{name}" ({", ".join(frame.columns)})')
        places = ", ".join("?" * frame.width)
        base.executemany(f'insert into "{name}" values ({places})', frame.rows())
    base.commit()
    base.close()


def duck(path):
    import duckdb

    base = duckdb.connect(str(path))
    frame = PEOPLE  # noqa: F841 (the database reads it by its name)
    base.execute("create table people as select * from frame")
    base.close()


def jsons(content):
    return lambda path: path.write_text(json.dumps(content, default=str), encoding="utf-8")


def columns(**more):
    """People with more columns, as CSV."""
    return text(lines(spelled().with_columns(pl.Series(n, c) for n, c in more.items())))


BODY = lines(spelled(), header=False)
RECORDS = json.loads(PEOPLE.write_json())
TAG_LINES = "".join(f"{row}\n" for row in LISTED[","])
RAGGED = "".join(";".join(tags) + "\n" for tags in TAGS)
NUMBERED = tuple(f"column {k} = " for k in range(3))
LETTERS = {enc: PEOPLE_CSV.encode(enc) for enc in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")}
ORDERS = "order_id,product\n" + "".join(
    f"{k},{tag}\n" for k, tags in enumerate(TAGS) for tag in tags
)
BASKETS = ("lists: each line is read as the tags of one row",)
NO_NAMES = ("seems to have no line of column names; .*'column 1'.*--header",)
NUMBERS = "5.1,3.5,setosa\n4.9,3.0,virginica\n4.7,3.2,setosa\n4.6,3.1,virginica\n"
WORDS = "red,small\nblue,large\nred,large\nblue,small\nred,small\n"
TAKEN = ("age < 30", "member", "colour = red")


def raw_bytes(content):
    return lambda path: path.write_bytes(content)


MORE = {
    **{
        f"{name}, decoded": Case("t.csv", raw_bytes(content), notes=("text, and is decoded",))
        for name, content in LETTERS.items()
    },
    "Latin-1": Case("t.csv", text(PEOPLE_CSV, "latin-1"), notes=("Latin-1",)),
    "Latin-1 in tabs": Case("t.tsv", text(lines(spelled(), "\t"), "latin-1"), notes=("Latin-1",)),
    "Latin-1, compressed": Case(
        "t.csv.gz",
        lambda p: p.write_bytes(gzip.compress(PEOPLE_CSV.encode("latin-1"))),
        notes=("Latin-1",),
    ),
    "Latin-1 baskets": Case(
        "t.basket",
        text(TAG_LINES.replace("sea", "é"), "latin-1"),
        comes_out=("é", "sky"),
        notes=("Latin-1",),
    ),
    "JSON lines in UTF-16": Case(
        "t.jsonl",
        text("".join(json.dumps(row) + "\n" for row in RECORDS), "utf-16"),
        notes=("UTF-16",),
    ),
    "a wrong byte among UTF-8": Case(
        "t.csv",
        raw_bytes(PEOPLE_CSV.encode() + b"\xff,1,1,no,red,2021-01-13\n"),
        comes_out="line 42 is not UTF-8 text",
    ),
    "a picture": Case(
        "t.csv", raw_bytes(b"\x89PNG\r\n\x1a\n\0\0"), comes_out="line 1 is not UTF-8 text"
    ),
    "old Mac line ends": Case(
        "t.csv",
        text(PEOPLE_CSV.replace("\r\n", "\r")),
        notes=("ends lines with carriage returns alone",),
    ),
    "old Mac, Latin-1": Case(
        "t.csv",
        text(PEOPLE_CSV.replace("\r\n", "\r"), "latin-1"),
        notes=("Latin-1.*; it ends lines with carriage returns",),
    ),
    "Unix line ends": Case("t.csv", text(PEOPLE_CSV.replace("\r\n", "\n"))),
    "no line end at the end": Case("t.csv", text(PEOPLE_CSV.rstrip())),
    "blank lines at the end": Case("t.csv", text(PEOPLE_CSV + "\r\n\r\n")),
    "a blank second line": Case(
        "t.csv",
        text(PEOPLE_CSV.replace("\r\n", "\r\n\r\n", 1)),
        notes=("skipped 1 blank line between rows",),
    ),
    "blank lines everywhere": Case(
        "t.csv",
        text(PEOPLE_CSV.replace("\r\n", "\n\n")),
        notes=("skipped 40 blank lines between rows",),
    ),
    "a blank line far below": Case(
        "t.csv",
        text("a,b\n" + "x,yes\ny,no\n" * 800 + "\nx,yes\n"),
        comes_out=("a = x", "b"),
        notes=("skipped 1 blank line between rows",),
    ),
    "a blank first line": Case(
        "t.csv", text("\n" + PEOPLE_CSV), notes=("skipping the first line above the table",)
    ),
    "a title above": Case(
        "t.csv",
        text("Report of 2024\n" + PEOPLE_CSV),
        notes=("skipping the first line above the table",),
    ),
    "a title and a blank line above": Case(
        "t.csv",
        text("Report of 2024\n\n" + PEOPLE_CSV),
        notes=("skipping the first 2 lines above",),
    ),
    "a title of a spreadsheet": Case(
        "t.csv", text("Report,,,,,\n" + PEOPLE_CSV), notes=("skipping the first line above",)
    ),
    "a name of two lines": Case(
        "t.csv",
        text('"a\nb",c,d\n' + "x,yes,p\ny,no,q\n" * 4),
        comes_out=("a\nb = x", "c", "d = p"),
    ),
    "comments above": Case(
        "t.csv",
        text("# by me\n# today\n" + PEOPLE_CSV),
        notes=("skipping the first 2 lines above",),
    ),
    "blanks after commas": Case("t.csv", text(PEOPLE_CSV.replace(",", ", "))),
    "blanks and quotes after commas": Case(
        "t.csv", text(lines(spelled(), quote=True).replace('","', '", "'))
    ),
    "single quotes": Case("t.csv", text(lines(spelled(), quote=True).replace('"', "'"))),
    "single quotes around names only": Case(
        "t.tsv",
        text(
            "\t".join(f"'{name}'" for name in PEOPLE.columns)
            + "\n"
            + lines(spelled(), "\t", header=False)
        ),
    ),
    "single quotes around some names": Case(
        "t.csv",
        text("'size',colour\n" + "'s',red\n'm',blue\n" * 4),
        comes_out=("'size' = 's'", "colour = red"),
    ),
    "single quotes, some cells without or empty": Case(
        "t.csv",
        text("'size','it''s'\n" + "'s',red\nm,'blue'\n'','o''clock'\n" * 4),
        comes_out=("size = s", "size = m", "it's = red", "it's = blue", "it's = o'clock"),
    ),
    "separated by blanks": Case(
        "t.csv",
        text(lines(spelled().drop("colour"), " ").replace("Ñame ", "N")),
        comes_out=("age < 30", "member"),
        notes=("separated by blanks",),
    ),
    "in columns of blanks": Case(
        "t.txt",
        text("age   sex  tall\n 31   f    yes\n 4    m    no\n 77   f    no\n"),
        comes_out=("age = 31", "sex = f", "tall"),
        notes=("separated by blanks",),
    ),
    "a semicolon and decimal commas in text": Case(
        "t.txt", text(lines(spelled(comma=True), ";")), notes=("';'",)
    ),
    "a text of commas": Case("t.txt", text(PEOPLE_CSV)),
    "a text of bars": Case("t.txt", text(lines(spelled(), "|")), notes=(r"'\|'",)),
    "no names, numbers": Case(
        "t.csv", text(NUMBERS), comes_out=("column 3 = setosa",), notes=NO_NAMES
    ),
    "no names, words": Case(
        "t.csv", text(WORDS), comes_out=("column 1 = red", "column 2 = small"), notes=NO_NAMES
    ),
    "no names, dates": Case(
        "t.csv",
        text("2021-01-03,a\n2021-02-04,b\n2022-03-05,a\n"),
        comes_out=("column 2 = a", "column 1 year = 2021"),
        notes=NO_NAMES,
    ),
    "no names, tabs": Case(
        "t.tsv",
        text(NUMBERS.replace(",", "\t")),
        comes_out=("column 3 = setosa",),
        notes=NO_NAMES,
    ),
    "no names, people": Case(
        "t.csv", text(BODY), comes_out=("column 2 < 30", "column 4"), notes=NO_NAMES
    ),
    "no names, one number among words": Case(
        "t.csv",
        text("".join(f"{'red' if k % 2 else 'blue'},{7 * k % 50},yes\n" for k in range(N))),
        comes_out=("column 1 = red", "column 3"),
        notes=NO_NAMES,
    ),
    "no names, said so": Case(
        "t.csv", text(NUMBERS), {"header": False}, comes_out=("column 3 = setosa",)
    ),
    "names that look like no names": Case(
        "t.csv", text(WORDS), {"header": True}, comes_out=("red = blue", "small = large")
    ),
    "names that are years": Case(
        "t.csv",
        text("land,2019,2020\nA,1,2\nB,4,3\nC,5,6\n"),
        comes_out=("2019 = 1", "2020 = 2"),
    ),
    "names that are counted": Case(
        "t.csv",
        lambda p: pd.DataFrame([[5, 7], [8, 9]] * 2).to_csv(p, index=False),
        comes_out=("0 = 5", "1 = 7"),
    ),
    "names twice": Case(
        "t.csv",
        text("a,b,a\nx,yes,p\ny,no,q\n"),
        comes_out=("a = x", "b", "a (2) = p"),
        notes=(r"same name, which are numbered: 'a \(2\)'",),
    ),
    "names three times": Case(
        "t.csv",
        text("a,a,a\nx,yes,p\ny,no,q\n"),
        comes_out=("a = x", "a (2)", "a (3) = p"),
        notes=(r"'a \(2\)', 'a \(3\)'",),
    ),
    "names twice in a spreadsheet": Case(
        "t.xlsx",
        lambda p: _book(p, [["a", "a"], ["x", "yes"], ["y", "no"]]),
        comes_out=("a = x", "a (2)"),
        notes=("numbered",),
    ),
    "no names for two columns": Case(
        "t.csv",
        text(",,c\nx,yes,p\ny,no,q\n"),
        comes_out=(" = x", "column 2", "c = p"),
        notes=("numbered: 'column 2'",),
    ),
    "a comma at the end of each line": Case(
        "t.csv", text(PEOPLE_CSV.replace("\r\n", ",\r\n")), comes_out=TAKEN
    ),
    "rows of another length": Case(
        "t.csv",
        text("a,b\n1,0\n1\n1,0\n0,1,1\n1\n"),
        comes_out="line 3: 1 cell, but the first line has 2 names; see also lines 5, 6",
    ),
    "columns that are not there": Case(
        "t.csv", text(PEOPLE_CSV), {"exclude": ["x", "y"]}, comes_out="no column 'x', 'y': it has"
    ),
    "market baskets": Case("t.csv", text(TAG_LINES), comes_out="tags", notes=BASKETS),
    "market baskets with semicolons": Case("t.csv", text(RAGGED), comes_out="tags", notes=BASKETS),
    "market baskets, filled up": Case(
        "t.csv",
        text("".join(",".join(t + [""] * (3 - len(t))) + "\n" for t in TAGS)),
        comes_out="tags",
        notes=BASKETS,
    ),
    "text of baskets": Case(
        "t.txt", text("".join(" ".join(t) + "\n" for t in TAGS)), comes_out="tags", notes=BASKETS
    ),
    "text of baskets with commas": Case("t.txt", text(TAG_LINES), comes_out="tags", notes=BASKETS),
    "text of one tag a line": Case(
        "t.txt", text("sea\nsky\nsea\n"), comes_out=("sea", "sky"), notes=BASKETS
    ),
    "baskets, said so": Case("t.csv", text(TAG_LINES), {"format": "baskets"}, comes_out="tags"),
    "a long table, not asked for": Case(
        "t.csv",
        text(ORDERS),
        comes_out=("product = sea",),
        notes=("may be a long table, with one 'product' per line .*--format long",),
    ),
    "SQLite": Case("t.sqlite", lambda p: database(p, "people")),
    "SQLite, .db": Case("t.db", lambda p: database(p, "people")),
    "SQLite, one of two": Case(
        "t.db", lambda p: database(p, "animals", "people"), {"table": "people"}
    ),
    "SQLite, none of two": Case(
        "t.db",
        lambda p: database(p, "animals", "people"),
        comes_out="several tables: it has 'animals', 'people'; choose one .*--table",
    ),
    "SQLite, no such table": Case(
        "t.db",
        lambda p: database(p, "people"),
        {"table": "plants"},
        comes_out="no table 'plants': it has 'people'",
    ),
    "SQLite, a hostile name": Case("t.db", lambda p: database(p, "a'; drop table x; --")),
    "SQLite, without a table": Case("t.db", database, comes_out="t.db"),
    "a table of a CSV": Case(
        "t.csv", text(PEOPLE_CSV), {"table": "x"}, comes_out="csv has no tables"
    ),
    "DuckDB": Case("t.duckdb", duck),
    "no database": Case("t.db", text("hello"), comes_out="not a readable database|need duckdb"),
    "JSON, records under a key": Case("t.json", jsons({"data": RECORDS, "count": N})),
    "JSON, rows by their names": Case(
        "t.json", jsons({f"r{k}": row for k, row in enumerate(RECORDS)})
    ),
    "JSON, columns of cells": Case(
        "t.json",
        jsons(
            {
                n: {str(k): v for k, v in enumerate(c)}
                for n, c in PEOPLE.to_dict(as_series=False).items()
            }
        ),
    ),
    "JSON, columns of lists": Case("t.json", jsons(PEOPLE.to_dict(as_series=False))),
    "JSON, split": Case(
        "t.json",
        jsons({"columns": PEOPLE.columns, "index": [*range(N)], "data": PEOPLE.rows()}),
    ),
    "JSON, rows of cells": Case(
        "t.json", jsons(PEOPLE.rows()), comes_out=("column 4", "column 5 = red")
    ),
    "JSON, objects in objects": Case(
        "t.json",
        jsons([{"who": {"sex": "fm"[k % 2]}, "home": {"town": "ab"[k % 2]}} for k in range(N)]),
        comes_out=("who.sex = f", "home.town = a"),
    ),
    "JSON, two types in a column": Case(
        "t.json",
        jsons([{"iso": 4}, {"iso": "382"}, {"iso": "x"}, {"iso": 4}]),
        comes_out=("iso = 4", "iso = 382"),
    ),
    "JSON, a column of lists": Case(
        "t.json",
        jsons([{"kind": "ab"[k % 2], "tags": t} for k, t in enumerate(TAGS)]),
        comes_out=("kind = a", "tags: sea", "tags: sky"),
    ),
    "JSON, not a table": Case("t.json", jsons([1, 2]), comes_out="not a JSON list of objects"),
    "JSON, a number": Case("t.json", jsons(5), comes_out="not a JSON list of objects"),
    "JSON with a mark": Case(
        "t.json", lambda p: p.write_text(json.dumps(RECORDS), encoding="utf-8-sig")
    ),
    "tags and other columns": Case(
        "t.csv",
        columns(topics=LISTED[";"]),
        {"tags": "topics"},
        comes_out=("age < 30", "member", "topics: sea", "topics: boat"),
    ),
    "tags and a chosen column": Case(
        "t.csv",
        columns(topics=LISTED[";"]),
        {"tags": "topics", "columns": ["member"]},
        comes_out=("member", "topics: sea"),
    ),
    "tags alone among other columns": Case(
        "t.csv",
        columns(topics=LISTED[";"]),
        {"tags": "topics", "columns": ["topics"]},
        comes_out="tags",
    ),
    "tags, all others left out": Case(
        "t.csv",
        columns(topics=LISTED[";"]),
        {"tags": "topics", "exclude": PEOPLE.columns},
        comes_out="tags",
    ),
    "tags as JSON and other columns": Case(
        "t.csv",
        columns(topics=[json.dumps(tags) for tags in TAGS]),
        {"tags": "topics"},
        comes_out=("member", "topics: sea"),
    ),
    "tags and other columns in a spreadsheet": Case(
        "t.xlsx",
        workbook(("S", spelled().with_columns(pl.Series("topics", LISTED[","])))),
        {"tags": "topics"},
        comes_out=("member", "topics: sea"),
    ),
}


CASES = {
    "pandas, to_csv": Case("t.csv", lambda p: pandas().to_csv(p, index=False)),
    "pandas, to_csv with its index": Case("t.csv", lambda p: pandas().to_csv(p)),
    "pandas, to_csv for Germany": Case(
        "t.csv", lambda p: pandas().to_csv(p, index=False, sep=";", decimal=","), notes=("';'",)
    ),
    "pandas, to_csv with na_rep": Case(
        "t.csv",
        lambda p: (
            pandas()
            .assign(age=lambda t: t.age.where(t.index > 2))
            .to_csv(p, index=False, na_rep="NA")
        ),
        notes=(r"'age': 37 numbers, treating 3 × 'NA' as missing; .*--categorical 'age'",),
        missing=MISSING_AGES,
    ),
    "pandas, to_excel": Case("t.xlsx", lambda p: pandas().to_excel(p, index=False)),
    "pandas, to_excel with its index": Case("t.xlsx", lambda p: pandas().to_excel(p)),
    "pandas, to_parquet": Case("t.parquet", lambda p: pandas().to_parquet(p)),
    "pandas, to_json": Case(
        "t.json",
        lambda p: pandas().astype({"seen": str}).to_json(p, orient="records"),
        comes_out=("age < 30", "member", "colour = red"),
    ),
    "pandas, get_dummies": Case(
        "t.csv",
        lambda p: pd.get_dummies(pandas()[["colour"]]).to_csv(p, index=False),
        comes_out=("colour_green", "colour_navy blue", "colour_red"),
    ),
    "polars, write_csv": Case("t.csv", PEOPLE.write_csv),
    "polars, tabs": Case("t.tsv", lambda p: PEOPLE.write_csv(p, separator="\t")),
    "polars, write_excel": Case("t.xlsx", lambda p: PEOPLE.write_excel(p)),
    "polars, write_parquet": Case("t.parquet", PEOPLE.write_parquet),
    "polars, write_ipc": Case("t.feather", PEOPLE.write_ipc),
    "Excel, two sheets": Case(
        "t.xlsx",
        workbook(("People", PEOPLE), ("Notes", PEOPLE.head(1))),
        notes=("2 sheets; reading the first one, 'People'; .*--sheet 'Notes'",),
    ),
    "Excel, another sheet": Case(
        "t.xlsx",
        workbook(("Notes", PEOPLE.head(1)), ("People", PEOPLE)),
        {"sheet": "People"},
    ),
    "Excel, no such sheet": Case(
        "t.xlsx",
        workbook(("People", PEOPLE)),
        {"sheet": "Animals"},
        comes_out="no sheet 'Animals': it has 'People'",
    ),
    "Excel, gaps": Case("t.xlsx", workbook(("People", PEOPLE), above=2, between=7)),
    "Excel, n/a among numbers": Case(
        "t.xlsx",
        workbook(("People", with_cells("age", ["n/a", "n/a", "-"]))),
        notes=("'age': 37 numbers, treating 2 × 'n/a', 1 × '-' as missing",),
        missing=MISSING_AGES,
    ),
    "Excel, CSV with a mark": Case("t.csv", text(PEOPLE_CSV, "utf-8-sig")),
    "Excel, CSV for Germany": Case(
        "t.csv",
        text(lines(GERMAN.rename({"member": "Mitglied"}), ";"), "utf-8-sig"),
        comes_out=("age < 30", "weight < 60", "Mitglied = Ja", "seen weekday = Monday"),
        notes=("';'",),
    ),
    "Excel, CSV with sep=": Case("t.csv", text("sep=;\r\n" + lines(spelled(), ";"))),
    "Excel, CSV that is not UTF-8": Case(
        "t.csv", text(PEOPLE_CSV, "cp1252"), notes=("is not UTF-8, .*Windows-1252",)
    ),
    "Excel, CSV of America": Case("t.csv", text(lines(AMERICAN))),
    "days or months first": Case(
        "t.csv",
        text(lines(spelled().with_columns(pl.Series("seen", EARLY)))),
        comes_out=("age < 30", "member"),
        notes=("'seen': '01/01/2024' may begin with the day or the month, .*2024-12-31",),
    ),
    "LibreOffice": Case("t.ods", ods),
    "sqlite, all text": Case("t.csv", sqlite, missing={"age": [0, 1]}),
    "R, write.csv": Case(
        "t.csv",
        text(r_table(with_cells("age", [None] * 3))),
        notes=("treating 3 × 'NA' as missing",),
        missing=MISSING_AGES,
    ),
    "R, write.csv2": Case(
        "t.csv", text(r_table(spelled(comma=True), ";", names=True)), notes=("';'",)
    ),
    "R, write.table": Case("t.tsv", text(r_table(spelled(), "\t", names=False))),
    "R, write.table with blanks": Case(
        "t.txt", text(r_table(spelled(), " ", names=False)), notes=("blanks",)
    ),
    "blanks among numbers": Case(
        "t.csv", text(lines(with_cells("age", ["", " ", "  "]))), missing=MISSING_AGES
    ),
    "odd dates": Case(
        "t.csv",
        text(lines(with_cells("seen", ["2021-02-30", "soon", "n/a"]))),
        notes=("'seen': 37 dates, treating 1 × '2021-02-30', 1 × 'n/a', 1 × 'soon' as missing",),
        missing={"seen": [0, 1, 2]},
    ),
    "a word among numbers": Case(
        "t.csv",
        text(lines(with_cells("age", ["old"]))),
        comes_out=("weight < 60", "member"),
        notes=("'age': 39 numbers, but 1 × 'old', so the column becomes categories; .*--null",),
    ),
    "a word that stands for nothing": Case(
        "t.csv",
        text(lines(with_cells("age", ["old"] * 3))),
        {"null_values": ["old"]},
        missing=MISSING_AGES,
    ),
    "yes, no and n/a": Case(
        "t.csv",
        text(lines(with_cells("member", ["n/a", "n/a", "?"]))),
        notes=("'member': 37 cells of yes or no, treating 2 × 'n/a', 1 × '\\?' as missing",),
        missing={"member": [0, 1, 2]},
    ),
    "bars": Case("t.csv", text(lines(spelled(), "|")), notes=(r"'\|'",)),
    "in quotes, compressed": Case(
        "t.csv.gz", lambda p: p.write_bytes(gzip.compress(lines(spelled(), quote=True).encode()))
    ),
    "text of tabs": Case("t.txt", text(lines(spelled(), "\t")), {"format": "tsv"}),
    "text, and nothing says of what": Case(
        "t.txt", text(lines(spelled(), "\t")), notes=("separated by tabs",)
    ),
    "PostgreSQL, t and f": Case("t.csv", text(lines(spelled(yes="t", no="f")))),
    "codes": Case(
        "t.csv",
        text(lines(spelled().select(pl.lit("01234").alias("post"), "member"))),
        comes_out=("member",),
    ),
    "a column asked for as words": Case(
        "t.csv",
        text(lines(spelled().select(pl.Series("legs", ["2", "04"] * 20), "member"))),
        {"words": ["legs"]},
        comes_out=("legs = 2", "member"),
    ),
    "towns and countries": Case(
        "t.csv", text(lines(spelled().with_columns(pl.Series("town", TOWNS))))
    ),
    "comments": Case(
        "t.csv",
        text(lines(spelled().with_columns(pl.Series("comment", COMMENTS)))),
        comes_out="people",
    ),
    "comments, left out": Case(
        "t.csv",
        text(lines(spelled().with_columns(pl.Series("comment", COMMENTS)))),
        {"exclude": ["comment"]},
    ),
    "thousands": Case(
        "t.csv",
        text(
            lines(
                spelled().with_columns(
                    pl.Series("pay", [f"{k * 7 % N + 1},{k + 100}" for k in range(N)])
                )
            )
        ),
        comes_out=("pay < 10000", "member"),
    ),
    "Notion, tags not asked for": Case(
        "t.csv",
        text(
            lines(
                pl.DataFrame(
                    {
                        "Name": PEOPLE["name"],
                        "Tags": [f"{t}, a{k}, b{k % 9}" for k, t in enumerate(LISTED[","])],
                    }
                )
            )
        ),
        comes_out=("Tags: boat", "Tags: sea", "Tags: b0"),
        notes=("'Tags': cells such as 'boat, sea, .* are read as tags; categorical=",),
    ),
    "Notion, tags": Case("t.csv", text(lines(PHOTOS)), AS_TAGS, comes_out="tags"),
    "Flickr, id;tag1,tag2": Case(
        "t.csv", text(lines(PHOTOS, ";")), AS_TAGS, comes_out="tags", notes=("';'",)
    ),
    "Flickr, both separators told": Case(
        "t.csv",
        text(lines(PHOTOS, ";")),
        AS_TAGS | {"separator": ";", "tag_separator": ","},
        comes_out="tags",
    ),
    "Flickr, the separator of tags for that of cells": Case(
        "t.csv",
        text(lines(PHOTOS, ";")),
        AS_TAGS | {"separator": ","},
        comes_out="has no column 'keywords': .*tag_separator splits cells",
    ),
    "a separator of tags without tags": Case(
        "t.csv", text(lines(PHOTOS)), {"tag_separator": ","}, comes_out="--tag-separator and --tags"
    ),
    "JSON of a web service": Case(
        "t.json",
        lambda p: p.write_text(
            json.dumps([{"id": f"p{k}", "keywords": t} for k, t in enumerate(TAGS)])
        ),
        AS_TAGS,
        comes_out="tags",
    ),
    "JSON lines": Case(
        "t.jsonl",
        lambda p: p.write_text(
            "".join(json.dumps({"id": f"p{k}", "keywords": t}) + "\n" for k, t in enumerate(TAGS))
        ),
        AS_TAGS,
        comes_out="tags",
    ),
    "Excel, tags": Case("t.xlsx", workbook(("Photos", PHOTOS)), AS_TAGS, comes_out="tags"),
    "a list of tags a line": Case(
        "t.basket", text("".join(f"{row}\n" for row in LISTED[","])), comes_out="tags"
    ),
    "a letter": Case("t.docx", text("a"), comes_out="not a known kind of table; the name must end"),
    **MORE,
}


def features(table):
    """Where each feature is true, missing cells apart."""
    cells = {name: table.columns.cells(k) for k, name in enumerate(table.names)}
    none = np.zeros(table.n_rows, bool)
    return {
        name: (values.tolist(), (none if missing is None else missing).tolist())
        for name, (values, missing) in cells.items()
    }


def expected_people(missing):
    frame = PEOPLE
    for column, rows in missing.items():
        frame = frame.with_columns(
            pl.Series(column, [None if k in rows else v for k, v in enumerate(frame[column])])
        )
    return features(BooleanData.from_data(frame))


@pytest.mark.parametrize("name", CASES)
def test_read_as_a_person_would(name, tmp_path):
    case = CASES[name]
    path = tmp_path / case.file
    case.write(path)
    options = dict(case.options)
    if "words" in options:
        options["binarizer"] = Binarizer(categorical=options.pop("words"))
    if isinstance(case.comes_out, str) and case.comes_out not in ("people", "tags"):
        with pytest.raises(InputError) as refused:
            read_boolean(path, **options)
        assert re.search(case.comes_out, str(refused.value)), refused.value
        assert "\n" not in str(refused.value)
        return
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        table = read_boolean(path, **options)
    said = [str(note.message) for note in noted]
    assert all(issubclass(note.category, ConjunctWarning) for note in noted)
    assert len(said) == len(case.notes), said
    for pattern, message in zip(case.notes, said, strict=True):
        assert re.search(pattern, message), message
        assert "\n" not in message
    if case.comes_out == "people":
        assert features(table) == expected_people(case.missing)
    elif case.comes_out == "tags":
        assert table.convert("baskets") == [sorted(tags) for tags in TAGS]
    else:
        assert set(case.comes_out) <= set(table.names), table.names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        parts = list(stream(path, **options))
    assert features(table) == joined(map(features, parts))
    prepared = table.preparation.binarizer
    if prepared is not None:
        # what was learnt decides, and nothing is guessed again
        remarks = {message for message in said if not re.search("column '|no line of", message)}
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            again = read_boolean(path, **options | {"binarizer": prepared})
        assert features(again) == features(table)
        assert {str(note.message) for note in noted} == remarks


def joined(parts):
    whole = {}
    for part in parts:
        for name, (values, missing) in part.items():
            before = whole.setdefault(name, ([], []))
            before[0].extend(values)
            before[1].extend(missing)
    return whole


def test_there_are_enough_of_them():
    assert len(CASES) >= 120


@pytest.mark.parametrize("name", ["t.csv.gz", "t.dat.gz"])
def test_blank_rows_are_counted_without_being_held(name, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(b"a,b\n0,1\n" + b"\n" * 300_000))
    tracemalloc.start()
    try:
        table = read_boolean(tmp_path / name)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert table.n_rows == (1 if ".csv" in name else 300_002)
    # a list of their numbers alone took 10 MB
    assert peak < 8 << 20, peak


def test_a_model_of_rows_without_names_reads_one_row(tmp_path):
    path, one = tmp_path / "t.csv", tmp_path / "one.csv"
    path.write_text(NUMBERS)
    one.write_text(NUMBERS.splitlines()[2] + "\n")
    with pytest.warns(ConjunctWarning, match="no line of column names"):
        table = read_boolean(path)
    again = read_boolean(one, binarizer=table.preparation.binarizer)
    assert features(again) == {n: ([v[2]], [m[2]]) for n, (v, m) in features(table).items()}
