"""Write the MNIST data files and the program that trains a classifier on them.

    python tools/mnist.py data                  raw little-endian files for `url=` buffers
    python tools/mnist.py program [--steps N]   the training program as .uir text

The digits are the first 5000 training and first 1000 test digits of MNIST, kept beside this
script as the gzip'ed IDX files of the original. Both commands are deterministic: the program
carries the SHA-256 of every data file, and `data` writes exactly those bytes.
"""

import argparse
import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
RENDER = HERE.parent / "test" / "week6" / "render"
TRAIN_DIGITS, TEST_DIGITS, PIXELS, CLASSES = 5000, 1000, 784, 10
BATCH = 100
DEFAULT_STEPS = 50

SOURCES = {
    "mnist-train-images.f32": "train-images-idx3-ubyte-first5000.gz",
    "mnist-train-labels.i32": "train-labels-idx1-ubyte-first5000.gz",
    "mnist-test-images.f32": "t10k-images-idx3-ubyte-first1000.gz",
    "mnist-test-labels.i32": "t10k-labels-idx1-ubyte-first1000.gz",
}


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """The array of bytes in a gzip'ed IDX file: two zeros, type 8, rank, big-endian extents."""
    raw = gzip.decompress(path.read_bytes())
    if raw[:3] != b"\0\0\x08":
        raise ValueError(f"{path}: not an IDX file of unsigned bytes")
    rank = raw[3]
    shape = [int(extent) for extent in np.frombuffer(raw, ">u4", rank, 4)]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * rank).reshape(shape)


def data_file(name: str) -> bytes:
    """The bytes of one data file: pixels as f32 in [0, 1] (one rounding), labels as i32."""
    raw = read_idx(HERE / "mnist" / SOURCES[name])
    if name.endswith(".f32"):
        return (raw.astype("<f4") / np.float32(255)).astype("<f4").tobytes()
    return raw.astype("<i4").tobytes()


def write_data(folder: Path) -> None:
    """Write the four data files into `folder`; a file that is already right is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        content, path = data_file(name), folder / name
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)
        print(f"{path}  {len(content)} bytes  sha256 {hashlib.sha256(content).hexdigest()[:8]}...")


def buffer(name: str, extent: int, dtype: str, slot: int, file: str) -> str:
    """The statement that declares a buffer filled from a data file."""
    digest = hashlib.sha256(data_file(file)).hexdigest()
    return f"%{name} = buffer {extent} dtype={dtype} slot={slot} url=data/{file} sha256={digest}"


def preamble(steps: int) -> Iterator[str]:
    """The headers, the explanation, the buffers and the constants that all steps share."""
    yield f"""\
# render check: slot 5 >= 850
# time: 30
# max_bytes: 100000
#
# Train a digit classifier on MNIST, then count the test digits that it gets right.
#
# The model is softmax regression: one 784x10 matrix of weights (slot 4, all zeros at the start)
# turns the 784 pixels of a digit into 10 scores, one per class. Each of the {steps} steps loads a
# batch of {BATCH} training digits and the weights that the step before stored, computes the mean
# cross-entropy loss of the batch, and stores the weights moved against the gradient, with
# learning rate 1.0. At the end slot 5 holds how many of {TEST_DIGITS} test digits it gets right.
#
# Written by `python tools/mnist.py program{"" if steps == DEFAULT_STEPS else f" --steps {steps}"}`.
# `python tools/mnist.py data` writes the files of digits.
"""
    pixels = TRAIN_DIGITS * PIXELS
    yield buffer("train_pixels", pixels, "f32", 0, "mnist-train-images.f32")
    yield buffer("train_labels", TRAIN_DIGITS, "i32", 1, "mnist-train-labels.i32")
    yield buffer("test_pixels", TEST_DIGITS * PIXELS, "f32", 2, "mnist-test-images.f32")
    yield buffer("test_labels", TEST_DIGITS, "i32", 3, "mnist-test-labels.i32")
    yield f"""\
%weight_cells = buffer {PIXELS * CLASSES} dtype=f32 slot=4
%correct_cell = buffer 1 dtype=i32 slot=5

%train_images = reshape %train_pixels shape=[{TRAIN_DIGITS} {PIXELS}]
%test_images = reshape %test_pixels shape=[{TEST_DIGITS} {PIXELS}]
%weights_0 = reshape %weight_cells shape=[{PIXELS} {CLASSES}]

# The number of its class in every cell of a table with a row per digit, for finding the label.
%class = stack {" ".join(map(str, range(CLASSES)))}
%class_row = reshape %class shape=[1 {CLASSES}]
%class_table = expand %class_row shape=[{BATCH} {CLASSES}]
%zeros = expand 0.0 shape=[{BATCH} {CLASSES}]
"""


def training_step(k: int) -> str:
    """The statements of step `k`, which trains on batch `k` modulo the number of batches."""
    first = k * BATCH % TRAIN_DIGITS
    return f"""\
