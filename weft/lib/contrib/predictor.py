"""tf.contrib.predictor: a model as a function from arrays to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

from weft.client.session import Session
from weft.graph.graph import Graph
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import loader
from weft.lib.saved_model.files import names_of, read_saved_model
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.train.sessions.monitored_session import ChiefSessionCreator, MonitoredSession

DEFAULT_TAGS = "serve"


class Predictor:
    """Calls one signature of a model in a session of its own."""

    def __init__(
        self, graph: Graph, session: Any, inputs: Mapping[str, str], outputs: Mapping[str, str]
    ) -> None:
        self._graph, self._session = graph, session
        self._feed_tensors, self._fetch_tensors = (
            {key: graph.get_tensor_by_name(name) for key, name in names.items()}
            for names in (inputs, outputs)
        )

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def session(self) -> Any:
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """The inputs by key."""
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """The outputs by key."""
        return self._fetch_tensors

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and "
            f"fetch_tensors {self._fetch_tensors}"
        )

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs for these inputs; an input that is None is not fed."""
        expected = set(self._feed_tensors)
        unexpected = set(input_dict) - expected
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: {expected}"
            )
        feeds = {
            tensor: input_dict[key]
            for key, tensor in self._feed_tensors.items()
            if input_dict.get(key) is not None
        }
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)


# ---- from a SavedModel --------------------------------------------------------------------------


class SavedModelPredictor(Predictor):
    """A predictor of a model on disk."""


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Graph | None = None,
    config: Any = None,
) -> SavedModelPredictor:
    """A predictor of a signature of a SavedModel, or of the tensors that are named."""
    _check_arguments(signature_def_key, signature_def, input_names, output_names)
    tags = tags or DEFAULT_TAGS
    looked_up: AbstractContextManager[None] = nullcontext()
    if input_names is None or output_names is None:
        signature = signature_def
        if signature is None:
            key = signature_def_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
            signature = _signature_of(export_dir, tags, key)
            looked_up = names_of(f'The signature "{key}"', export_dir)
        input_names, output_names = _names(signature)
    graph = graph or Graph()
    with graph.as_default(), ExitStack() as on_failure:
        session = Session(config=config)
        on_failure.callback(session.close)
        loader.load(session, tags.split(","), export_dir)
        with looked_up:
            made = SavedModelPredictor(graph, session, input_names, output_names)
        on_failure.pop_all()
    return made


def _names(signature: Any) -> tuple[dict[str, str], ...]:
    sides = signature.inputs, signature.outputs
    return tuple({key: info.name for key, info in side.items()} for side in sides)


def _check_arguments(key: Any, signature: Any, input_names: Any, output_names: Any) -> None:
    if (input_names is None) != (output_names is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified."
        )
    if sum(each is not None for each in (key, signature, input_names)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR"
            "(input_names AND output_names)."
        )


def _meta_graph_of(export_dir: Any, tags: str) -> Any:
    wanted = {tag.strip() for tag in tags.split(",")}
    graphs = read_saved_model(export_dir).meta_graphs
    found = [each for each in graphs if set(each.meta_info_def.tags) == wanted]
    if not found:
        raise ValueError(f"Could not find MetaGraphDef with tags {tags}")
    return found[0]


def _signature_of(export_dir: Any, tags: str, key: str) -> Any:
    signatures = _meta_graph_of(export_dir, tags).signature_def
    if key in signatures:
        return signatures[key]
    alternative = f"default_input_alternative:{key}"
    if alternative in signatures:
        logging.warning('Could not find signature def "%s". Using "%s" instead', key, alternative)
        return signatures[alternative]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are {list(signatures)}. '
        f"Original error:\n'{key}'"
    )


# ---- from an Estimator --------------------------------------------------------------------------


class CoreEstimatorPredictor(Predictor):
    """A predictor of an Estimator, with the values of its latest checkpoint."""


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Any,
    output_key: str | None = None,
    graph: Graph | None = None,
    config: Any = None,
) -> CoreEstimatorPredictor:
    """A predictor of what `estimator` exports under `output_key`.

    Anything with `model_fn(features, labels, mode, config)`, `config` and `model_dir` will do.
    """
    graph = graph or Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        inputs, outputs = _names(_exported_signature(estimator, receiver, output_key))
        session = MonitoredSession(
            session_creator=ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
        )
    return CoreEstimatorPredictor(graph, session, inputs, outputs)


def _exported_signature(estimator: Any, receiver: Any, key: str | None) -> Any:
    key = key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
    spec = estimator.model_fn(receiver.features, None, "infer", estimator.config)
    output = spec.export_outputs.get(key)
    if output is None:
        raise KeyError(f"output_key must be one of {spec.export_outputs.keys()}; got {key}")
    return output.as_signature_def(receiver.receiver_tensors)
