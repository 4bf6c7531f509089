"""`adjoint fit`, `predict`, `report`: tables in, models and predictions out, and what is wrong said with its place."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex

import numpy as np
import pytest

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")

from adjoint import learn  # noqa: E402
from adjoint.cli.main import main  # noqa: E402
from adjoint.cli.tables import BAD_FILE  # noqa: E402


def frame(rows=150):
    """Numbers with gaps, texts, dates; two classes, and a number."""
    rng = np.random.default_rng(0)
    size, colour = rng.normal(size=rows), rng.choice(["red", "green", "blue"], rows)
    score = size + (colour == "red")
    data = {
        "size": np.where(np.arange(rows) % 9 == 4, np.nan, size),
        "colour": colour,
        "day": pd.date_range("2024-02-01", periods=rows).astype(str),
        "kind": np.where(score + 0.3 * rng.normal(size=rows) > 0.3, "yes", "no"),
        "price": (10 * score + rng.normal(size=rows)).round(3),
    }
    return pd.DataFrame(data)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with tables and a model, as the current one."""
    monkeypatch.chdir(tmp_path)
    frame().to_csv("data.csv", index=False)
    frame().drop(columns=["kind", "price"]).head(5).to_csv("new.csv", index=False)
    return tmp_path


def fitted(*more, target="kind", out="m.adjoint"):
    other = {"kind": "price", "price": "kind"}[target]
    return main(["fit", "data.csv", "--target", target, "--drop", other, "--model", "linear", "--out", out, *more])


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_classes(here, capsys):
    """Types, rows and progress are said beside; scores on rows kept back are the result; sets come with predictions."""
    assert fitted() == 0
    out, said = capsys.readouterr()
    assert "data.csv: 150 rows, columns: 1 number, 1 text, 1 date; 17 values missing; target 'kind'" in said
    assert "texts: colour" in said
    assert "dates: day" in said
    assert "fitting linear to 120 rows, predicting 2 classes" in said
    assert "written to m.adjoint" in said
    assert "sets: at least" in said
    assert dict(re.split(r"\s{2,}", line) for line in out.splitlines()).keys() == {
        "accuracy", "log loss", "calibration error", "coverage", "mean set size",
    }  # fmt: skip
    assert main(["predict", "m.adjoint", "new.csv", "--sets", "0.8"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert list(rows[0]) == ["kind", "p(no)", "p(yes)", "set"]
    assert len(rows) == 5
    assert all(row["kind"] in ("yes", "no") for row in rows)
    model = learn.load("m.adjoint")
    new = (
        frame()
        .head(5)[["size", "colour"]]
        .assign(day=np.arange(5.0) + (pd.Timestamp("2024-02-01") - pd.Timestamp(0)).days)
    )
    np.testing.assert_allclose([float(row["p(yes)"]) for row in rows], model.predict_proba(new)[:, 1], rtol=1e-12)
    assert main(["report", "m.adjoint", "data.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["tested on"] == 150
    assert found["scores"]["accuracy"] > 0.8


def test_numbers(here, capsys):
    """With intervals; as JSON, a line for each row."""
    assert fitted("--json", "--quiet", target="price") == 0
    out, said = capsys.readouterr()
    assert said == ""
    numbers = json.loads(out)
    assert numbers["task"] == "regress"
    assert numbers["columns"] == {"size": "number", "colour": "text", "day": "days"}
    assert numbers["rows"] == 120
    assert numbers["scores"]["r2"] > 0.5
    assert main(["predict", "m.adjoint", "new.csv", "--interval", "0.8", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert all(row["low"] < row["price"] < row["high"] for row in rows)
    assert main(["predict", "m.adjoint", "new.csv", "--sets", "0.9"]) == 2
    assert "--sets is for classes: m.adjoint predicts numbers" in capsys.readouterr().err


def test_costs_decide(here, capsys):
    """What is predicted is the decision of least expected cost."""
    assert fitted("--costs", "[[0, 1000], [1, 0]]", "--quiet") == 0
    assert main(["predict", "m.adjoint", "new.csv", "--out", "out.csv"]) == 0
    assert all(row["kind"] == "yes" for row in rows_of((here / "out.csv").read_text()) if float(row["p(yes)"]) > 0.01)
    assert fitted("--costs", "[[0, 1]]") == 2
    assert "--costs has to be 2 rows of 2 finite numbers" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["parquet", "tsv", "semicolons", "latin-1", "marked"])
def test_kinds_of_files(here, kind, capsys):
    """Parquet, other delimiters, other encodings, a byte order mark: the same model."""
    fitted("--json", "--quiet")
    expected = json.loads(capsys.readouterr().out)["scores"]
    name, more = "other.csv", []
    data = frame().rename(columns={"colour": "größe"})
    if kind == "parquet":
        name = "other.parquet"
        data.to_parquet(name)
    elif kind == "tsv":
        name = "other.tsv"
        data.to_csv(name, index=False, sep="\t")
    elif kind == "semicolons":
        data.to_csv(name, index=False, sep=";")
    elif kind == "latin-1":
        data.to_csv(name, index=False, encoding="latin-1")
        more = ["--encoding", "latin-1"]
    else:
        data.to_csv(name, index=False, encoding="utf-8-sig")
    wanted = ["fit", name, "--target", "kind", "--drop", "price", "--model", "linear", "--json", "--quiet", *more]
    assert main(wanted) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == pytest.approx(expected)


BAD = {
    "empty": ("", "bad.csv is empty"),
    "no rows": ("a,kind\n", "bad.csv has names of columns, and no rows"),
    "short line": ("a,kind\n1,yes\n2\n3,no\n", "bad.csv: line 3, column 2: 1 field where the first line has 2"),
    "long line": ("a,kind\n1,yes\n2,no,3\n", "bad.csv: line 3, column 3: 3 fields where the first line has 2"),
    "broken quotes": ('a,kind\n1,"yes\n2,no\n', "bad.csv: line 2: unexpected end of data"),
    "line in quotes": ('a,kind\n"1\n1",yes\n2\n', "bad.csv: line 4, column 2: 1 field where"),
    "same names": ("a,b,a\n1,2,3\n", "bad.csv: columns 1 and 3 have the same name, 'a'"),
    "no name": (",kind\n1,2\n", "bad.csv: column 1 has no name"),
    "no target": ("a,kinds\n1,2\n", "bad.csv has no column 'kind'\n  Did you mean kinds?"),
    "not text": (b"a,kind\n1,y\xe9s\n", "bad.csv: line 2, character 4: the byte 0xe9 is not utf-8"),
    "one class": ("a,kind\n" + "1,yes\n" * 30, "the target 'kind' has a single class, 'yes'"),
    "no values": ("a,kind\n" + "1,\n" * 30, "the target 'kind' has no values"),
    "few rows": ("a,kind\n" + "1,yes\n2,no\n" * 3, "bad.csv has 6 rows with a target; 20 are the least"),
    "bad number": (
        "a,kind\n" + "".join(f"{k},{k}.5\n" for k in range(40)) + "1,2.x\n",
        "bad.csv: line 42, column 2 (kind): '2.x' is not a number, in the target",
    ),
    "nul": (b"a,kind\n1,\x00\n", "bad.csv"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_tables(here, case, capsys):
    """Each is answered with its place, exit code 3, and nothing is written."""
    content, words = BAD[case]
    (here / "bad.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    assert main(["fit", "bad.csv", "--target", "kind", "--out", "x.adjoint"]) == BAD_FILE
    out, said = capsys.readouterr()
    assert words in said
    assert "Traceback" not in said
    assert out == ""
    assert not (here / "x.adjoint").exists()


@pytest.mark.parametrize(
    ("words", "code", "answer"),
    [
        ("fit nothing.csv --target y", 3, "nothing.csv does not exist"),
        ("fit data.xlsx --target y", 3, "a table's name has to end in .csv, .tsv, .txt, .parquet, .pq"),
        ("fit . --target y", 3, "has to end in"),
        ("fit data.csv", 2, "--target"),
        ("fit data.csv --target kind --model forests", 2, "invalid choice: 'forests'"),
        ("fit data.csv --target kind --tset 0.1", 2, "unknown option --tset\n  Did you mean --test?"),
        ("fit data.csv --target kind --test 1.5", 2, "'1.5' is not a number between 0 and 1"),
        ("fit data.csv --target kind --out no/m.adjoint", 2, "no/m.adjoint cannot be written"),
        ("fit data.csv more.csv --target kind", 2, "'more.csv' is one argument too many"),
        ("fit data.csv --target kind --encoding klingon", 2, "there is no such encoding"),
        ("fit data.csv --target price --costs [[0]]", 2, "--costs is for classes"),
        ("fit data.csv --target kind --drop colur", 3, "data.csv has no column 'colur'\n  Did you mean colour?"),
        ("predict m.adjoint data.csv", 3, "m.adjoint does not exist"),
        ("predict data.csv data.csv", 3, "'data.csv' is not a model that adjoint.learn has saved"),
        ("report data.csv", 2, "the following arguments are required: DATA"),
    ],
)
def test_bad_commands(here, words, code, answer, capsys):
    """What was not understood, or is not there."""
    assert main(shlex.split(words)) == code
    out, said = capsys.readouterr()
    assert answer in said
    assert out == ""


def test_columns_of_new_tables(here, capsys):
    """One that is missing is an error, one too many is said; a number that is none is missing, with its line."""
    fitted("--quiet")
    capsys.readouterr()
    new = pd.read_csv("new.csv")
    new.drop(columns="size").to_csv("less.csv", index=False)
    assert main(["predict", "m.adjoint", "less.csv"]) == BAD_FILE
    assert "less.csv has no column 'size', which the model takes" in capsys.readouterr().err
    new.assign(more=1).to_csv("more.csv", index=False)
    assert main(["predict", "m.adjoint", "more.csv"]) == 0
    assert "more.csv: columns that the model does not take: more" in capsys.readouterr().err
    new["size"] = ["1", "2", "big", "4", "5"]
    new.to_csv("odd.csv", index=False)
    assert main(["predict", "m.adjoint", "odd.csv"]) == 0
    out, said = capsys.readouterr()
    assert "odd.csv: line 4, column 1 (size): 'big' is no number: taken as missing, 1 in all" in said
    assert len(rows_of(out)) == 5


def test_unknown_classes(here, capsys):
    """A report on a class that the model has not met is refused with its line."""
    fitted("--quiet")
    data = frame()
    data.loc[2, "kind"] = "perhaps"
    data.to_csv("test.csv", index=False)
    assert main(["report", "m.adjoint", "test.csv"]) == BAD_FILE
    assert "test.csv: line 4, column 4 (kind): 'perhaps' is none of the model's classes" in capsys.readouterr().err


def test_models_of_other_programs(here, capsys):
    """A model that `learn.save` has written predicts, too, by the names of its columns."""
    data = frame()
    learn.save(learn.Ridge().fit(data[["price"]], data["size"].fillna(0.0)), "r.adjoint")
    assert main(["predict", "r.adjoint", "data.csv"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert list(rows[0]) == ["prediction"]
    assert main(["report", "r.adjoint", "data.csv"]) == 2
    assert "Write  --target NAME." in capsys.readouterr().err


def test_damaged_model(here, capsys):
    """Is refused, with its name."""
    fitted("--quiet")
    content = bytearray((here / "m.adjoint").read_bytes())
    content[-1] ^= 1
    (here / "m.adjoint").write_bytes(content)
    capsys.readouterr()
    assert main(["predict", "m.adjoint", "new.csv"]) == BAD_FILE
    assert "'m.adjoint' is damaged: its checksum is not that of its content." in capsys.readouterr().err


@pytest.mark.slow  # a learning curve takes many fits
def test_pages(here, capsys):
    """A page of the rows kept back, and of another table."""
    assert fitted("--quiet", "--report", "r.html") == 0
    assert main(["report", "m.adjoint", "data.csv", "--out", "s.html"]) == 0
    for name in ("r.html", "s.html"):
        assert "<html" in (here / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [pytest.param("fit", marks=pytest.mark.slow), "predict", "report"])
def test_the_examples_of_the_help_run(here, command, capsys):
    """Every example that the help shows does what it says."""
    data = frame().rename(columns={"kind": "y", "price": "id"})
    for name in ("data.csv", "test.csv", "new.csv"):
        data.to_csv(name, index=False)
    main(["fit", "data.csv", "--target", "y", "--model", "linear", "--out", "m.adjoint", "--quiet"])
    capsys.readouterr()
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 82
    examples = text.partition("examples:\n")[2].splitlines()
    assert len(examples) >= 2
    for example in examples:
        assert main([*shlex.split(example.partition(" > ")[0])[1:]]) == 0, example
