"""Models of PyTorch taken over, and the way back: the same values, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn

torch = pytest.importorskip("torch")
tnn = torch.nn
RANDOM = np.random.default_rng(5)


def images(*shape):
    """Channels first."""
    return RANDOM.normal(size=shape)


def channels_last(x):
    """Rows as they are; images and sequences of convolutions with channels on the last axis."""
    return np.moveaxis(x, 1, -1) if x.ndim > 2 else x


def filled(module):
    """A module in double precision whose arrays are all random, statistics among them."""
    module = module.double().eval()
    with torch.no_grad():
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if tensor.dtype.is_floating_point:
                numbers = torch.from_numpy(RANDOM.normal(size=tuple(tensor.shape)))
                tensor.copy_(numbers.abs() + 0.5 if "running_var" in name else numbers)
    return module


ROWS = images(4, 6)
CASES = {
    "Linear": (tnn.Linear(6, 3), ROWS),
    "Linear without bias": (tnn.Linear(6, 3, bias=False), ROWS),
    "Conv1d": (tnn.Conv1d(3, 4, 3, padding=1), images(2, 3, 9)),
    "Conv1d with all": (tnn.Conv1d(4, 6, 3, 2, 2, 2, 2), images(2, 4, 9)),
    "Conv2d": (tnn.Conv2d(3, 4, (2, 3), stride=(2, 1), bias=False), images(2, 3, 7, 8)),
    "Conv2d, same": (tnn.Conv2d(3, 4, 4, padding="same", dilation=(1, 2)), images(2, 3, 7, 8)),
    "Conv2d, depthwise": (tnn.Conv2d(4, 8, 3, groups=4, padding="valid"), images(2, 4, 7, 8)),
    "ConvTranspose1d": (tnn.ConvTranspose1d(3, 2, 4, stride=2, padding=1), images(2, 3, 5)),
    "ConvTranspose2d": (tnn.ConvTranspose2d(3, 2, 3, 2, 1, 1), images(2, 3, 5, 4)),
    "ConvTranspose2d, valid": (tnn.ConvTranspose2d(3, 2, (2, 3), (1, 3), bias=False), images(2, 3, 5, 4)),
    "BatchNorm1d": (tnn.BatchNorm1d(6, eps=1e-3, momentum=0.2), ROWS),
    "BatchNorm1d of sequences": (tnn.Sequential(tnn.Conv1d(3, 4, 1), tnn.BatchNorm1d(4)), images(2, 3, 5)),
    "BatchNorm2d": (tnn.Sequential(tnn.BatchNorm2d(3), tnn.Conv2d(3, 2, 2)), images(2, 3, 5, 4)),
    "LayerNorm": (tnn.LayerNorm(6, eps=1e-3), ROWS),
    "GroupNorm": (tnn.GroupNorm(2, 6), images(2, 6, 5, 4)),
    "GroupNorm of rows": (tnn.GroupNorm(3, 6), ROWS),
    "RMSNorm": (tnn.RMSNorm(6, eps=1e-4), ROWS),
    "RMSNorm without epsilon": (tnn.RMSNorm(6), ROWS),
    "Dropout": (tnn.Dropout(0.3), ROWS),
    "MaxPool1d": (tnn.MaxPool1d(2), images(2, 3, 7)),
    "MaxPool2d": (tnn.MaxPool2d(3, stride=(2, 1)), images(2, 3, 7, 8)),
    "AvgPool1d": (tnn.AvgPool1d(3, 1), images(2, 3, 7)),
    "AvgPool2d": (tnn.AvgPool2d((2, 3)), images(2, 3, 7, 8)),
    "PReLU": (tnn.PReLU(6), ROWS),
    "ReLU": (tnn.ReLU(), ROWS),
    "Tanh": (tnn.Tanh(), ROWS),
    "Sigmoid": (tnn.Sigmoid(), ROWS),
    "SiLU": (tnn.SiLU(), ROWS),
    "Identity": (tnn.Identity(), ROWS),
    "GELU": (tnn.GELU(), ROWS),
    "GELU, approximate": (tnn.GELU("tanh"), ROWS),
    "Softplus": (tnn.Softplus(), ROWS),
    "ELU": (tnn.ELU(), ROWS),
    "ELU with alpha": (tnn.ELU(0.7), ROWS),
    "LeakyReLU": (tnn.LeakyReLU(), ROWS),
    "LeakyReLU with a slope": (tnn.LeakyReLU(0.3), ROWS),
    "Softmax": (tnn.Softmax(dim=-1), ROWS),
    "Softmax of channels": (tnn.Sequential(tnn.Conv2d(3, 4, 1), tnn.Softmax(dim=1)), images(2, 3, 5, 4)),
    "LogSoftmax": (tnn.LogSoftmax(dim=1), ROWS),
    "Sequential of rows": (
        tnn.Sequential(tnn.Linear(6, 5), tnn.BatchNorm1d(5), tnn.ReLU(), tnn.Dropout(0.5), tnn.Linear(5, 2)), ROWS,
    ),
    "an image network": (
        tnn.Sequential(
            tnn.Conv2d(3, 4, 3, padding=1), tnn.BatchNorm2d(4), tnn.ReLU(), tnn.MaxPool2d(2),
            tnn.Sequential(tnn.Conv2d(4, 5, 2), tnn.GroupNorm(5, 5), tnn.SiLU()), tnn.Flatten(),
            tnn.BatchNorm1d(30), tnn.Dropout(0.1), tnn.LayerNorm(30), tnn.PReLU(30),
            tnn.Linear(30, 7), tnn.Linear(7, 2),
        ),
        images(2, 3, 6, 8),
    ),
    "a sequence network": (
        tnn.Sequential(tnn.Conv1d(3, 4, 3), tnn.GELU(), tnn.AvgPool1d(2), tnn.Flatten(), tnn.Linear(12, 2)),
        images(2, 3, 8),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")  # PyTorch copies its input then
@pytest.mark.parametrize("name", CASES)
def test_modules_are_taken_over(name):
    """The model gives what the module gives; the module made of it does so again."""
    module, x = CASES[name]
    module = filled(module)
    with torch.no_grad():
        wanted = module(torch.from_numpy(x)).numpy()
    model = nn.from_torch(module)
    np.testing.assert_allclose(model(channels_last(x)), channels_last(wanted), rtol=1e-10, atol=1e-12)
    again = nn.to_torch(model)
    with torch.no_grad():
        np.testing.assert_allclose(again(torch.from_numpy(x)).numpy(), wanted, rtol=1e-10, atol=1e-12)
    for mine, theirs in zip(again.state_dict().values(), module.state_dict().values(), strict=True):
        if theirs.dtype.is_floating_point:
            assert torch.equal(mine, theirs)


@pytest.mark.parametrize("name", ["an image network", "ConvTranspose2d", "Conv1d with all", "GroupNorm", "RMSNorm"])
def test_gradients_are_the_same(name):
    """With respect to the input, and in training."""
    module, x = CASES[name]
    module = filled(module)
    at = torch.from_numpy(x).requires_grad_()
    torch.sin(module(at)).sum().backward()
    model = nn.from_torch(module)
    found = ad.grad(lambda x: np.sum(np.sin(model(x))))(channels_last(x))
    np.testing.assert_allclose(found, channels_last(at.grad.numpy()), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("layers", [1, 2])
def test_recurrent_modules(kind, layers):
    """Outputs of all steps; the two biases are one."""
    module = filled(getattr(tnn, kind)(3, 4, num_layers=layers, batch_first=True))
    if kind == "GRU":
        with torch.no_grad():
            for k in range(layers):
                getattr(module, f"bias_hh_l{k}")[8:] = 0.0
    x = images(2, 5, 3)
    with torch.no_grad():
        wanted = module(torch.from_numpy(x))[0].numpy()
    model = nn.from_torch(module)
    np.testing.assert_allclose(model(x), wanted, rtol=1e-10, atol=1e-12)
    if layers == 1:
        with torch.no_grad():
            np.testing.assert_allclose(nn.to_torch(model)(torch.from_numpy(x))[0].numpy(), wanted, rtol=1e-10)


@pytest.mark.parametrize("bias", [False, True])
def test_attention(bias):
    """To itself, and to a context."""
    module = filled(tnn.MultiheadAttention(6, 2, bias=bias, batch_first=True))
    x, context = images(2, 4, 6), images(2, 5, 6)
    model = nn.from_torch(module)
    again = nn.to_torch(model)
    for other in (x, context):
        q, k = torch.from_numpy(x), torch.from_numpy(other)
        with torch.no_grad():
            wanted = module(q, k, k)[0].numpy()
            np.testing.assert_allclose(again(q, k, k)[0].numpy(), wanted, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(model(x, other), wanted, rtol=1e-10, atol=1e-12)


def test_embedding():
    """Whole numbers in, rows out."""
    module = filled(tnn.Embedding(7, 3))
    x = np.array([[1, 5], [0, 6]])
    wanted = module(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_array_equal(nn.from_torch(module)(x), wanted)
    np.testing.assert_array_equal(nn.to_torch(nn.from_torch(module))(torch.from_numpy(x)).detach().numpy(), wanted)


def test_multilayer_perceptrons_go_out():
    """With norms, activations and dropout."""
    for norm in (None, "batch", "layer"):
        model = nn.MLP([6, 5, 4, 2], "gelu", norm=norm, dropout=0.2, key=0)
        module = nn.to_torch(model)
        found = module(torch.from_numpy(ROWS)).detach().numpy()
        np.testing.assert_allclose(found, model(ROWS), rtol=1e-10, atol=1e-12)


def test_single_precision_stays():
    """In both directions; and arrays are copies."""
    module = tnn.Linear(3, 2)
    model = nn.from_torch(module)
    assert model.weight.dtype == model.bias.dtype == np.float32
    before = model.weight.copy()
    with torch.no_grad():
        module.weight.zero_()
    np.testing.assert_array_equal(model.weight, before)
    back = nn.to_torch(model)
    assert back.weight.dtype == torch.float32
    with torch.no_grad():
        back.weight.zero_()
    np.testing.assert_array_equal(model.weight, before)


def test_pytorch_losses_give_the_same():
    """CTC, labels that are ignored, triplets: value and gradient."""
    logits, labels = images(3, 8, 5), np.array([[1, 2, 2], [4, 1, 0], [3, 0, 0]])
    steps, ends = np.array([8, 7, 5]), np.array([3, 2, 1])
    z = torch.from_numpy(logits).requires_grad_()
    logs = torch.log_softmax(z, -1).transpose(0, 1)
    theirs = tnn.functional.ctc_loss(logs, *map(torch.from_numpy, (labels, steps, ends)), reduction="none")
    theirs.sum().backward()
    options = {"output_lengths": steps, "target_lengths": ends}
    found, slope = ad.value_and_grad(lambda z: ad.losses.ctc(z, labels, reduction="sum", **options))(logits)
    np.testing.assert_allclose(found, theirs.sum().item(), rtol=1e-10)
    np.testing.assert_allclose(slope, z.grad.numpy(), atol=1e-10)
    y = np.array([1, -100, 3, 0])
    rows = torch.from_numpy(ROWS)
    wanted = tnn.functional.cross_entropy(rows, torch.from_numpy(y)).item()
    np.testing.assert_allclose(ad.losses.cross_entropy(ROWS, y, ignore_index=-100), wanted, rtol=1e-12)
    a, p, n = images(3, 4, 6)
    wanted = tnn.functional.triplet_margin_loss(*map(torch.from_numpy, (a, p, n)), margin=0.5, eps=0.0).item()
    np.testing.assert_allclose(ad.losses.triplet(a, p, n, margin=0.5), wanted, rtol=1e-10)


class Own(tnn.Module):
    """A module with code of its own."""

    def __init__(self):
        super().__init__()
        self.inner = tnn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x) + x


REFUSED = {
    "code of one's own": (lambda: nn.from_torch(Own()), "Own cannot be taken over: its forward is code of its own."),
    "no module": (lambda: nn.from_torch(3), "int cannot be taken over: it is no module of PyTorch but 3."),
    "a layer that is not there": (
        lambda: nn.from_torch(tnn.Bilinear(2, 2, 2)),
        "Bilinear cannot be taken over: there is no such layer here.",
    ),
    "half precision": (
        lambda: nn.from_torch(tnn.Linear(2, 2).half()),
        "A tensor of float16 cannot be taken over: models are in float32 or float64.",
    ),
    "another padding": (
        lambda: nn.from_torch(tnn.Conv2d(1, 1, 3, padding=1, padding_mode="reflect")),
        "Conv2d with padding_mode='reflect' cannot be taken over: there is no such option here.",
    ),
    "groups of a transposed convolution": (
        lambda: nn.from_torch(tnn.ConvTranspose1d(2, 2, 3, groups=2)),
        "ConvTranspose1d with groups=2 cannot be taken over: there is no such option here.",
    ),
    "a norm without scale": (
        lambda: nn.from_torch(tnn.BatchNorm1d(2, affine=False)),
        "BatchNorm1d with affine=False cannot be taken over: there is no such option here.",
    ),
    "a norm of several axes": (
        lambda: nn.from_torch(tnn.LayerNorm((2, 3))),
        "LayerNorm of several axes cannot be taken over: it is along the last axis here.",
    ),
    "a linear layer of images": (
        lambda: nn.from_torch(tnn.Sequential(tnn.Conv2d(1, 1, 3), tnn.Linear(3, 3))),
        "Linear cannot be taken over: it works along the last axis, which is that of channels here and that of places "
        "in PyTorch.",
    ),
    "a linear layer in front of a convolution": (
        lambda: nn.from_torch(tnn.Sequential(tnn.Linear(3, 3), tnn.Conv1d(3, 3, 1))),
        "Linear cannot be taken over: it works along the last axis, which is that of channels here and that of places "
        "in PyTorch.",
    ),
    "a dense layer in front of a convolution": (
        lambda: nn.to_torch(nn.Sequential(nn.Dense(3, 3, key=0), nn.Conv1d(3, 3, 1, key=0))),
        "Dense cannot be taken over: it works along the last axis, which is that of channels here and that of places "
        "in PyTorch.",
    ),
    "channels that are not known": (
        lambda: nn.from_torch(tnn.Sequential(tnn.MaxPool2d(2), tnn.Flatten(), tnn.Linear(12, 3))),
        "Flatten cannot be taken over: nothing in front of it says how many channels there are, on which the order of "
        "its numbers depends.",
    ),
    "padded pooling": (
        lambda: nn.from_torch(tnn.MaxPool2d(3, padding=1)),
        "MaxPool2d with padding cannot be taken over: windows are inside the image here.",
    ),
    "one slope": (
        lambda: nn.from_torch(tnn.PReLU()),
        "PReLU with one slope for all cannot be taken over: there is one for each channel here.",
    ),
    "a bias inside a gate": (
        lambda: nn.from_torch(tnn.GRU(2, 2)),
        "GRU cannot be taken over: its bias inside the reset gate, the last third of bias_hh, is not 0, and GRUCell "
        "has none.",
    ),
    "both directions": (
        lambda: nn.from_torch(tnn.LSTM(2, 2, bidirectional=True)),
        "LSTM with bidirectional=True cannot be taken over: there is no such option here.",
    ),
    "a function of one's own": (
        lambda: nn.to_torch(nn.Sequential(lambda x: x)),
        "Activation(<lambda>) cannot be taken over: PyTorch has no module of this function.",
    ),
    "a loop": (
        lambda: nn.to_torch(nn.Repeat(nn.Dense(2, 2, key=0), 2)),
        "Repeat cannot be taken over: PyTorch has no such layer.",
    ),
    "zeros on one side": (
        lambda: nn.to_torch(nn.Conv1d(1, 1, 2, stride=2, key=0)),
        "Conv1d with other zeros in front than behind cannot be taken over: PyTorch has as many on both sides.",
    ),
    "more cut off behind": (
        lambda: nn.to_torch(nn.ConvTranspose1d(1, 1, 3, stride=2, key=0)),
        "ConvTranspose1d with more cut off behind than in front cannot be taken over: PyTorch cuts off the same on "
        "both sides.",
    ),
    "causal attention": (
        lambda: nn.to_torch(nn.MultiHeadAttention(4, 2, causal=True, key=0)),
        "MultiHeadAttention with causal=True cannot be taken over: PyTorch's module has no such option.",
    ),
    "a recurrent layer among others": (
        lambda: nn.to_torch(nn.Sequential(nn.Recurrent(nn.RNNCell(2, 2, key=0)))),
        "Recurrent in Sequential cannot be taken over: PyTorch's gives a pair, which the next layer cannot take.",
    ),
    "the last output": (
        lambda: nn.to_torch(nn.Recurrent(nn.RNNCell(2, 2, key=0), last=True)),
        "Recurrent of RNNCell, last=True, reverse=False cannot be taken over: PyTorch's gives the outputs of all "
        "steps, from the first to the last, of its own cells.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """By name, with a reason and what to do."""
    call, what = REFUSED[name]
    with pytest.raises(ad.errors.InputError) as error:
        call()
    first, at, *rest = str(error.value).splitlines()
    assert first == what
    assert at.startswith("  at test_torch.py:")
    assert rest
    assert rest[0].strip()


def test_pytorch_is_not_imported_by_itself():
    """Neither by the library nor by reading a model."""
    code = "import sys; from adjoint import nn; nn.MLP([2, 2], key=0); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