# Step {k}: digits {first} to {first + BATCH - 1}.
%images_{k} = shrink %train_images {first} 0 shape=[{BATCH} {PIXELS}]
%labels_{k} = shrink %train_labels {first} shape=[{BATCH}]
%x_{k} = load %images_{k}
%y_{k} = load %labels_{k}
%w_{k} = load %weights_{k}
%scores_{k} = matmul %x_{k} %w_{k}
# Less its row's maximum, no score overflows in exp. The loss is the same, so nothing flows there.
%scores_by_class_{k} = permute %scores_{k} order=[1 0]
%max_{k} = reduce %scores_by_class_{k} op=max pop=1
%fixed_max_{k} = detach %max_{k}
%max_column_{k} = reshape %fixed_max_{k} shape=[{BATCH} 1]
%max_table_{k} = expand %max_column_{k} shape=[{BATCH} {CLASSES}]
%shifted_{k} = sub %scores_{k} %max_table_{k}
# The log of the softmax, log(exp s / sum exp s) = s - log(sum exp s).
%exp_{k} = exp %shifted_{k}
%exp_by_class_{k} = permute %exp_{k} order=[1 0]
%sum_{k} = reduce %exp_by_class_{k} op=add pop=1
%log_sum_{k} = log %sum_{k}
%log_sum_column_{k} = reshape %log_sum_{k} shape=[{BATCH} 1]
%log_sum_table_{k} = expand %log_sum_column_{k} shape=[{BATCH} {CLASSES}]
%log_softmax_{k} = sub %shifted_{k} %log_sum_table_{k}
# Mean cross-entropy: minus the mean log probability of the labels.
%label_column_{k} = reshape %y_{k} shape=[{BATCH} 1]
%label_table_{k} = expand %label_column_{k} shape=[{BATCH} {CLASSES}]
%is_label_{k} = cmpeq %label_table_{k} %class_table
%of_label_{k} = where %is_label_{k} %log_softmax_{k} %zeros
%total_{k} = reduce %of_label_{k} op=add pop=2
%loss_{k} = mul %total_{k} {-1 / BATCH}
# One step against the gradient.
%gradient_{k} = gradient %loss_{k} %w_{k}
%moved_{k} = sub %w_{k} %gradient_{k}
%stored_{k} = store %weights_{k} %moved_{k}
%weights_{k + 1} = after %weights_{k} %stored_{k}
"""


def evaluation(steps: int) -> str:
    """The statements that count the correct test digits.

    A digit is correct when its label's score is above every other score: neither a tie nor a NaN
    counts.
    """
    n, c = TEST_DIGITS, CLASSES
    return f"""\
# Count the test digits whose label has a higher score than every other class.
%x_test = load %test_images
%y_test = load %test_labels
%w_trained = load %weights_{steps}
%test_scores = matmul %x_test %w_trained
%test_label_column = reshape %y_test shape=[{n} 1]
%test_label_table = expand %test_label_column shape=[{n} {c}]
%test_class_table = expand %class_row shape=[{n} {c}]
%is_test_label = cmpeq %test_label_table %test_class_table
%nothing = expand -inf shape=[{n} {c}]
%label_score = where %is_test_label %test_scores %nothing
%other_scores = where %is_test_label %nothing %test_scores
%label_score_by_class = permute %label_score order=[1 0]
%other_scores_by_class = permute %other_scores order=[1 0]
%label_best = reduce %label_score_by_class op=max pop=1
%other_best = reduce %other_scores_by_class op=max pop=1
%is_correct = cmplt %other_best %label_best
%ones = cast %is_correct dtype=i32
%correct = reduce %ones op=add pop=1
%correct_view = index %correct_cell 0
store %correct_view %correct
"""


def program(steps: int) -> str:
    """The whole training program with `steps` steps."""
    parts = [*preamble(steps), *map(training_step, range(steps)), evaluation(steps)]
    return "\n".join(parts)


def positive(text: str) -> int:
    """An argument that must be a positive integer."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, found {value}")
    return value


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    data = commands.add_parser("data", help="write the raw data files")
    data.add_argument("-o", "--output", type=Path, default=RENDER / "data", metavar="FOLDER")
    text = commands.add_parser("program", help="write the training program")
    text.add_argument("--steps", type=positive, default=DEFAULT_STEPS, metavar="N")
    text.add_argument(
        "-o", "--output", type=Path, default=RENDER / "mnist_train.uir", metavar="FILE"
    )
    args = parser.parse_args()
    if args.command == "data":
        write_data(args.output)
    else:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(program(args.steps), encoding="utf-8")


if __name__ == "__main__":
    main()
