"""Files as people have them: read as a person would, or refused in a line that says what to add."""

import csv
import datetime
import gzip
import io
import json
import re
import sqlite3
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
        notes=(r"'age': 37 numbers, 3 × 'NA' taken as missing; .*--words 'age'",),
        missing=MISSING_AGES,
    ),
    "pandas, to_excel": Case("t.xlsx", lambda p: pandas().to_excel(p, index=False)),
    "pandas, to_excel with its index": Case("t.xlsx", lambda p: pandas().to_excel(p)),
    "pandas, to_parquet": Case("t.parquet", lambda p: pandas().to_parquet(p)),
    "pandas, to_json": Case(
        "t.json",
        lambda p: pandas().astype({"seen": str}).to_json(p, orient="records"),
        comes_out=("age < 32", "member", "colour = red"),
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
        notes=("2 sheets, and the first is read, 'People'; .*--sheet 'Notes'",),
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
        notes=("'age': 37 numbers, 2 × 'n/a', 1 × '-' taken as missing",),
        missing=MISSING_AGES,
    ),
    "Excel, CSV with a mark": Case("t.csv", text(PEOPLE_CSV, "utf-8-sig")),
    "Excel, CSV for Germany": Case(
        "t.csv",
        text(lines(GERMAN.rename({"member": "Mitglied"}), ";"), "utf-8-sig"),
        comes_out=("age < 32", "weight < 59", "Mitglied = Ja", "seen weekday = Monday"),
        notes=("';'",),
    ),
    "Excel, CSV with sep=": Case("t.csv", text("sep=;\r\n" + lines(spelled(), ";"))),
    "Excel, CSV that is not UTF-8": Case(
        "t.csv", text(PEOPLE_CSV, "cp1252"), comes_out="not UTF-8 text: save the file as UTF-8"
    ),
    "Excel, CSV of America": Case("t.csv", text(lines(AMERICAN))),
    "days or months first": Case(
        "t.csv",
        text(lines(spelled().with_columns(pl.Series("seen", EARLY)))),
        comes_out=("age < 32", "member"),
        notes=("'seen': '01/01/2024' may begin with the day or with the month; .*2024-12-31",),
    ),
    "LibreOffice": Case("t.ods", ods),
    "sqlite, all text": Case("t.csv", sqlite, missing={"age": [0, 1]}),
    "R, write.csv": Case(
        "t.csv",
        text(r_table(with_cells("age", [None] * 3))),
        notes=("3 × 'NA' taken as missing",),
        missing=MISSING_AGES,
    ),
    "R, write.csv2": Case(
        "t.csv", text(r_table(spelled(comma=True), ";", names=True)), notes=("';'",)
    ),
    "R, write.table": Case(
        "t.tsv",
        text(r_table(spelled(), "\t", names=False)),
        comes_out="line 2: 7 cells where the first line has 6 names; if R wrote it, write it with "
        "row.names=FALSE",
    ),
    "blanks among numbers": Case(
        "t.csv", text(lines(with_cells("age", ["", " ", "  "]))), missing=MISSING_AGES
    ),
    "odd dates": Case(
        "t.csv",
        text(lines(with_cells("seen", ["2021-02-30", "soon", "n/a"]))),
        notes=("'seen': 37 dates, 1 × '2021-02-30', 1 × 'soon', 1 × 'n/a' taken as missing",),
        missing={"seen": [0, 1, 2]},
    ),
    "a word among numbers": Case(
        "t.csv",
        text(lines(with_cells("age", ["old"]))),
        comes_out=("weight < 59", "member"),
        notes=("'age': 39 numbers, but 1 × 'old': it is taken as words; .*--null",),
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
        notes=("'member': 37 cells of yes or no, 2 × 'n/a', 1 × '\\?' taken as missing",),
        missing={"member": [0, 1, 2]},
    ),
    "bars": Case("t.csv", text(lines(spelled(), "|")), notes=(r"'\|'",)),
    "in quotes, compressed": Case(
        "t.csv.gz", lambda p: p.write_bytes(gzip.compress(lines(spelled(), quote=True).encode()))
    ),
    "text of tabs": Case("t.txt", text(lines(spelled(), "\t")), {"format": "tsv"}),
    "text, and nothing says of what": Case(
        "t.txt",
        text(lines(spelled(), "\t")),
        comes_out="the name must end in .csv, .* or the format",
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
        comes_out="'comment' holds free text such as .*: exclude it .*--exclude 'comment'",
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
                spelled().with_columns(pl.Series("pay", [f"{k + 1},{k + 100}" for k in range(N)]))
            )
        ),
        comes_out="'pay' holds numbers such as '1,100', in which a comma may stand between",
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
        comes_out="'Tags' holds lists of tags such as 'boat, sea, .*: read it .*--tags 'Tags'",
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
        comes_out="has no column 'keywords': .*tag_separator between tags",
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
    return features(BooleanData.of(frame))


@pytest.mark.parametrize("name", CASES)
def test_read_as_a_person_would(name, tmp_path):
    case = CASES[name]
    path = tmp_path / case.file
    case.write(path)
    options = dict(case.options)
    if "words" in options:
        options["binarizer"] = Binarizer(words=options.pop("words"))
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
        assert table.to("baskets") == [sorted(tags) for tags in TAGS]
    else:
        assert set(case.comes_out) <= set(table.names), table.names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjunctWarning)
        parts = list(stream(path, **options))
    assert features(table) == joined(map(features, parts))
    prepared = table.preparation.binarizer
    if prepared is not None:
        # what was learnt decides, and nothing is guessed again
        remarks = {message for message in said if "column" not in message}
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
    assert len(CASES) >= 30
