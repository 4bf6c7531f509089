"""The worked examples of a calculus course, computed and shown step by step. Run it with `make demo`."""

from __future__ import annotations

import textwrap
import timeit
from collections.abc import Callable

import numpy as np
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import adjoint as ad
from adjoint import learn, losses, nn, optim


def main() -> None:
    """Show everything, one section after the other."""
    logistic_regression()
    shared_subexpressions()
    linearisation()
    jacobian_of_a_mean()
    linear_layer()
    any_program()
    assignment()
    singular_points()
    higher_orders()
    timing()
    machine_code()
    training()
    honest_probabilities()


# The sections -----------------------------------------------------------------------------------------------------


def logistic_regression() -> None:
    """The squared loss of a logistic model on two examples: every value and every adjoint."""
    title("1. Forward and backward through a small loss")
    say("Data: (1, 1.5) of class 0 and (1.5, -1) of class 1; model sigma(w0 + w1 x1 + w2 x2); squared loss;")
    say("w = (-1, 1.5, 0.5). ∇v stands for ∂L/∂v. Read the left half downwards, the right half upwards.\n")
    X, c, w = np.array([[1.0, 1.0, 1.5], [1.0, 1.5, -1.0]]), np.array([0.0, 1.0]), np.array([-1.0, 1.5, 0.5])

    def L(w: np.ndarray) -> float:  # noqa: N802  (the name in the table)
        return np.sum((c - expit(X @ w)) ** 2)

    explanation = ad.explain(L, level="scalar", digits=2, names=False)(w)
    explanation.show()
    say("\nA printed table of this example shows v7 = 0.61, the square of the rounded 0.78, and ∇v(-1) = -0.28")
    say("after v2, where -0.14 · 1.5 = -0.21: only with -0.21 does the sum in the row above come to 0.06.")
    say("The code was plain NumPy; one call gives the same numbers:")
    show("ad.grad(lambda w: np.sum((c - expit(X @ w)) ** 2))(w)", ad.grad(L)(w))
    page = explanation.page("trace.html").resolve()
    say(f"\nStep through it in a browser, with sliders for w:  {page.as_uri()}")


def shared_subexpressions() -> None:
    """The function sqrt(x^2 + e^(x^2)) + cos(x^2 + e^(x^2)) with its intermediate values a to f."""
    title("2. Shared sub-expressions: f(x) = sqrt(x^2 + e^(x^2)) + cos(x^2 + e^(x^2)) at x = 1.3")
    say("a and c are used twice, so their adjoints are sums of two contributions. Tangents go the other way.\n")

    def f(x: float) -> float:
        a = x**2
        b = np.exp(a)
        c = a + b
        d = np.sqrt(c)
        e = np.cos(c)
        return d + e

    explanation = ad.explain(f, mode="both")(1.3)
    explanation.show()
    show("ad.value_and_grad(f)(1.3)", ad.value_and_grad(f)(1.3))
    say("\nThe same derivative as NumPy code that needs no library:\n")
    print(textwrap.indent(explanation.code(), "  "))


def linearisation() -> None:
    """Near a point, a function is its value plus its derivative times the step."""
    title("3. Linearisation: f(x) = x^2 - 1.5 x near 0.5")

    def f(x: float) -> float:
        return x**2 - 1.5 * x

    value, push = ad.linearize(f, 0.5)
    rows = [[f"{x:.2f}", f"{f(x):.4f}", f"{value + push(x - 0.5):.4f}"] for x in (0.5, 0.51, 0.6, 1.0)]
    table(["x", "f(x)", "f(0.5) + f'(0.5) (x - 0.5)"], rows)


def jacobian_of_a_mean() -> None:
    """A linear map is its own Jacobian."""
    title("4. Jacobian of y = (x1 + x2) / 2 at (1, 3)")
    x = np.array([1.0, 3.0])

    def mean(x: np.ndarray) -> np.ndarray:
        return np.array([(x[0] + x[1]) / 2])

    J = ad.jacobian(mean)(x)
    show("J = ad.jacobian(mean)(x)", J)
    show("J @ x, which is y as the map is linear", J @ x)


