"""The tuples that go from one stage of `tf.contrib.gan` to the next."""

from __future__ import annotations

from typing import Any, NamedTuple


class GANModel(NamedTuple):
    """A generator and a discriminator, with what each of them made."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


class InfoGANModel(NamedTuple):
    """A model whose discriminator also tells the distributions of a part of the noise."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any
    structured_generator_inputs: Any
    predicted_distributions: Any
    discriminator_and_aux_fn: Any


class ACGANModel(NamedTuple):
    """A model whose discriminator also tells the classes of the data."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any
    one_hot_labels: Any
    discriminator_real_classification_logits: Any
    discriminator_gen_classification_logits: Any


class CycleGANModel(NamedTuple):
    """Two models, each of which undoes the other's change."""

    model_x2y: Any
    model_y2x: Any
    reconstructed_x: Any
    reconstructed_y: Any


class StarGANModel(NamedTuple):
    """One generator between several domains of data."""

    input_data: Any
    input_data_domain_label: Any
    generated_data: Any
    generated_data_domain_target: Any
    reconstructed_data: Any
    discriminator_input_data_source_predication: Any
    discriminator_generated_data_source_predication: Any
    discriminator_input_data_domain_predication: Any
    discriminator_generated_data_domain_predication: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


class GANLoss(NamedTuple):
    """The losses of the generator and of the discriminator."""

    generator_loss: Any
    discriminator_loss: Any


class CycleGANLoss(NamedTuple):
    """The losses of the two models of a cycle."""

    loss_x2y: Any
    loss_y2x: Any


class GANTrainOps(NamedTuple):
    """The steps of the generator and of the discriminator, and of the count of both."""

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Any = ()


class GANTrainSteps(NamedTuple):
    """The number of steps of each side in one step of the game."""

    generator_train_steps: int
    discriminator_train_steps: int
