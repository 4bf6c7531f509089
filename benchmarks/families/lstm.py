"""A character model of two LSTM layers with one weight for each gate and unit (ADBench)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

LAYERS, UNITS = 2, 14
SHORT, LONG = 32, 1024
NO_LOOP = dict.fromkeys(("PyTorch", "torch.compile", "autograd"), "no loop of its own; in Python it takes seconds")


def sequence(steps: int) -> np.ndarray:
    return np.random.default_rng(12).integers(0, 2, size=(steps + 1, UNITS)).astype(float)


def point() -> list[np.ndarray]:
    """Weights and biases of the four gates of each layer, and what scales the input and the output."""
    random = np.random.default_rng(13)
    return [0.5 * random.normal(size=shape) for shape in ((LAYERS, 4, UNITS), (LAYERS, 4, UNITS), (3, UNITS))]


def predicting(library: Any, parameters: Any) -> Function:
    """One character: new states, and the log-likelihood of the next."""
    np = library.np
    weights, biases, extra = parameters

    def sigmoid(x: Any) -> Any:
        return 1.0 / (1.0 + np.exp(-x))

    def layer(weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> Any:
        forget = sigmoid(x * weight[0] + bias[0])
        keep = sigmoid(hidden * weight[1] + bias[1])
        out = sigmoid(x * weight[2] + bias[2])
        change = np.tanh(hidden * weight[3] + bias[3])
        cell = cell * forget + keep * change
        return out * np.tanh(cell), cell

    def predict(states: Any, x: Any, following: Any) -> Any:
        x = x * extra[0]
        updated = []
        for i, (hidden, cell) in enumerate(states):
            x, cell = layer(weights[i], biases[i], hidden, cell, x)
            updated.append((x, cell))
        y = x * extra[1] + extra[2]
        y = y - np.log(np.sum(np.exp(y)) + 2.0)
        return tuple(updated), np.sum(following * y)

    return predict


def looping(library: Any) -> Function:
    np = library.np
    seen = np.asarray(sequence(SHORT))

    def f(parameters: Any) -> Any:
        predict = predicting(library, parameters)
        states = tuple((np.zeros(UNITS), np.zeros(UNITS)) for _ in range(LAYERS))
        total = 0.0
        for t in range(SHORT):
            states, likelihood = predict(states, seen[t], seen[t + 1])
            total = total + likelihood
        return -total / (SHORT * UNITS)

    return f


def scanning(library: Any) -> Function:
    np = library.np
    seen = sequence(LONG)
    pairs = np.asarray(numpy_pairs(seen))

    def f(parameters: Any) -> Any:
        predict = predicting(library, parameters)
        states = tuple((np.zeros(UNITS), np.zeros(UNITS)) for _ in range(LAYERS))

        def step(carry: Any, pair: Any) -> Any:
            states, total = carry
            states, likelihood = predict(states, pair[0], pair[1])
            return (states, total + likelihood), None

        (_, total), _ = library.scan(step, (states, np.sum(np.zeros(1))), pairs)
        return -total / (LONG * UNITS)

    return f


def numpy_pairs(seen: np.ndarray) -> np.ndarray:
    return np.stack([seen[:-1], seen[1:]], axis=1)


def by_hand(steps: int) -> Function:
    """Backpropagation through time; gates of a layer in one array, and all sums over time at the end."""
    seen = sequence(steps)

    def both(parameters: list[np.ndarray]) -> Any:
        weights, biases, extra = parameters
        inputs = np.empty((steps, LAYERS, 4, UNITS))
        gates = np.empty((steps, LAYERS, 4, UNITS))
        cells = np.zeros((steps + 1, LAYERS, UNITS))
        squashed = np.empty((steps, LAYERS, UNITS))
        tops = np.empty((steps, UNITS))
        hidden = np.zeros((LAYERS, UNITS))
        scaled = seen[:-1] * extra[0]
        for t in range(steps):
            x = scaled[t]
            for i in range(LAYERS):
                into, gate = inputs[t, i], gates[t, i]
                into[0::2] = x
                into[1::2] = hidden[i]
                np.multiply(into, weights[i], out=gate)
                gate += biases[i]
                change = np.tanh(gate[3])
                three = gate[:3]
                np.negative(three, out=three)
                np.exp(three, out=three)
                three += 1.0
                np.reciprocal(three, out=three)
                gate[3] = change
                cell = cells[t + 1, i]
                np.multiply(cells[t, i], gate[0], out=cell)
                cell += gate[1] * change
                np.tanh(cell, out=squashed[t, i])
                hidden[i] = gate[2] * squashed[t, i]
                x = hidden[i]
            tops[t] = x
        y = tops * extra[1]
        y += extra[2]
        e = np.exp(y)
        sums = e.sum(axis=1, keepdims=True)
        sums += 2.0
        y -= np.log(sums)
        following = seen[1:]
        scale = -1.0 / (steps * UNITS)
        value = scale * np.vdot(following, y)
        e *= following.sum(axis=1, keepdims=True) / sums
        to_y = following - e
        to_y *= scale
        to_gates = np.empty_like(gates)
        to_tops = to_y * extra[1]
        to_scaled = np.empty_like(scaled)
        # slopes of the gates as functions of their own values: s (1 - s) and 1 - t^2
        slopes = 1.0 - gates
        slopes[:, :, :3] *= gates[:, :, :3]
        slopes[:, :, 3] *= 1.0 + gates[:, :, 3]
        through = gates[:, :, 2] * (1.0 - squashed * squashed)
        to_hidden, to_cell = np.zeros((LAYERS, UNITS)), np.zeros((LAYERS, UNITS))
        for t in range(steps - 1, -1, -1):
            back = to_tops[t]
            for i in range(LAYERS - 1, -1, -1):
                gate, to_gate = gates[t, i], to_gates[t, i]
                back = back + to_hidden[i]
                to = to_cell[i]
                to += back * through[t, i]
                np.multiply(to, cells[t, i], out=to_gate[0])
                np.multiply(to, gate[3], out=to_gate[1])
                np.multiply(back, squashed[t, i], out=to_gate[2])
                np.multiply(to, gate[1], out=to_gate[3])
                to_gate *= slopes[t, i]
                to *= gate[0]
                moved = to_gate * weights[i]
                to_hidden[i] = moved[1] + moved[3]
                back = moved[0] + moved[2]
            to_scaled[t] = back
        to_extra = np.stack([np.sum(to_scaled * seen[:-1], axis=0), np.sum(to_y * tops, axis=0), to_y.sum(axis=0)])
        return value, [np.einsum("tlgu,tlgu->lgu", to_gates, inputs), to_gates.sum(axis=0), to_extra]

    return both


ROWS = {
    "lstm": Row(f"LSTM, {LAYERS} layers, {SHORT} characters in a Python loop", looping, point, by_hand(SHORT)),
    "lstm-scan": Row(
        f"LSTM, {LAYERS} layers, {LONG:,} characters with scan",
        scanning,
        point,
        by_hand(LONG),
        without=NO_LOOP,
    ),
}