def linear_layer() -> None:
    """Reverse mode never forms the rank-3 Jacobian of W x with respect to W."""
    title("5. VJP of a linear layer y = W x with the cotangent v")
    W, x, v = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([1.0, 0.0, -1.0]), np.array([1.0, 2.0])
    _, pullback = ad.vjp(lambda W, x: W @ x, W, x)
    for_W, for_x = pullback(v)
    table(
        ["with respect to", "by the library", "by hand"],
        [["x: W^T v", one_line(for_x), one_line(W.T @ v)], ["W: v x^T", one_line(for_W), one_line(np.outer(v, x))]],
    )


def any_program() -> None:
    """Branches, loops and recursion are followed as they happen."""
    title("6. Any Python program: the square root by Newton's iteration, stopped by its error")

    def root(a: float) -> float:
        y = a if a > 1 else 1.0
        while abs(y * y - a) > 1e-14 * a:
            y = (y + a / y) / 2
        return y

    rows = []
    for a in (0.3, 2.0, 9.0):
        value, slope = ad.value_and_grad(root)(a)
        rows.append([f"{a:g}", f"{value:.12f}", f"{slope:.12f}", f"{0.5 / np.sqrt(a):.12f}"])
    table(["a", "root(a)", "derivative", "1 / (2 sqrt(a))"], rows)


def assignment() -> None:
    """Arrays are filled in place, as in any NumPy program."""
    title("7. In-place assignment: y[0] = x[0], y[i] = y[i-1] x[i], then y[1:] doubled, then summed")

    def f(x: np.ndarray) -> float:
        y = np.zeros(3)
        y[0] = x[0]
        for i in range(1, 3):
            y[i] = y[i - 1] * x[i]
        y[1:] *= 2
        return np.sum(y)

    show("ad.grad(f)(np.array([1., 2., 3.]))", ad.grad(f)(np.array([1.0, 2.0, 3.0])))
    say("By hand: f = x0 + 2 x0 x1 + 2 x0 x1 x2, so the gradient is (1 + 4 + 12, 2 + 6, 4).")


def singular_points() -> None:
    """Where a formula has 0/0 or infinity times 0, but the function has a gradient."""
    title("8. Singular points")
    zero, ones = np.zeros(2), np.array([0.0, 1.0])
    rows = [
        ["sum(where(x > 0, sqrt(x), 0))", "(0, 1)", ad.grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(ones)],
        ["sqrt(sum(x^2))", "(0, 0)", ad.grad(lambda x: np.sqrt(np.sum(x**2)))(zero)],
        ["sum(x^(0, 1))", "(0, 0)", ad.grad(lambda x: np.sum(x ** np.array([0.0, 1.0])))(zero)],
        ["prod(x)", "(0, 1)", ad.grad(np.prod)(ones)],
        ["sum(maximum(x, 0))", "(0, 1)", ad.grad(lambda x: np.sum(np.maximum(x, 0.0)))(ones)],
        ["sqrt(x)  (truly infinite)", "0", ad.grad(np.sqrt)(0.0)],
    ]
    table(["function", "at", "gradient"], [[f, at, one_line(g)] for f, at, g in rows])


def higher_orders() -> None:
    """Transformations nest to any depth."""
    title("9. Higher orders and batches")
    x = np.array([2.0, 3.0])
    show("ad.hessian(lambda x: x[0]**2 * x[1])([2, 3])", ad.hessian(lambda x: x[0] ** 2 * x[1])(x))
    field = ad.hessian(lambda x: np.array([x[0] * x[1], np.sin(x[0]), x[1] ** 3]))(x)
    show("shape of the Hessian of a field of 3 results", field.shape)
    show("ad.derivative(np.sin, 5)(0.0)", float(ad.derivative(np.sin, 5)(0.0)))
    batch = ad.vmap(ad.grad(np.prod))(np.array([[1.0, 2.0, 3.0], [0.0, 5.0, 6.0]]))
    show("ad.vmap(ad.grad(np.prod))([[1, 2, 3], [0, 5, 6]])", batch)


