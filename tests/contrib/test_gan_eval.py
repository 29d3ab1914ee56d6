"""tf.contrib.gan.eval: distances against formulas in NumPy, pictures, summaries."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib import gan

import weft as tf

ev = gan.eval
RANDOM = np.random.RandomState(2)
REAL = RANDOM.randn(40, 5)
FAKE = 0.3 + RANDOM.randn(30, 5) @ RANDOM.randn(5, 5)


def value(fetches: Any) -> Any:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches)


# ---- scores and distances ----------------------------------------------------------------------


def score(logits: np.ndarray) -> float:
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return np.exp((p * (np.log(p) - np.log(p.mean(0)))).sum(1).mean())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_score(dtype: str) -> None:
    found = ev.classifier_score_from_logits(tf.constant(REAL, dtype))
    assert found.dtype.name == dtype
    np.testing.assert_allclose(value(found), score(REAL), rtol=1e-6)
    same = ev.classifier_score_from_logits(tf.zeros([3, 4]))
    np.testing.assert_allclose(value(same), 1.0)


def test_the_score_in_batches() -> None:
    weights = tf.constant(RANDOM.randn(5, 3), tf.float32)
    calls = []

    def classify(images: Any) -> Any:
        calls.append(images.shape.as_list())
        return tf.matmul(images, weights)

    images = tf.constant(REAL, tf.float32)
    found = ev.classifier_score(images, classify, num_batches=4)
    whole = ev.classifier_score_from_logits(tf.matmul(images, weights))
    assert calls == [[10, 5]]
    np.testing.assert_allclose(*value([found, whole]), rtol=1e-6)


def frechet(real: np.ndarray, fake: np.ndarray) -> float:
    one, other = np.cov(real.T), np.cov(fake.T)
    roots = np.sqrt(np.linalg.eigvals(one @ other).real)
    away = ((real.mean(0) - fake.mean(0)) ** 2).sum()
    return away + np.trace(one) + np.trace(other) - 2 * roots.sum()


def means_apart(real: np.ndarray, fake: np.ndarray) -> float:
    return ((real.mean(0) - fake.mean(0)) ** 2).sum()


def diagonal(real: np.ndarray, fake: np.ndarray) -> float:
    spread = (np.sqrt(real.var(0)) - np.sqrt(fake.var(0))) ** 2
    return spread.sum() + means_apart(real, fake)


DISTANCES: dict[str, Any] = {"": frechet, "mean_only_": means_apart, "diagonal_only_": diagonal}


@pytest.mark.parametrize("kind", DISTANCES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frechet_distances(kind: str, dtype: str) -> None:
    measure = getattr(ev, f"{kind}frechet_classifier_distance_from_activations")
    found = measure(tf.constant(REAL, dtype), tf.constant(FAKE, dtype))
    assert found.dtype.name == dtype
    np.testing.assert_allclose(value(found), DISTANCES[kind](REAL, FAKE), rtol=1e-5)
    with pytest.raises(ValueError, match="must have rank 2"):
        measure(tf.zeros([3]), tf.zeros([3]))


def test_the_trace_of_a_root() -> None:
    one, other = np.cov(REAL.T), np.cov(FAKE.T)
    found = ev.classifier_metrics.trace_sqrt_product(tf.constant(one), tf.constant(other))
    expected = np.sqrt(np.linalg.eigvals(one @ other).real).sum()
    np.testing.assert_allclose(value(found), expected, rtol=1e-6)


def kernel_distance(real: np.ndarray, fake: np.ndarray) -> float:
    def kernel(a: Any, b: Any) -> Any:
        return (a @ b.T / a.shape[1] + 1) ** 3

    def within(x: Any) -> Any:
        products = kernel(x, x)
        return (products.sum() - np.trace(products)) / (len(x) * (len(x) - 1))

    return within(real) + within(fake) - 2 * kernel(real, fake).mean()


@pytest.mark.parametrize("block", [1024, 14])
def test_kernel_distances(block: int) -> None:
    found = ev.kernel_classifier_distance_and_std_from_activations(
        tf.constant(REAL), tf.constant(FAKE), max_block_size=block
    )
    blocks = -(-40 // block)
    # The last blocks are larger by one where they cannot all be of one size.
    parts = [np.array_split(each[::-1], blocks)[::-1] for each in (REAL, FAKE)]
    each = [kernel_distance(r[::-1], f[::-1]) for r, f in zip(*parts, strict=True)]
    mean, error = value(found)
    np.testing.assert_allclose(mean, np.mean(each), rtol=1e-9)
    if blocks == 1:
        assert np.isnan(error)
    else:
        np.testing.assert_allclose(error, np.std(each, ddof=1) / np.sqrt(blocks), rtol=1e-9)


def test_distances_of_images() -> None:
    weights = tf.constant(RANDOM.randn(5, 3))

    def classify(images: Any) -> Any:
        return tf.matmul(images, weights)

    real, fake = tf.constant(REAL), tf.constant(FAKE)
    found = [
        ev.frechet_classifier_distance(real, fake, classify, num_batches=2),
        ev.kernel_classifier_distance(real, fake, classify, num_classifier_batches=5),
    ]
    a, b = classify(real), classify(fake)
    direct = [
        ev.frechet_classifier_distance_from_activations(a, b),
        ev.kernel_classifier_distance_from_activations(a, b),
    ]
    np.testing.assert_allclose(*value([found, direct]), rtol=1e-9)


# ---- networks from files -----------------------------------------------------------------------


def network() -> Any:
    """A graph with the names of Inception's inputs and outputs."""
    with tf.Graph().as_default() as graph:
        images = tf.placeholder(tf.float32, [None, 8, 8, 3], name="Mul")
        tf.identity(tf.reduce_mean(images, [1, 2]), name="logits")
        tf.reduce_max(images, [1, 2], keepdims=True, name="pool_3")
        return graph.as_graph_def()


