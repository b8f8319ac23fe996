"""Columns of real tables are read as a sensible analyst would read them.

The cells are excerpts, at most 60 rows and 8 columns of each table, from the data that
vega_datasets, statsmodels and scikit-learn bring along; real_tables.jsonl names source and licence.
"""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from conjunct import Binarizer
from conjunct.data import BooleanRule, CategoryRule, NumberRule, TagsRule
from conjunct.files import read_boolean

with (Path(__file__).parent / "real_tables.jsonl").open(encoding="utf-8") as file:
    TABLES = {table["table"]: table for table in map(json.loads, file)}

# each kind with its columns; "out" makes no feature
EXPECTED = """
airports: out: iata, name, city, country; numbers: latitude, longitude
anscombe: words: Series; numbers: X, Y
barley: numbers: yield; words: variety, site; values: year
burtin: out: Bacteria; numbers: Penicillin, Streptomycin, Neomycin; words: Gram_Staining, Genus
cars: out: Name; numbers: Miles_per_Gallon, Displacement, Horsepower, Weight_in_lbs,
    Acceleration; values: Cylinders; date year: Year
crimea: date year date month: date; numbers: wounds, other, disease
driving: words: side; numbers: year, miles, gas
iowa-electricity: date year: year; words: source; numbers: net_generation
iris: numbers: sepalLength, sepalWidth, petalLength, petalWidth; words: species
la-riots: out: first_name, last_name, address, neighborhood; numbers: age; words: gender, race;
    date year date month date weekday: death_date
ohlc: date month date weekday: date; numbers: open, high, low, close, ret; words: signal
seattle-temps: date month date weekday date hour: date; numbers: temp
seattle-weather: date year date month date weekday: date; numbers: precipitation, temp_max,
    temp_min, wind; words: weather
stocks: words: symbol; date year date month: date; numbers: price
us-employment: date year date month: month; numbers: nonfarm, private, goods_producing,
    service_providing, private_service_providing, mining_and_logging, construction
wheat: numbers: year, wheat, wages
anes96: numbers: popul, age; values: TVnews, selfLR, ClinLR, DoleLR, PID, educ
cancer: numbers: cancer, population
ccard: numbers: AVGEXP, AGE, INCOME, INCOMESQ; yes/no: OWNRENT
china_smoking: numbers: smoking_yes_cancer_yes, smoking_yes_cancer_no, smoking_no_cancer_yes,
    smoking_no_cancer_no
co2: numbers: co2
committee: numbers: BILLS104, SIZE, SUBS, STAFF, BILLS103; yes/no: PRESTIGE
copper: numbers: WORLDCONSUMPTION, COPPERPRICE, INCOMEINDEX, ALUMPRICE, INVENTORYINDEX; out:
    TIME
cpunish: numbers: EXECUTIONS, INCOME, PERPOVERTY, PERBLACK, VC100k96, DEGREE; yes/no: SOUTH
danish_data: numbers: lrm, lry, lpy, ibo, ide
elnino: numbers: YEAR, JAN, FEB, MAR, APR, MAY, JUN, JUL
engel: numbers: income, foodexp
fair: values: rate_marriage, religious, educ, occupation, occupation_husb; numbers: age,
    yrs_married, children
grunfeld: numbers: invest, value, capital, year; words: firm
heart: numbers: survival, age; yes/no: censors
interest_inflation: numbers: year, Dp, R; values: quarter
longley: numbers: TOTEMP, GNPDEFL, GNP, UNEMP, ARMED, POP, YEAR
macrodata: numbers: year, realgdp, realcons, realinv, realgovt, realdpi, cpi; values: quarter
modechoice: out: individual; values: mode; yes/no: choice; numbers: ttme, invc, invt, gc, hinc
nile: numbers: year, volume
randhie: numbers: mdvis, lncoins, lpi, fmde, physlm, disea; yes/no: idp, hlthg
scotland: numbers: YES, COUTAX, UNEMPF, MOR, ACT, GDP, AGE, COUTAX_FEMALEUNEMP
spector: numbers: GPA, TUCE; yes/no: PSI, GRADE
stackloss: numbers: STACKLOSS, WATERTEMP, ACIDCONC; values: AIRFLOW
star98: numbers: NABOVE, NBELOW, LOWINC, PERASIAN, PERBLACK, PERHISP, PERMINTE, AVYRSEXP
statecrime: numbers: violent, murder, hs_grad, poverty, single, white, urban
strikes: numbers: duration, iprod
sunspots: numbers: YEAR, SUNACTIVITY
wine: numbers: alcohol, malic_acid, ash, alcalinity_of_ash, magnesium, total_phenols,
    flavanoids, nonflavanoid_phenols
breast_cancer: numbers: mean radius, mean texture, mean perimeter, mean area, mean smoothness,
    mean compactness, mean concavity, mean concave points
linnerud: numbers: Chins, Situps, Jumps, Weight, Waist, Pulse
diabetes: numbers: age, bmi, bp, s1, s2, s3, s4; values: sex
"""


def read_expected():
    tables = {}
    for block in re.split(r"\n(?! )", EXPECTED.strip()):
        table, _, kinds = " ".join(block.split()).partition(": ")
        tables[table] = {
            column: kind
            for kind, columns in (part.split(": ") for part in kinds.split("; "))
            for column in columns.split(", ")
        }
    return tables


def frame_of(table):
    return pl.DataFrame(TABLES[table]["columns"], strict=False)


def find_kinds(binarizer):
    kinds = {dropped.column: ["out"] for dropped in binarizer.dropped_}
    for rule in binarizer.rules_:
        if isinstance(rule, BooleanRule | TagsRule):
            kind = "yes/no" if isinstance(rule, BooleanRule) else "tags"
        elif rule.part is not None:
            kind = f"date {rule.part}"
        elif isinstance(rule, NumberRule):
            kind = "numbers"
        else:
            assert isinstance(rule, CategoryRule)
            kind = "words" if rule.written == "words" else "values"
        kinds.setdefault(rule.column, []).append(kind)
    return {column: " ".join(found) for column, found in kinds.items()}


def test_there_are_enough_tables():
    assert len(TABLES) >= 40
    assert read_expected().keys() == TABLES.keys()
    assert all(table["source"] and table["licence"] for table in TABLES.values())


@pytest.mark.parametrize("table", TABLES)
def test_the_kind_of_each_column(table):
    assert find_kinds(Binarizer().fit(frame_of(table))) == read_expected()[table]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_a_file_gives_the_same_features(table, kind, tmp_path):
    frame = frame_of(table)
    # a gap in a single column would be a blank line
    frame = frame.drop_nulls() if frame.width == 1 else frame
    path = tmp_path / f"t.{kind}"
    {"csv": frame.write_csv, "json": frame.write_json, "parquet": frame.write_parquet}[kind](path)
    binarizer = Binarizer().fit(frame)
    read = read_boolean(path)
    assert read.names == tuple(binarizer.get_feature_names_out())
    expected = binarizer.transform(frame)
    assert read.convert("polars").equals(expected)
    for row in range(0, len(frame), 7):
        assert binarizer.transform(frame[row : row + 1]).equals(expected[row : row + 1])