def timing() -> None:
    """One sweep back costs a small multiple of the function, whatever the number of inputs."""
    title("10. What a gradient costs (the fastest of several runs on this machine)")

    def layers(x: np.ndarray) -> float:
        for _ in range(10):
            x = np.tanh(1.1 * x + 0.1)
        return np.sum(x * x)

    gradient = ad.grad(layers)
    rows = []
    for n in (10, 1_000, 100_000, 1_000_000):
        x = np.linspace(-1.0, 1.0, n)
        plain, both = fastest(lambda x=x: layers(x)), fastest(lambda x=x: gradient(x))
        rows.append([f"{n:,}", f"{1e3 * plain:.3f} ms", f"{1e3 * both:.3f} ms", f"{both / plain:.1f}"])
    table(["inputs", "function", "gradient", "ratio"], rows)


def machine_code() -> None:
    """The same gradients, recorded once and compiled; branches and loops included."""
    title("11. Machine code")

    def f(x: float) -> float:
        c = x**2 + np.exp(x**2)
        return np.sqrt(c) + np.cos(c)

    def pendulum(stiffness: float) -> float:
        def step(state: tuple[float, float], _: None) -> tuple[tuple[float, float], None]:
            angle, speed = state
            speed = speed - 0.001 * stiffness * np.sin(angle)
            return (angle + 0.001 * speed, speed), None

        return ad.scan(step, (1.0, 0.0), length=10_000)[0][0]

    def branching(x: np.ndarray) -> float:
        return np.sum(np.abs(x)) if np.max(np.abs(x)) > 10.0 else np.sum(x * x)

    rows = []
    for name, function, point in (
        ("section 2's example, one number", f, 1.3),
        ("a branch on 1,000 numbers", branching, np.linspace(-1.0, 1.0, 1_000)),
        ("10,000 steps of a pendulum", pendulum, 9.81),
    ):
        gradient = ad.grad(function)
        compiled = ad.jit(gradient)
        if not np.allclose(compiled(point), gradient(point)):
            raise AssertionError(name)
        step_by_step, at_once = fastest(lambda: gradient(point)), fastest(lambda: compiled(point))  # noqa: B023
        rows.append(
            [name, f"{1e6 * step_by_step:,.1f} us", f"{1e6 * at_once:,.2f} us", f"{step_by_step / at_once:,.0f}"]
        )
    table(["gradient of", "step by step", "ad.jit", "ratio"], rows)
    say("What was recorded for the branch:")
    print(textwrap.indent(str(ad.jit(ad.grad(branching)).lower(np.ones(3)).optimized), "  "))


def training(epochs: int = 120) -> None:
    """A network that learns to which of three spiral arms a point belongs."""
    title("12. Training")
    rng, n = np.random.default_rng(0), 4_000
    arm, radius = rng.integers(0, 3, n), np.sqrt(rng.uniform(0.01, 1.0, n))
    angle = 2 * np.pi * (2 * radius + arm / 3)
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) + rng.normal(0.0, 0.025, (n, 2))

    def accuracy(outputs: np.ndarray, arm: np.ndarray) -> float:
        return np.mean(np.argmax(outputs, axis=-1) == arm)

    say("4,000 points of three spiral arms, a fifth of them kept for validation. The network:\n")
    model = nn.MLP([2, 64, 64, 3], activation="relu", key=0)
    nn.summary(model, X[:32])
    print(flush=True)
    fit = ad.train(
        model, losses.cross_entropy, (X, arm), optim.adam(optim.schedule.cosine(5e-3, steps=100 * epochs)),
        epochs=epochs, validation=0.2, metrics={"accuracy": accuracy}, progress=True,
    )  # fmt: skip
    print()
    rows = []
    for epoch in [k for k in (1, 3, 10, 30) if k < epochs] + [epochs]:
        measured = [fit.history[name][epoch - 1] for name in ("loss", "validation_loss", "accuracy")]
        rows.append([str(epoch), *[f"{number:.4f}" for number in measured]])
    table(["epoch", "loss", "validation loss", "accuracy"], rows)
    say(f"\nSee how the boundaries form, epoch by epoch:  {fit.page('training.html').resolve().as_uri()}")