def test_a_graph_in_files(tmp_path: Path, monkeypatch: Any) -> None:
    data = network().SerializeToString()
    (tmp_path / "net.pb").write_bytes(data)
    assert ev.get_graph_def_from_disk(str(tmp_path / "net.pb")) == network()
    archive = tmp_path / "net.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("a/net.pb")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    read = ev.get_graph_def_from_url_tarball
    assert read("http://nowhere.invalid/net.tar.gz", "a/net.pb", str(archive)) == network()
    assert read(archive.as_uri(), "a/net.pb") == network()


def test_what_is_missing_is_told(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    missing = (tmp_path / "none.tar.gz").as_uri()
    monkeypatch.setattr("weft.lib.contrib.gan.eval.classifiers.INCEPTION_URL", missing)
    with pytest.raises(tf.errors.UnavailableError, match="hand the graph over as `graph_def`"):
        ev.run_inception(tf.zeros([2, 299, 299, 3]))
    with pytest.raises(ValueError, match="must provide `default_graph_def_fn`"):
        ev.run_inception(tf.zeros([2, 299, 299, 3]), default_graph_def_fn=None)
    with pytest.raises(ValueError, match="are incompatible"):
        ev.run_inception(tf.zeros([2, 8, 8, 3]), network())


def test_running_a_network() -> None:
    images = RANDOM.rand(4, 8, 8, 3).astype(np.float32)
    logits = ev.run_inception(images, network(), image_size=8)
    assert logits.op.name.startswith("Flatten/")
    both = ev.run_inception(images, network(), None, 8, output_tensor=["logits:0", "pool_3:0"])
    found = value([logits, *both])
    mean, largest = images.mean((1, 2)), images.max((1, 2))
    for mine, expected in zip(found, (mean, mean, largest), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-5)
    one = ev.run_image_classifier(images, network(), "Mul:0", "logits:0", scope="mine")
    assert one.name == "mine/logits:0"


def test_preprocessing() -> None:
    images = np.full([2, 4, 4, 3], 64, np.uint8)
    found = value([ev.preprocess_image(tf.constant(each), 6, 5) for each in (images, images[0])])
    assert [each.shape for each in found] == [(2, 6, 5, 3), (6, 5, 3)]
    np.testing.assert_allclose(found[0], -0.5)


# ---- the sliced Wasserstein distance -----------------------------------------------------------


@pytest.mark.parametrize("by_svd", [False, True])
def test_sliced_wasserstein(by_svd: bool) -> None:
    np.random.seed(0)
    tf.set_random_seed(0)
    real = np.random.rand(8, 32, 32, 3).astype(np.float32)
    fake = np.tile(np.linspace(0, 1, 32, dtype=np.float32)[:, None, None], [8, 1, 32, 3])
    fake += 0.01 * np.random.rand(*fake.shape).astype(np.float32)
    pairs = ev.sliced_wasserstein_distance(
        tf.constant(real), tf.constant(fake), patches_per_image=16, use_svd=by_svd
    )
    assert len(pairs) == 2
    for own, other in value(pairs):
        assert 0 < own < other


def test_levels_of_a_pyramid_add_up() -> None:
    from weft.lib.contrib.gan.eval import sliced_wasserstein as sliced

    images = RANDOM.rand(2, 8, 8, 3).astype(np.float32)
    first, last = sliced._laplacian_pyramid(tf.constant(images), 2)
    back = first + sliced._blurred(sliced._spread(last), 4)
    found, small = value([back, last])
    np.testing.assert_allclose(found, images, rtol=1e-5)
    line = np.array([1, 4, 6, 4, 1]) / 16
    padded = np.pad(images, [(0, 0), (2, 2), (2, 2), (0, 0)], "reflect")
    window = np.einsum("byxc,y,x->bc", padded[:, 2:7, 4:9], line, line)
    np.testing.assert_allclose(small[:, 1, 2], window, rtol=1e-5)


# ---- pictures ----------------------------------------------------------------------------------


def test_a_grid() -> None:
    images = np.arange(6 * 2 * 3 * 1, dtype=np.float32).reshape(6, 2, 3, 1)
    found = ev.image_grid(tf.constant(images), (2, 3), (2, 3), 1)
    flat = ev.image_grid(tf.constant(images.reshape(6, -1)), (2, 3), (2, 3), 1)
    expected = np.block([[images[3 * i + j, :, :, 0] for j in range(3)] for i in range(2)])
    for each in value([found, flat]):
        np.testing.assert_array_equal(each[0, :, :, 0], expected)


def test_images_in_rows() -> None:
    images = 1 + np.arange(5 * 2 * 3 * 3, dtype=np.float32).reshape(5, 2, 3, 3)
    (found,) = value(ev.image_reshaper(tf.constant(images)))
    assert found.shape == (4, 9, 3)
    np.testing.assert_array_equal(found[2:, 3:6], images[4])
    assert not found[2:, 6:].any()
    (column,) = value(ev.image_reshaper(tf.unstack(tf.constant(images)), num_cols=1))
    np.testing.assert_array_equal(column, np.concatenate(images))


WRONG = [
    (lambda: ev.image_grid(tf.zeros([5, 12]), (2, 3), (2, 2), 3), "incompatible with minibatch"),
    (lambda: ev.image_grid(tf.zeros([6, 13]), (2, 3), (2, 2), 3), "Image shape and number"),
    (lambda: ev.image_grid(tf.zeros([6, 4, 3]), (2, 3), (2, 2), 3), "Unrecognized input tensor"),
    (lambda: ev.image_reshaper(tf.zeros([2, 4, 4, 2])), "only supports 1 or 3 channel images"),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_pictures(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# ---- summaries ---------------------------------------------------------------------------------


def generator(inputs: Any) -> Any:
    kept = tf.contrib.layers.l2_regularizer(0.5)
    return tf.layers.conv2d(inputs, 3, 1, name="made", kernel_regularizer=kept)


def discriminator(inputs: Any, _: Any) -> Any:
    return tf.layers.dense(tf.layers.flatten(inputs), 1, name="told")


def model() -> Any:
    return gan.gan_model(generator, discriminator, tf.zeros([16, 4, 4, 3]), tf.ones([16, 4, 4, 3]))


def names() -> list[str]:
    return [each.op.name for each in tf.get_collection(tf.GraphKeys.SUMMARIES)]


def run_summaries() -> None:
    value(tf.summary.merge_all())


def test_summaries_of_a_model() -> None:
    ev.add_gan_model_image_summaries(model())
    assert names()[:2] == ["real_data", "generated_data"]
    assert sum(name.startswith("generator_variables/") for name in names()) == 2
    assert sum(name.startswith("discriminator_variables/") for name in names()) == 2
    run_summaries()


def test_comparisons_and_losses() -> None:
    made = model()
    ev.add_image_comparison_summaries(made, num_comparisons=3, display_diffs=True)
    ev.add_regularization_loss_summaries(made)
    assert names() == [
        "image_comparison", "generator_regularization_loss", "discriminator_regularization_loss"
    ]  # fmt: skip
    picture = tf.get_default_graph().get_operation_by_name("image_comparison").inputs[1]
    assert picture.shape == (1, 16, 12, 3)
    run_summaries()


def test_summaries_of_a_cycle() -> None:
    images = tf.zeros([4, 4, 4, 3])
    cycle = gan.cyclegan_model(generator, discriminator, images, images + 1)
    ev.add_cyclegan_image_summaries(cycle)
    ev.add_regularization_loss_summaries(cycle)
    ev.add_gan_model_summaries(cycle)
    assert names()[0] == "x2y_image_comparison_summaries/image_comparison"
    scope = "cyclegan_x2y_regularization_loss_summaries"
    assert f"{scope}/generator_regularization_loss" in names()
    assert any(n.startswith("cyclegan_y2x_summaries/generator_variables/") for n in names())
    with pytest.raises(ValueError, match="use `add_cyclegan_image_summaries` instead"):
        ev.add_gan_model_image_summaries(cycle)
    with pytest.raises(ValueError, match="was not a CycleGANModel"):
        ev.add_cyclegan_image_summaries(model())
    run_summaries()


@pytest.mark.parametrize("differences", [False, True])
def test_summaries_of_a_model_of_domains(differences: bool) -> None:
    def to_domain(images: Any, targets: Any) -> Any:
        shift = tf.layers.dense(targets, 3, name="shift")
        return images + shift[:, None, None, :]

    with tf.variable_scope("Generator") as scope:
        to_domain(tf.zeros([1, 4, 4, 3]), tf.zeros([1, 2]))
    fields = dict.fromkeys(gan.StarGANModel._fields)
    fields.update(
        input_data=tf.zeros([3, 4, 4, 3]), input_data_domain_label=tf.zeros([3, 2]),
        generator_scope=scope, generator_fn=to_domain,
    )  # fmt: skip
    ev.add_stargan_image_summaries(gan.StarGANModel(**fields), 2, differences)
    assert names() == ["stargan_image_generation"]
    images = tf.get_default_graph().get_operation_by_name("stargan_image_generation").inputs[1]
    assert value(tf.shape(images)).tolist() == [2, 8 if differences else 4, 12, 3]
    run_summaries()
