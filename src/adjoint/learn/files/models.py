"""`save`, `load` and `describe`: models as files."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import adjoint as ad

from ...core.files.replacing import replaced
from .decoding import Decoder
from .encoding import Encoder
from .layout import SEAL, START, ModelFileError, RefusalError, parts, written
from .trial import outcome, same, tried

FACTS = {"model", "trial", "versions"}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file: arrays and JSON, never code.

    Parameters
    ----------
    model : estimator or nn model
        Anything that is made of the estimators of `adjoint.learn`, the models of `adjoint.nn`, and some 60 estimators
        and transformers of scikit-learn, in pipelines or not.
    path : str or path
        The file, which is replaced in one move if it exists.

    Raises
    ------
    ModelFileError
        If a part of the model cannot be saved, as a function of yours: the message names the part.

    Examples
    --------
    >>> import tempfile
    >>> from adjoint import learn
    >>> model = learn.Ridge().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     learn.save(model, f"{folder}/m.adjoint")
    ...     learn.load(f"{folder}/m.adjoint").predict([[3.0]]) == model.predict([[3.0]])
    array([ True])
    """
    encoder = Encoder()
    try:
        spec = {
            "model": encoder.encoded(model, type(model).__name__),
            "trial": encoder.encoded(tried(model), "trial"),
            "versions": {"adjoint": ad.__version__, "numpy": np.__version__, "scikit-learn": sklearn.__version__},
        }
        content = written(json.dumps(spec, separators=(",", ":"), allow_nan=False), encoder.arrays)
        parts(content)  # what is written can be read: nesting and sizes are within their limits
    except RefusalError as error:
        raise ModelFileError(f"{os.fspath(path)!r} is not written: {error}") from None
    except RecursionError:
        raise ModelFileError(f"{os.fspath(path)!r} is not written: the model is nested too deeply.") from None
    with replaced(path) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> Any:
    """The model of a file that `save` has written; no code is run that is not this library's or scikit-learn's.

    Parameters
    ----------
    path : str or path
        The file, from whomever it is.

    Returns
    -------
    object
        The model; its predictions are those of the model that was saved, to the last bit on the same machine.

    Raises
    ------
    ModelFileError
        If the file is damaged, holds something else, or a model that does not predict what it says it does.
    FileNotFoundError, PermissionError
        If there is no such file, or it may not be read.
    """
    spec, arrays = _spec(path)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of other versions: whether these matter, the trial tells
            decoder = Decoder(arrays)
            model, trial = decoder.decoded(spec["model"]), decoder.decoded(spec["trial"])
            if decoder.unused:
                raise RefusalError("has arrays that belong to nothing.")
            found = outcome(model, trial)
    except RefusalError as error:
        raise ModelFileError(f"{os.fspath(path)!r} {error}") from None
    except Exception as error:  # whatever a class says of attributes that it does not take
        what = " ".join(str(error).split())[:200]
        raise ModelFileError(
            f"{os.fspath(path)!r} holds a model whose parts do not go together: {type(error).__name__}: {what}"
        ) from None
    if not same(found, trial):
        raise ModelFileError(
            f"{os.fspath(path)!r} predicts something else than it did when it was saved, with {_versions(spec)}. Load "
            "it with those versions, or fit again."
        )
    return model


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a model file, without making the model.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        "model", its classes as text; "versions" that it was saved with; "arrays" and "bytes", how many there are.

    Raises
    ------
    ModelFileError
        If the file is damaged, or holds something else.
    """
    spec, arrays = _spec(path)
    return {
        "model": _outline(spec["model"]),
        "versions": spec["versions"],
        "arrays": len(arrays),
        "bytes": Path(path).stat().st_size,
    }


def _spec(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The spec and the arrays of a file whose form is right."""
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file():
        raise ModelFileError(f"{name!r} is not a file.")
    with Path(path).open("rb") as file:
        start = file.read(SEAL.start)
        content = start + file.read() if start[8:] == START else start  # what is no model is not read
    try:
        spec, arrays = parts(content)
        del content
        if not isinstance(spec, dict) or set(spec) != FACTS:
            raise RefusalError("has another spec than a model has.")
        versions = spec["versions"]
        if not isinstance(versions, dict) or not all(isinstance(v, str) and len(v) < 50 for v in versions.values()):
            raise RefusalError("does not say which versions it was saved with.")
    except RefusalError as error:
        raise ModelFileError(f"{name!r} {error}") from None
    except Exception as error:
        raise ModelFileError(f"{name!r} cannot be read: {type(error).__name__}: {str(error)[:200]}") from None
    return spec, arrays


def _versions(spec: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in spec["versions"].items())


def _outline(spec: Any) -> str:
    """Names of classes, those inside in brackets; several of the same kind once."""
    if isinstance(spec, list):
        return ", ".join(dict.fromkeys(filter(None, map(_outline, spec))))
    if not isinstance(spec, dict):
        return ""
    if isinstance(spec.get("object"), list) and len(spec["object"]) == 2:
        name, state = spec["object"]
        inner = _outline(list(state.values())) if isinstance(state, dict) else ""
        return f"{name}({inner})" if inner else str(name)
    return _outline(list(spec.values()))