def honest_probabilities() -> None:
    """A classifier of tumours: calibrated, deciding by what errors cost, with sets that hold the truth, and a page."""
    title("13. Honest probabilities: which tumours are malignant, if to miss one costs ten false alarms")
    X, benign = load_breast_cancer(return_X_y=True)
    y = np.where(benign == 1, "benign", "malignant")
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    costs = [[0, 10], [1, 0]]  # rows: what is decided; columns: what is true; both benign, malignant
    model = learn.HonestClassifier(GaussianNB(), costs=costs, coverage=0.9, random_state=0).fit(X, y)
    plain = GaussianNB().fit(X, y)
    true = np.searchsorted(model.classes_, y_new)
    say("One call splits, fits, calibrates, and decides by expected cost: malignant from")
    show("model.threshold_", round(float(model.threshold_), 4))
    rows = []
    for name, p, decided in (
        ("as fitted, likeliest class", plain.predict_proba(X_new), plain.predict(X_new)),
        ("calibrated, least cost", model.predict_proba(X_new), model.predict(X_new)),
    ):
        paid = np.mean(np.asarray(costs)[np.searchsorted(model.classes_, decided), true])
        missed = np.sum((decided == "benign") & (y_new == "malignant"))
        log_loss = -np.mean(np.log(p[np.arange(len(true)), true]))
        rows.append([name, f"{paid:.3f}", str(missed), f"{log_loss:.4f}", f"{learn.calibration_error(y_new, p):.4f}"])
    table(["on 143 new rows", "cost a row", "missed", "log loss", "calibration error"], rows)
    found = model.coverage_report(X_new, y_new)
    say(f"\nSets of classes, {model.guarantee_}: {found['coverage']:.1%} of the new ones hold the true class.")
    page = learn.report(model, X_new, y_new, train=(X, y), costs=costs).save("report.html").resolve()
    say(f"All of it on one page, with reliability, costs, sets and the learning curve:  {page.as_uri()}")


# Printing ---------------------------------------------------------------------------------------------------------


def fastest(function: Callable[[], object]) -> float:
    """Seconds for one call: the least of seven measurements, as noise only ever adds."""
    calls = max(1, int(0.01 / max(timeit.timeit(function, number=1), 1e-7)))
    return min(timeit.repeat(function, number=calls, repeat=7)) / calls


def title(text: str) -> None:
    """A heading."""
    print(f"\n{text}\n{'=' * len(text)}")


def say(text: str) -> None:
    """A sentence."""
    print(text)


def show(expression: str, result: object) -> None:
    """An expression and its result."""
    print(f"  {expression}  =  {one_line(result)}")


def one_line(x: object) -> str:
    """A number or array on one line, to four digits."""
    with np.printoptions(precision=4, suppress=True):
        return " ".join(str(np.asarray(x)).split()) if isinstance(x, np.ndarray) else str(x)


def table(header: list[str], rows: list[list[str]]) -> None:
    """Columns under their headings; numbers to the right."""
    widths = [max(len(row[k]) for row in [header, *rows]) for k in range(len(header))]
    numeric = [all(_is_number(row[k]) for row in rows) for k in range(len(header))]

    def line(row: list[str]) -> str:
        cells = [c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, widths, numeric, strict=True)]
        return ("  " + "   ".join(cells)).rstrip()

    print(line(header))
    print("  " + "   ".join(["-" * w for w in widths]))
    for row in rows:
        print(line(row))


def _is_number(cell: str) -> bool:
    return cell == "" or cell[0] in "-0123456789"


if __name__ == "__main__":
    main()
