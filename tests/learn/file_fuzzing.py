"""Damage to model files: bits, bytes, lengths, and every part of the JSON; run by itself it counts what happens.

python tests/learn/file_fuzzing.py SEED COUNT FOLDER
"""

from __future__ import annotations

import copy
import json
import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, QuantileTransformer, StandardScaler

from adjoint import learn, nn
from adjoint.learn import files

JUNK = [
    None, True, -1, 0, 1, 2**31, 2**63, 2**70, -(2**62), 10**400, 1e308, 0.5, "", "x", "nan", "\u0000", "\ud800", "é"
    * 9, [], [[]], {}, {"object": ["os.system", {"command": "true"}]}, {"object": ["sklearn.Pipeline", {}]},
    {"object": ["builtins.eval", []]}, {"function": "os.system"}, {"same": 0}, {"same": 1}, {"same": 10**9}, {"array":
    ["0"]}, {"array": ["99"]}, {"array": ["0", {"dtype": "O"}]}, {"array": ["0", {"dtype": "<U9"}]}, {"objects":
    [[2**40], []]}, {"float": "nan"}, {"float": "1"}, {"dtype": "O"}, {"dtype": "i4,i4"}, {"type": "object"},
    {"tuple": [1]}, {"set": [[]]}, {"dict": [[[], 1]]}, {"slice": [0, 2**40, 1]}, {"scalar": ["<f8", 1.0]}, {"random":
    ["RandomState", []]}, {"random": ["PCG64", ["f" * 99, "0", 0, 0]]}, {"optimizer": ["adam", [], {"dict": []}]},
    {"tree": [4, 3, 1, 2, 3, 4]}, {"object": ["learn.Ridge", {"alpha": 1.0, "fit_intercept": True}]}, {"object":
    ["learn.Ridge", {"predict": 1}]}, {"object": ["nn.Dense", {"weight": 1, "bias": None}]},
]  # fmt: skip


def frame() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y", "z"], 90), "c": rng.normal(size=90)})
    X.loc[3, "a"] = np.nan
    return X, np.where(X.c + (X.b == "x") > 0.3, "yes", "no")


def models() -> dict[str, tuple[object, object]]:
    """Small models of every make, fitted, with rows that they take."""
    X, y = frame()
    numbers = X[["a", "c"]].fillna(0.0).to_numpy()
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["a", "c"]), (OneHotEncoder(drop="first"), ["b"])
    )
    calibrated = learn.CalibratedClassifier(make_pipeline(columns, LogisticRegression()), "isotonic", cv=2)
    binned = make_pipeline(
        KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"), learn.LogisticRegression()
    )
    quantiles = make_pipeline(
        QuantileTransformer(n_quantiles=10), MLPRegressor(hidden_layer_sizes=(3,), max_iter=3, random_state=0)
    )
    found = {
        "calibrated": (calibrated.fit(X, y), X),
        "sets": (learn.ConformalClassifier(GaussianNB(), cv=2, random_state=0).fit(numbers, y), numbers),
        "forest": (RandomForestClassifier(3, max_depth=3, random_state=0).fit(numbers, y), numbers),
        "bins": (binned.fit(numbers, y), numbers),
        "quantiles": (quantiles.fit(numbers, numbers[:, 0]), numbers),
        "isotonic": (IsotonicRegression().fit(numbers[:, 0], numbers[:, 1]), numbers[:, 0]),
        "network": (nn.MLP([2, 3, 2], norm="batch", key=0), numbers),
        "honest": (learn.HonestRegressor(cv=2, random_state=0).fit(numbers, numbers[:, 0]), numbers),
    }
    if hasattr(learn, "TableClassifier"):
        found["table"] = (
            learn.TableClassifier(members=1, hidden_layer_sizes=(3,), max_iter=2, random_state=0).fit(X, y),
            X,
        )
    if hasattr(learn, "Laplace"):
        laplace = learn.Laplace(learn.MLPClassifier((3,), max_iter=2, random_state=0), weights="last")
        found["laplace"] = laplace.fit(numbers, y), numbers
    return found


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The bytes of a file with something wrong."""
    kind = chance.randrange(8)
    size = len(content)
    if kind == 0:
        return content[: chance.randrange(size)]
    if kind == 1:
        k = chance.randrange(size)
        return content[:k] + bytes([content[k] ^ (1 << chance.randrange(8))]) + content[k + 1 :]
    if kind == 2:
        k, n = chance.randrange(size), chance.randrange(1, 40)
        return content[:k] + chance.randbytes(n) + content[k + chance.choice([0, n]) :]
    if kind == 3:
        length = chance.choice([0, 7, 2**26 + 1, 2**40, 2**63, 2**64 - 1, size, chance.randrange(2 * size)])
        return length.to_bytes(8, "little") + content[8:]
    if kind == 4:
        k, n = sorted(chance.randrange(size) for _ in range(2))
        return content[:k] + content[n:]
    length = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    if kind == 5:
        text = _in_table(header, chance)
    elif kind == 6:
        return content[:8] + _as_text(content[8 : 8 + length].decode(), chance).encode(errors="replace") + data
    else:
        spec = json.loads(header["__metadata__"]["spec"])
        for _ in range(chance.choice([1, 1, 1, 3])):
            _in_tree(spec, chance)
        header["__metadata__"]["spec"] = json.dumps(spec)
        text = json.dumps(header, separators=(",", ":"))
    raw = text.encode(errors="surrogatepass")
    return len(raw).to_bytes(8, "little") + raw + data


def _in_table(header: dict, chance: random.Random) -> str:
    """Another type, shape or place for an array, or an entry that is no entry; sometimes the same name twice."""
    names = [name for name in header if name != "__metadata__"]
    name = chance.choice(names)
    entry, numbers = header[name], [-1, 0, 1, 2**40, 2**62, 2**63, 1.5, "1", None, True, [1]]
    what = chance.randrange(6)
    if what == 0:
        entry["dtype"] = chance.choice(["F64", "I64", "U8", "BOOL", "F32", "O", "F8_E4M3", 1, None])
    elif what == 1:
        entry["shape"] = chance.choice(
            [[], [chance.choice(numbers)] * 2, entry["shape"][::-1], entry["shape"] + [1], 3]
        )
    elif what == 2:
        entry["data_offsets"] = [
            chance.choice([*numbers, *entry["data_offsets"]]) for _ in range(chance.choice([2, 2, 3]))
        ]
    elif what == 3:
        header[name] = copy.deepcopy(chance.choice(JUNK))
    elif what == 4:
        header[name], header[chance.choice(names)] = header[chance.choice(names)], entry
    text = json.dumps(header, separators=(",", ":"))
    return text[:-1] + f',"{name}":{json.dumps(entry)}}}' if what == 5 else text


def _as_text(text: str, chance: random.Random) -> str:
    """Something in the middle of the JSON, of the same length where that is easy."""
    k = chance.randrange(len(text))
    put = chance.choice(["NaN", "-Infinity", "1e999", "[" * 200, "{" * 70, "]", '"', "\\", "\\u0000", "9" * 5000, "é"])
    return text[:k] + put + text[k + chance.choice([0, len(put)]) :]


def _in_tree(spec: object, chance: random.Random) -> None:
    """Junk in the place of a value, a value less, a value of elsewhere, or another name."""
    places = []

    def walk(node: object) -> None:
        for key, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
            places.append((node, key))
            if isinstance(value, (dict, list)):
                walk(value)

    walk(spec)
    node, key = chance.choice(places)
    what = chance.randrange(4)
    if what == 0:
        node[key] = copy.deepcopy(chance.choice(JUNK))
    elif what == 1:
        del node[key]
    elif what == 2:
        other, place = chance.choice(places)
        if place in other if isinstance(other, dict) else place < len(other):
            node[key] = json.loads(json.dumps(other[place]))
    elif isinstance(node, dict):
        node[chance.choice(["__class__", "predict", "a b", "coef_", "n_features_in_", "x" * 99])] = node.pop(key)
    elif isinstance(node[key], int):
        node[key] += chance.choice([-1, 1, 100])


def fuzzed(seed: int, count: int, folder: Path) -> Counter[str]:
    """What became of so many damaged files, with and without the checksum put right."""
    chance, found = random.Random(seed), Counter()
    paths = {}
    for name, (model, rows) in models().items():
        path = folder / f"{name}.adjoint"
        learn.save(model, path)
        predict = model.predict if hasattr(model, "predict") else model
        paths[name] = path.read_bytes(), rows, np.asarray(predict(rows))
    target = folder / "damaged.adjoint"
    for k in range(count):
        name = chance.choice(list(paths))
        content, rows, expected = paths[name]
        broken = damaged(content, chance)
        if resealed := k % 2 == 1:
            broken = files.reseal(broken)
        if broken == content:
            found["the same"] += 1
            continue
        target.write_bytes(broken)
        found["tried"] += 1
        try:
            model = learn.load(target)
        except files.ModelFileError as error:
            found["clear errors" if str(target) in str(error) else "errors without the name"] += 1
            continue
        assert resealed, f"a damaged file was loaded (seed {seed}, number {k})"
        found["loaded, resealed"] += 1
        try:
            given = np.asarray(model.predict(rows) if hasattr(model, "predict") else model(rows))
            found["of these as before" if np.array_equal(given, expected) else "of these different"] += 1
        except Exception as error:
            found[f"of these raise: {type(error).__name__}"] += 1
    return found


def most_memory() -> int:
    """The most megabytes that this process had since it was asked last."""
    found = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) // 1024
    Path("/proc/self/clear_refs").write_text("5")
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    seed, count, place = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    fuzzed(seed, 20, place)
    most_memory()
    before = most_memory()
    counts = fuzzed(seed, count, place)
    counts["megabytes more"] = most_memory() - before
    sys.stdout.write(json.dumps(counts) + "\n")
