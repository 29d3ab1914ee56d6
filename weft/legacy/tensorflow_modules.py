"""Where the names of TensorFlow's internal modules live in weft: data, read by `tensorflow_import`.

Programs reach past TensorFlow's public API (`from tensorflow.python.ops import math_ops`). Nearly
every name found there is public under another path, so a module is a list of places to look in.
A place is `tf` or a namespace below it, a module or class of weft, or `raw` (operations by their
lower-case names, as the generated modules `gen_*_ops` have them).
"""

from __future__ import annotations

# A line without indent is a package (with places of its own, after a colon); the lines below it
# say "places: modules", and go on one indent deeper.
_TABLE = """
python: tf
    tf.train tf.errors tf weft.storage.events weft.legacy.internals.pywrap: pywrap_tensorflow
    weft.legacy.internals.tf2: tf2
    tf.test: _pywrap_util_port
    tf: pywrap_tensorflow_internal
python.client
    tf weft.client.session weft.client.fetches weft.legacy.internals.flow: session
    weft.client.timeline: timeline
    weft.legacy.internals.device_lib: device_lib
    tf: client_lib
python.compiler
python.compiler.tensorrt
    tf.contrib.tensorrt: trt_convert
python.compiler.xla
    tf.contrib.compiler.xla: xla
    tf.contrib.compiler.jit: jit
python.compat
    tf.compat: compat
    tf: v2_compat
python.data: tf.data
python.autograph: tf.autograph
python.autograph.converters
    : break_statements continue_statements return_statements
python.autograph.core
    weft.legacy.internals.autograph: converter
    : naming
python.autograph.impl
    tf.autograph.experimental tf.autograph: api
python.autograph.operators
    tf.autograph: control_flow data_structures logical py_builtins
python.autograph.pyct
    weft.legacy.internals.autograph: transformer
    : anno compiler inspect_utils parser qual_names templates
python.autograph.pyct.common_transformers
    : anf
python.data.ops
    tf.data tf.data.experimental tf: dataset_ops iterator_ops optional_ops readers
        multi_device_iterator_ops
python.data.util
    tf.nest tf.contrib.framework.nest weft.core.nest weft.legacy.internals.nest: nest
    tf.data.experimental: structure
python.data.experimental: tf.data.experimental
python.data.experimental.ops
    tf.data.experimental tf.data: batching cardinality counter enumerate_ops error_ops
        get_single_element grouping interleave_ops iterator_ops map_defun matching_files
        optimization optimization_options parsing_ops prefetching_ops random_ops readers resampling
        scan_ops shuffle_ops stats_ops stats_options take_while_ops threading_options threadpool
        unique writers
python.debug: weft.lib.debug
python.debug.cli
    weft.lib.debug.analyzer: analyzer_cli
    weft.lib.debug.configuration: cli_config
    weft.lib.debug.shared: cli_shared
    weft.lib.debug.words: command_parser
    weft.lib.debug.text weft.lib.debug.commands: debugger_cli_common
    weft.lib.debug.expressions: evaluator
    weft.lib.debug.offline: offline_analyzer
    weft.lib.debug.profile_analyzer: profile_analyzer_cli
    weft.lib.debug.tensor_text: tensor_format
    weft.lib.debug.prompt: base_ui
    weft.lib.debug.ui: readline_ui ui_factory
    weft.lib.debug.screen: curses_ui
python.debug.lib
    weft.lib.debug.names: common
    weft.lib.debug.dump: debug_data
    weft.lib.debug.gradients: debug_gradients
    weft.lib.debug.graphs weft.lib.debug.names: debug_graphs
    weft.lib.debug.watching: debug_utils
    weft.lib.debug.server: grpc_debug_server
    weft.lib.debug.profile_data: profiling
    weft.lib.debug.tracebacks: source_remote
    weft.lib.debug.sources: source_utils
python.debug.wrappers
    weft.lib.debug.dumping: dumping_wrapper grpc_wrapper
    weft.lib.debug.sessions: framework
    weft.lib.debug.hooks weft.lib.debug.dumping: hooks
    weft.lib.debug.local: local_cli_wrapper
python.distribute
    tf.contrib.all_reduce: all_reduce
    weft.legacy.internals.summary_op_util: summary_op_util
    weft.lib.distribute.context: distribution_strategy_context
    weft.lib.distribute.cross_device_ops: cross_device_ops
    weft.lib.distribute.device_util: device_util
    weft.lib.distribute.mirrored: mirrored_strategy
    weft.lib.distribute.one_device: one_device_strategy
    weft.lib.distribute.parameter_server: central_storage_strategy parameter_server_strategy
    weft.ops.state.reduce_op: reduce_util
    weft.lib.distribute.values weft.lib.distribute.variables weft.lib.distribute.aggregating:
        values
    tf.distribute: distribute_lib
python.distribute.cluster_resolver: tf.contrib.cluster_resolver
    tf.contrib.cluster_resolver: cluster_resolver tfconfig_cluster_resolver
python.eager
    tf weft.lib.functions.polymorphic weft.lib.functions.wrap: backprop def_function
        function wrap_function
    tf weft.lib.contrib.eager.modes weft.legacy.internals.eager: context
    tf weft.legacy.internals.eager: execute tape
    weft.legacy.internals.monitoring: monitoring
    weft.lib.summary.profile: profiler
python.feature_column
    tf.feature_column weft.legacy.internal_columns: feature_column feature_column_v2
        feature_column_lib sequence_feature_column dense_features dense_features_v2
    weft.lib.feature_column.serialization: serialization
python.framework
    tf weft.graph.graph weft.graph.convert weft.graph.op_def weft.legacy.internals.ops
        weft.legacy.internals.graphs.tensor_types: ops
    tf weft.core.dtypes weft.graph.convert: constant_op dtypes importer
        indexed_slices kernels load_library random_seed sparse_tensor
        tensor_conversion_registry versions framework_lib
    weft.legacy.internals.graphs tf: composite_tensor tensor_like
    tf weft.core.shapes weft.legacy.internals.shapes: common_shapes
    weft.legacy.internals.graphs.op_def_registry: op_def_registry
    tf weft.graph.type_spec weft.legacy.internals.specs: tensor_spec type_spec
    tf weft.core.shapes: tensor_shape
    weft.ops.functions.defun: function
    weft.ops.functions.func_graph: func_graph
    tf weft.core.device_name: device device_spec
    tf weft.graph.constant_value: tensor_util
    tf.errors: errors errors_impl
    tf.graph_util: graph_util graph_util_impl
    tf.io tf.train: graph_io
    tf.train weft.graph.meta_graph: meta_graph
    tf.config tf.config.experimental tf.config.threading: config
    tf.contrib.framework: smart_cond
    weft.legacy.internals.tests tf.test: test_util
    tf.graph_util: convert_to_constants
python.grappler
    tf: tf_optimizer
python.layers
    tf.layers: base convolutional core layers normalization pooling
    weft.legacy.internals.smart weft.legacy.internals.windows
        weft.legacy.internals.graphs.reachable tf.layers: utils
python.keras: tf.keras
    weft.lib.keras.backend.config: backend_config
    tf.keras.activations weft.lib.keras.activations: activations
    tf.keras.backend weft.lib.keras.backend: backend
    tf.keras.callbacks weft.lib.keras.callbacks: callbacks callbacks_v1
    tf.keras.constraints weft.lib.keras.constraints: constraints
    tf.keras.initializers weft.lib.keras.initializers: initializers
    weft.legacy.internals.keras_modes: keras_parameterized
    tf.keras.losses weft.lib.keras.losses: losses
    tf.keras.metrics weft.lib.keras.metrics: metrics
    tf.keras.models weft.lib.keras.models: models
    tf.keras.optimizers weft.lib.keras.optimizers: optimizers
    tf.keras.regularizers weft.lib.keras.regularizers: regularizers
    weft.legacy.internals.keras_layer_test weft.legacy.internals.keras_models
        weft.legacy.internals.keras_modes: testing_utils
python.keras.engine: weft.lib.keras.models tf.keras.utils
    weft.lib.keras.engine.base_layer weft.lib.keras.engine.add_layers
        weft.lib.keras.engine.naming: base_layer
    weft.lib.keras.engine.layer_dtype weft.lib.keras.engine.base_layer: base_layer_utils
    weft.lib.keras.engine.input_layer: input_layer
    weft.lib.keras.engine.input_spec: input_spec
    weft.lib.keras.engine.network weft.lib.keras.engine.topology: network
    weft.lib.keras.engine.node: node
    weft.lib.keras.saving: saving
    weft.lib.keras.engine.sequential: sequential
    weft.lib.keras.engine.training: training
    weft.lib.keras.engine.training_data weft.lib.keras.engine.training_losses: training_utils
python.keras.layers: tf.keras.layers
    tf.keras.layers weft.lib.keras.layers: advanced_activations convolutional
        convolutional_recurrent core cudnn_recurrent dense_attention embeddings kernelized local
        merge noise normalization pooling recurrent rnn_cell_wrapper_v2 serialization wrappers
    weft.lib.keras.layers.normalization_v2 tf.keras.layers: normalization_v2
    weft.lib.keras.layers.recurrent_v2 tf.keras.layers: recurrent_v2
python.keras.mixed_precision
python.keras.mixed_precision.experimental: tf.keras.mixed_precision.experimental
    weft.lib.keras.mixed_precision.autocast_variable: autocast_variable
    weft.lib.keras.mixed_precision.loss_scale_optimizer: loss_scale_optimizer
    weft.lib.keras.mixed_precision.policy: policy
python.keras.optimizer_v2: tf.keras.optimizers
    tf.keras.optimizers weft.lib.keras.optimizers: adadelta adagrad adam adamax ftrl
        gradient_descent nadam rmsprop
    tf.keras.optimizers.schedules tf.keras.experimental: learning_rate_schedule
    tf.keras.optimizers weft.lib.keras.optimizers.optimizer_v2
        weft.legacy.internals.keras.optimizer_v2: optimizer_v2
python.keras.saving: weft.lib.keras.saving
    weft.lib.keras.saving.save tf.keras.models: save
    weft.lib.keras.saving.model_config: model_config
    weft.lib.keras.saving.hdf5 weft.lib.keras.saving.hdf5_model
        weft.legacy.internals.keras.hdf5_format: hdf5_format
python.keras.utils: tf.keras.utils
    tf.keras.utils weft.lib.keras.utils.generic: generic_utils
    tf.keras.utils weft.lib.keras.utils.data_utils: data_utils
    tf.keras.utils weft.lib.keras.utils.io_utils: io_utils
    tf.keras.utils weft.lib.keras.utils.layer_utils weft.lib.keras.engine.topology: layer_utils
    weft.lib.keras.losses.weighting: losses_utils
    tf.keras.utils: multi_gpu_utils np_utils vis_utils
    weft.legacy.internals.windows weft.lib.keras.layers.windows: conv_utils
    weft.legacy.internals.smart weft.legacy.internals.graphs.reachable
        weft.legacy.internals.keras weft.lib.keras.engine.network_shapes: tf_utils
python.lib
python.lib.io
    tf.gfile tf.io.gfile weft.storage.file_io: file_io
    tf.io tf.python_io: tf_record python_io
python.module
    tf: module
python.ops: tf weft.graph.graph weft.graph.convert weft.legacy.internals.ops
    tf tf.quantization weft.ops.array.array: array_ops
    tf weft.ops.functions.function_calls: functional_ops
    weft.ops.scores.confusion_matrix tf: confusion_matrix
    tf tf.math: batch_ops critical_section_ops custom_gradient
        histogram_ops logging_ops manip_ops map_fn numerics script_ops session_ops sort_ops
        template tensor_array_ops unconnected_gradients
    tf.bitwise: bitwise_ops
    tf.nn: candidate_sampling_ops
    tf tf.debugging: check_ops
    tf: clip_ops
    weft.legacy.internals.collectives: collective_ops
    tf weft.ops.control.control_flow weft.ops.control.control weft.ops.control.control_nodes
        raw: control_flow_ops
    tf weft.legacy.internals.graphs.control_flow_util: control_flow_util
    tf: control_flow_v2_toggles
    tf.nn: ctc_ops
    tf tf.io tf.contrib.staging: data_flow_ops
    weft.legacy.internals.lists raw: list_ops
    tf.contrib.nccl: nccl_ops
    tf.contrib.graph_editor: op_selector
    tf.nn: embedding_ops
    tf.test: gradient_checker
    weft.lib.testing.function_gradients: gradient_checker_v2
    weft.legacy.internals.tests.spectral: spectral_ops_test_util
    tf: gradients gradients_impl gradients_util
    : array_grad control_flow_grad data_flow_grad image_grad linalg_grad math_grad nn_grad
        sparse_grad state_grad tensor_array_grad
    tf.image tf.io: image_ops image_ops_impl
    tf tf.initializers: init_ops initializers_ns
    tf.compat.v2.initializers tf: init_ops_v2
    weft.legacy.internals.flow: cond_v2 while_v2
    weft.ops.math.inplace tf raw: inplace_ops
    tf tf.io raw: io_ops
    tf tf.linalg: linalg_ops linalg_ops_impl
    tf tf.lookup tf.contrib.lookup tf.lookup.experimental: lookup_ops
    tf tf.math tf.linalg weft.ops.math.math: math_ops special_math_ops
    tf.metrics weft.ops.scores.metrics_base: metrics metrics_impl
    tf.nn tf weft.ops.nn.activation_nodes weft.legacy.internals.convolution: nn nn_impl nn_ops
    tf tf.io: parsing_ops
    tf: partitioned_variables
    tf tf.random weft.ops.random.random: random_ops
    tf weft.ops.state.resource_variable weft.ops.state.variables raw: resource_variable_ops
    weft.legacy.internals.graphs.resources weft.lib.train.sessions.scaffold: resources
    tf.nn tf: rnn
    tf.nn.rnn_cell tf.nn weft.legacy.internals.rnn_cell_impl weft.lib.rnn.cells:
        rnn_cell rnn_cell_impl
    tf.sets: sets sets_impl
    tf tf.sparse: sparse_ops
    tf: standard_ops
    tf raw: state_ops
    tf.random: stateless_random_ops
    tf tf.strings: string_ops
    weft.lib.summary.summary weft.legacy.internals.summary_op_util: summary_op_util
    weft.lib.summary.summary_ops_v2 weft.lib.summary.event_writers weft.lib.summary.write
        weft.lib.summary.recording weft.lib.summary.traces: summary_ops_v2
    tf weft.ops.state.variable_scope: variable_scope
    tf weft.ops.state.variables weft.ops.state.partitioned_variable: variables
    weft.ops.scores.weights tf: weights_broadcast_ops
    raw: gen_array_ops gen_audio_ops gen_batch_ops gen_bitwise_ops gen_boosted_trees_ops
        gen_candidate_sampling_ops gen_checkpoint_ops gen_clustering_ops gen_collective_ops
        gen_control_flow_ops gen_ctc_ops gen_cudnn_rnn_ops gen_data_flow_ops gen_dataset_ops
        gen_experimental_dataset_ops gen_functional_ops gen_image_ops gen_io_ops gen_linalg_ops
        gen_list_ops gen_logging_ops gen_lookup_ops gen_manip_ops gen_math_ops gen_nn_ops
        gen_nccl_ops gen_parsing_ops gen_random_ops gen_resource_variable_ops gen_rnn_ops
        gen_script_ops
        gen_sdca_ops gen_set_ops gen_sparse_ops gen_spectral_ops gen_state_ops
        gen_stateless_random_ops gen_string_ops gen_summary_ops gen_user_ops
python.ops.distributions
    tf.distributions tf.contrib.distributions: bernoulli beta categorical dirichlet
        dirichlet_multinomial distribution distributions exponential gamma kullback_leibler laplace
        multinomial normal student_t uniform
    weft.legacy.internals.seeds tf.contrib.distributions: util
python.ops.linalg
    tf.linalg: linalg linalg_impl linear_operator linear_operator_adjoint
        linear_operator_block_diag linear_operator_circulant linear_operator_composition
        linear_operator_diag linear_operator_full_matrix linear_operator_householder
        linear_operator_identity linear_operator_inversion linear_operator_kronecker
        linear_operator_low_rank_update linear_operator_lower_triangular linear_operator_toeplitz
        linear_operator_zeros
    tf.linalg weft.lib.linalg.addition: linear_operator_addition
    weft.legacy.internals.matrices: linear_operator_util
python.ops.losses
    tf.losses: losses losses_impl util loss_reduction
python.ops.ragged
    tf.ragged tf: ragged_tensor ragged_array_ops ragged_concat_ops ragged_factory_ops
        ragged_functional_ops ragged_math_ops ragged_tensor_value segment_id_ops
    tf.strings tf: ragged_string_ops
python.ops.signal
    tf.signal: dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops signal spectral_ops
        window_ops
python.platform
    tf.app: app
    weft.legacy.internals.build_info: build_info
    tf.flags: flags
    tf.gfile: gfile
    tf.test weft.legacy.internals.test: googletest test
    tf.test: benchmark
    tf.resource_loader: resource_loader
    tf.sysconfig: sysconfig
    tf.logging weft.lib.platform.tf_logging: tf_logging
python.profiler
    tf.profiler: model_analyzer option_builder profiler tfprof_logger
    weft.lib.profiler.context: profile_context
python.saved_model
    tf.saved_model.builder tf.saved_model: builder builder_impl
    weft.legacy.internals.structures weft.lib.saved_model.structure: nested_structure_coder
    tf.saved_model.constants tf.saved_model: constants
    tf.saved_model.loader tf.saved_model: loader loader_impl
    tf.saved_model.main_op tf.saved_model: main_op main_op_impl
    tf.saved_model.signature_constants tf.saved_model: signature_constants
    tf.saved_model.signature_def_utils tf.saved_model: signature_def_utils signature_def_utils_impl
    tf.saved_model.tag_constants tf.saved_model: tag_constants
    tf.saved_model.utils tf.saved_model: utils utils_impl
    tf.saved_model: load save saved_model simple_save
python.summary
    tf.summary: summary
    tf.train: summary_iterator
    weft.lib.summary.plugin_asset: plugin_asset
python.summary.writer
    tf.summary: writer writer_cache
    tf.summary weft.storage.event_file_writer: event_file_writer
python.tools
    weft.lib.tools.inspect_checkpoint: inspect_checkpoint
    weft.lib.tools.freeze_graph tf.graph_util: freeze_graph
    weft.lib.tools.optimize_for_inference tf.graph_util: optimize_for_inference
        optimize_for_inference_lib
    weft.lib.tools.strip_unused tf.graph_util: strip_unused strip_unused_lib
    weft.cli.saved_model_cli: saved_model_cli
    weft.lib.saved_model.files: saved_model_utils
python.training
    weft.protos.checkpoint: checkpoint_state_pb2
    tf.train weft.lib.train.optimizers.moving_averages: moving_averages
    tf.train weft.lib.train.optimizers.optimizer: optimizer
    tf.train weft.lib.train.checkpoint.management: checkpoint_management
    tf.train weft.lib.train.checkpoint.remap: checkpoint_ops
    tf.train weft.lib.train.checkpoint.inspection: checkpoint_utils
    tf.train weft.lib.train.checkpoint.saver weft.lib.train.checkpoint.saver_builder: saver
    tf.train weft.lib.train.checkpoint.warm_start: warm_starting_util
    tf.train weft.lib.train.cluster.device_setter: device_setter
    tf.train weft.lib.train.evaluation: evaluation
    tf.train tf.estimator tf.io: adadelta adagrad adagrad_da adam basic_loops
        basic_session_run_hooks coordinator ftrl gradient_descent input
        learning_rate_decay momentum
        monitored_session proximal_adagrad proximal_gradient_descent queue_runner
        queue_runner_impl rmsprop server_lib session_manager session_run_hook slot_creator
        summary_io supervisor sync_replicas_optimizer training training_util
    raw: training_ops gen_training_ops
python.training.saving
    tf.train weft.lib.train.checkpoint.saver_saveable: saveable_object saveable_object_util
python.training.tracking
    tf.train weft.lib.train.checkpoint.objects weft.lib.train.checkpoint.checkpoint
        weft.core.no_dependency weft.core.tracks weft.lib.keras.engine.tracking:
        base data_structures tracking util
python.user_ops
    tf.user_ops: user_ops
python.util
    weft.legacy.internals.all_util: all_util
    tf.compat: compat
    tf.compat: compat_internal
    weft.legacy.internals.deprecation: deprecation
    weft.legacy.internals.function_utils: function_utils
    weft.legacy.internals.lazy_loader: lazy_loader
    weft.legacy.internals.module_wrapper: deprecation_wrapper module_wrapper
    tf.nest tf.contrib.framework.nest weft.core.nest weft.legacy.internals.nest: nest
    weft.legacy.internals.keras.serialization: serialization
    weft.legacy.internals.tf_contextlib: tf_contextlib
    weft.legacy.internals.tf_decorator: tf_decorator
    weft.legacy.internals.tf_export: tf_export
    weft.legacy.internals.tf_inspect inspect: tf_inspect
examples.tutorials.mnist
    weft.lib.contrib.learn.datasets.mnist: input_data
    weft.legacy.mnist_model: mnist
examples.tutorials
examples
compat: tf.compat
contrib: tf.contrib
core
core.framework
    weft.protos.cluster: device_attributes_pb2
core.protobuf
    weft.protos.server: tensorflow_server_pb2
    weft.protos.saved_model: saved_model_pb2
core.example
    weft.protos.example: example_pb2 feature_pb2
core.util
contrib.all_reduce.python
    tf.contrib.all_reduce: all_reduce
contrib.checkpoint.python: tf.contrib.checkpoint
    tf.contrib.checkpoint: containers python_state
contrib.bigtable.python
contrib.bigtable.python.ops
    tf.contrib.bigtable: bigtable_api
contrib.cloud.python
contrib.cloud.python.ops
    tf.contrib.cloud: bigquery_reader_ops gcs_config_ops
contrib.ffmpeg: tf.contrib.ffmpeg
    tf.contrib.ffmpeg: ffmpeg_ops
contrib.ffmpeg.ops
    raw: gen_decode_audio_op_py gen_decode_video_op_py gen_encode_audio_op_py
contrib.fused_conv.python
contrib.fused_conv.python.ops
    tf.contrib.fused_conv: fused_conv2d_bias_activation_op
contrib.hadoop.python
contrib.hadoop.python.ops
    tf.contrib.hadoop: hadoop_dataset_ops
contrib.ignite.python
contrib.ignite.python.ops
    tf.contrib.ignite: ignite_dataset_ops
contrib.kafka.python
contrib.kafka.python.ops
    tf.contrib.kafka: kafka_dataset_ops
contrib.kinesis.python
contrib.kinesis.python.ops
    tf.contrib.kinesis: kinesis_dataset_ops
contrib.libsvm.python
contrib.libsvm.python.ops
    tf.contrib.libsvm: libsvm_ops
contrib.nearest_neighbor.python
contrib.nearest_neighbor.python.ops
    tf.contrib.nearest_neighbor: nearest_neighbor_ops
contrib.receptive_field: tf.contrib.receptive_field
    tf.contrib.receptive_field: receptive_field_api
contrib.receptive_field.python
contrib.receptive_field.python.util
    weft.lib.contrib.receptive_field: graph_compute_order parse_layer_parameters receptive_field
contrib.rate: tf.contrib.rate
    tf.contrib.rate: rate
contrib.rpc.python
contrib.rpc.python.ops
    tf.contrib.rpc: rpc_op
contrib.saved_model.python
contrib.saved_model.python.saved_model
    tf.contrib.saved_model: keras_saved_model
    weft.lib.saved_model.files: reader
contrib.specs.python: tf.contrib.specs
    weft.lib.contrib.specs.evaluation: specs
    weft.lib.contrib.specs.composing: specs_lib
    weft.lib.contrib.specs.operations: specs_ops
    weft.lib.contrib.specs.parameters: params_ops
    weft.lib.contrib.specs.pictures: summaries
contrib.text.python
contrib.text.python.ops: tf.contrib.text
    tf.contrib.text: skip_gram_ops
contrib.boosted_trees.proto
    weft.protos.contrib_trees: learner_pb2 tree_config_pb2
contrib.boosted_trees.estimator_batch
    weft.lib.contrib.boosted_trees.estimators: estimator
    weft.lib.contrib.boosted_trees.dnn_combined: dnn_tree_combined_estimator
    weft.lib.contrib.boosted_trees.distillation_loss: distillation_loss
    weft.lib.contrib.boosted_trees.model: model
    weft.lib.contrib.boosted_trees.trainer_hooks: trainer_hooks
contrib.boosted_trees.python
contrib.boosted_trees.python.utils
    weft.lib.contrib.boosted_trees.losses: losses
contrib.constrained_optimization.python
    tf.contrib.constrained_optimization: candidates constrained_minimization_problem
        constrained_optimizer
    weft.lib.contrib.constrained_optimization.players: external_regret_optimizer
        swap_regret_optimizer
contrib.cudnn_rnn.python
contrib.cudnn_rnn.python.layers: tf.contrib.cudnn_rnn
    tf.contrib.cudnn_rnn: cudnn_rnn
contrib.cudnn_rnn.python.ops
    weft.lib.contrib.cudnn_rnn.opaque tf.contrib.cudnn_rnn raw: cudnn_rnn_ops
contrib.crf.python
contrib.crf.python.ops
    tf.contrib.crf: crf
contrib.distributions.python
contrib.distributions.python.ops
    tf.contrib.distributions: bernoulli beta bijectors binomial categorical chi2 deterministic
        dirichlet dirichlet_multinomial distribution exponential gamma geometric independent
        inverse_gamma kullback_leibler kumaraswamy laplace logistic mixture mixture_same_family
        multinomial mvn_diag mvn_full_covariance mvn_tril normal onehot_categorical poisson
        relaxed_bernoulli relaxed_onehot_categorical student_t transformed_distribution uniform
        autoregressive batch_reshape cauchy conditional_distribution half_normal gumbel
        conditional_transformed_distribution moving_stats mvn_diag_plus_low_rank
        mvn_linear_operator negative_binomial normal_conjugate_posteriors poisson_lognormal
        quantized_distribution sample_stats seed_stream sinh_arcsinh wishart
        vector_exponential_diag vector_exponential_linear_operator vector_laplace_diag
        vector_laplace_linear_operator vector_sinh_arcsinh_diag
    weft.lib.contrib.distributions.scales weft.legacy.internals.seeds tf.contrib.distributions:
        distribution_util
contrib.distributions.python.ops.bijectors: tf.contrib.distributions.bijectors
    tf.contrib.distributions.bijectors: absolute_value affine affine_linear_operator affine_scalar
        batch_normalization chain cholesky_outer_product conditional_bijector exp fill_triangular
        gumbel inline invert kumaraswamy masked_autoregressive matrix_inverse_tril ordered permute
        power_transform real_nvp reshape scale_tril sigmoid sinh_arcsinh softmax_centered softplus
        softsign square transform_diagonal weibull
contrib.cluster_resolver.python
contrib.cluster_resolver.python.training: tf.contrib.cluster_resolver
    tf.contrib.cluster_resolver: cluster_resolver tfconfig_cluster_resolver tpu_cluster_resolver
contrib.distribute.python: tf.contrib.distribute
    tf.contrib.distribute: collective_all_reduce_strategy mirrored_strategy one_device_strategy
        parameter_server_strategy
contrib.eager.python
    tf.contrib.eager: tfe
    tf.contrib.eager.metrics: metrics metrics_impl
    tf.contrib.eager: datasets network saver
contrib.factorization.python
contrib.factorization.python.ops
    tf.contrib.factorization raw: clustering_ops
    tf.contrib.factorization: factorization_ops gmm kmeans wals
    weft.lib.contrib.factorization.mixtures: gmm_ops
    raw: gen_factorization_ops
contrib.framework.python
contrib.framework.python.framework: tf.contrib.framework
    tf.contrib.framework: checkpoint_utils experimental graph_util tensor_util
contrib.framework.python.ops: tf.contrib.framework
    raw: audio_ops gen_audio_ops gen_variable_ops
    tf.contrib.framework: prettyprint_ops
    tf.contrib.framework tf.train tf: variables arg_scope checkpoint_ops ops script_ops sort_ops
contrib.gan.python: tf.contrib.gan
    tf.contrib.gan: namedtuples train
contrib.gan.python.losses: tf.contrib.gan.losses
contrib.gan.python.losses.python
    tf.contrib.gan.losses.wargs: losses_impl losses_wargs
    tf.contrib.gan.losses: tuple_losses tuple_losses_impl
contrib.gan.python.eval: tf.contrib.gan.eval
contrib.gan.python.eval.python
    weft.lib.contrib.gan.eval.classifier_metrics weft.lib.contrib.gan.eval.classifiers:
        classifier_metrics classifier_metrics_impl
    weft.lib.contrib.gan.eval.eval_utils: eval_utils eval_utils_impl
    weft.lib.contrib.gan.eval.sliced_wasserstein: sliced_wasserstein sliced_wasserstein_impl
    weft.lib.contrib.gan.eval.summaries: summaries summaries_impl
contrib.gan.python.features: tf.contrib.gan.features
contrib.gan.python.estimator: tf.contrib.gan.estimator
contrib.grid_rnn.python
contrib.grid_rnn.python.ops
    tf.contrib.grid_rnn: grid_rnn_cell
contrib.image.python
contrib.image.python.ops
    tf.contrib.image: dense_image_warp distort_image_ops image_ops interpolate_spline
        sparse_image_warp
contrib.image.ops
    raw: gen_distort_image_ops gen_image_ops
contrib.kernel_methods.python
    tf.contrib.kernel_methods: kernel_estimators losses
contrib.kernel_methods.python.mappers
    weft.lib.contrib.kernel_methods.mappers: dense_kernel_mapper random_fourier_features
contrib.linear_optimizer.python
    tf.contrib.linear_optimizer: sdca_optimizer
contrib.linear_optimizer.python.ops
    tf.contrib.linear_optimizer: sdca_ops sparse_feature_column
contrib.labeled_tensor.python
contrib.labeled_tensor.python.ops: tf.contrib.labeled_tensor
    tf.contrib.labeled_tensor weft.lib.contrib.labeled_tensor.core: core
    tf.contrib.labeled_tensor: io_ops ops sugar
    tf.contrib.labeled_tensor.nn: nn
contrib.layers.python: tf.contrib.layers
contrib.layers.python.layers: tf.contrib.layers
    tf.contrib.layers: embedding_ops encoders feature_column feature_column_ops initializers layers
        normalization optimizers regularizers rev_block_lib summaries
    weft.lib.contrib.layers.target_column: target_column
    tf.contrib.layers.utils weft.legacy.internals.smart: utils
contrib.layers.python.ops
    tf.contrib.layers: bucketization_op sparse_ops
    weft.ops.sparse.feature_cross: sparse_feature_cross_op
contrib.learn: tf.contrib.learn
contrib.learn.python: tf.contrib.learn
contrib.learn.python.learn: tf.contrib.learn
    tf.contrib.learn tf.train: basic_session_run_hooks evaluable export_strategy monitored_session
        session_run_hook trainable
    tf.contrib.learn.learn_runner: learn_runner
    tf.contrib.learn: metric_spec run_config experiment
    tf.contrib.learn.monitors: monitors
    tf.contrib.learn.models: models
contrib.learn.python.learn.datasets: tf.contrib.learn.datasets
    weft.lib.contrib.learn.datasets.mnist: mnist
    weft.lib.contrib.learn.datasets.base: base
contrib.learn.python.learn.estimators: tf.contrib.learn
    tf.contrib.learn: estimator kmeans logistic_regressor model_fn run_config
    tf.contrib.learn weft.lib.contrib.learn.networks: dnn dnn_linear_combined linear svm
    weft.lib.contrib.learn.dynamic_rnn_estimator weft.lib.contrib.learn.rnn_common:
        dynamic_rnn_estimator
    weft.lib.contrib.learn.head: head
    weft.lib.contrib.learn.rnn_common: rnn_common
    weft.lib.contrib.learn.scores: _sklearn
    weft.lib.contrib.learn.keys: constants metric_key prediction_key
contrib.learn.python.learn.utils: tf.contrib.learn.utils
    tf.contrib.learn.utils.input_fn_utils: input_fn_utils
    tf.contrib.learn.utils.saved_model_export_utils: saved_model_export_utils
contrib.learn.python.learn.preprocessing
    tf.contrib.learn.preprocessing: categorical categorical_vocabulary text
contrib.legacy_seq2seq.python
contrib.legacy_seq2seq.python.ops
    tf.contrib.legacy_seq2seq: seq2seq
contrib.losses.python: tf.contrib.losses
contrib.losses.python.losses: tf.contrib.losses
    tf.contrib.losses: loss_ops
contrib.losses.python.metric_learning: tf.contrib.losses.metric_learning
    tf.contrib.losses.metric_learning: metric_loss_ops
contrib.metrics.python
contrib.metrics.python.metrics
    tf.contrib.metrics: classification
contrib.metrics.python.ops
    tf.contrib.metrics: confusion_matrix_ops histogram_ops metric_ops set_ops
contrib.model_pruning.python
    weft.lib.contrib.model_pruning.pruning weft.lib.contrib.model_pruning.masks: pruning
    tf.contrib.model_pruning: learning strip_pruning_vars_lib
contrib.model_pruning.python.layers
    weft.lib.contrib.model_pruning.layers weft.lib.contrib.model_pruning.masks: core_layers layers
        rnn_cells
contrib.nn.python
contrib.nn.python.ops: tf.contrib.nn
    tf.contrib.nn: alpha_dropout cross_entropy fwd_gradients sampling_ops scaled_softplus
contrib.optimizer_v2: tf.contrib.optimizer_v2
    tf.contrib.optimizer_v2: adadelta adagrad adam gradient_descent momentum optimizer_v2
        optimizer_v2_symbols rmsprop
contrib.opt.python
contrib.opt.python.training: tf.contrib.opt
    tf.contrib.opt: adam_gs_optimizer adamax addsign drop_stale_gradient_optimizer
        external_optimizer ggt lars_optimizer lazy_adam_gs_optimizer lazy_adam_optimizer
        moving_average_optimizer multitask_optimizer_wrapper nadam_optimizer powersign
        reg_adagrad_optimizer shampoo sign_decay variable_clipping_optimizer
        weight_decay_optimizers
    tf.contrib.opt weft.lib.contrib.opt.workers: agn_optimizer elastic_average_optimizer
        model_average_optimizer
    weft.lib.contrib.opt.matrix_functions: matrix_functions
contrib.quantize.python
    weft.lib.contrib.quantize.common: common input_to_ops
    weft.lib.contrib.quantize.fold_batch_norms: fold_batch_norms
    weft.lib.contrib.quantize.graph_matcher: graph_matcher
    weft.lib.contrib.quantize.quant_ops: quant_ops
    weft.lib.contrib.quantize.quantize: quantize
    tf.contrib.quantize: quantize_graph
contrib.input_pipeline.python
contrib.input_pipeline.python.ops
    tf.contrib.input_pipeline: input_pipeline_ops
contrib.layers.ops
    raw: gen_sparse_feature_cross_op
contrib.resampler.ops
    raw: gen_resampler_ops
contrib.seq2seq.ops
    raw: gen_beam_search_ops
contrib.memory_stats.python
contrib.memory_stats.python.ops
    tf.contrib.memory_stats: memory_stats_ops
contrib.periodic_resample.python
contrib.periodic_resample.python.ops
    tf.contrib.periodic_resample: periodic_resample_op
contrib.reduce_slice_ops.python
contrib.reduce_slice_ops.python.ops
    tf.contrib.reduce_slice_ops: reduce_slice_ops
contrib.recurrent.python
    tf.contrib.recurrent: recurrent_api
contrib.recurrent.python.ops
    tf.contrib.recurrent: recurrent functional_rnn
contrib.rnn.python
contrib.rnn.python.ops: tf.contrib.rnn
    tf.contrib.rnn tf.nn.rnn_cell tf.nn: core_rnn core_rnn_cell core_rnn_cell_impl fused_rnn_cell
        gru_ops lstm_ops rnn rnn_cell
contrib.seq2seq.python
contrib.seq2seq.python.ops: tf.contrib.seq2seq
    tf.contrib.seq2seq: attention_wrapper basic_decoder beam_search_decoder beam_search_ops decoder
        helper loss sampler
contrib.session_bundle: tf.contrib.session_bundle
    weft.lib.contrib.session_bundle.bundle_shim: bundle_shim
    weft.lib.contrib.session_bundle.constants: constants
    weft.lib.contrib.session_bundle.exporter: exporter
    weft.lib.contrib.session_bundle.gc: gc
    weft.lib.contrib.session_bundle.session_bundle: session_bundle
    weft.protos.manifest: manifest_pb2
contrib.slim.python
contrib.slim.python.slim: tf.contrib.slim
    tf.contrib.slim.evaluation: evaluation
    tf.contrib.slim.learning: learning
    tf.contrib.slim.model_analyzer: model_analyzer
    tf.contrib.slim.queues: queues
    tf.contrib.slim.summaries: summaries
contrib.slim.python.slim.data
    tf.contrib.slim.data_decoder: data_decoder
    tf.contrib.slim.data_provider: data_provider
    tf.contrib.slim.dataset: dataset
    tf.contrib.slim.dataset_data_provider: dataset_data_provider
    tf.contrib.slim.parallel_reader: parallel_reader
    tf.contrib.slim.prefetch_queue: prefetch_queue
    tf.contrib.slim.tfexample_decoder: tfexample_decoder
contrib.slim.python.slim.nets: tf.contrib.slim.nets
    tf.contrib.slim.nets.alexnet: alexnet
    tf.contrib.slim.nets.inception: inception inception_v1 inception_v2 inception_v3
    tf.contrib.slim.nets.overfeat: overfeat
    tf.contrib.slim.nets.resnet_utils: resnet_utils
    tf.contrib.slim.nets.resnet_v1: resnet_v1
    tf.contrib.slim.nets.resnet_v2: resnet_v2
    tf.contrib.slim.nets.vgg: vgg
contrib.tensor_forest.client: tf.contrib.tensor_forest.client
    tf.contrib.tensor_forest.eval_metrics: eval_metrics
    tf.contrib.tensor_forest.estimator: random_forest
contrib.tensor_forest.python: tf.contrib.tensor_forest
    tf.contrib.tensor_forest: tensor_forest
contrib.tensor_forest.python.ops
    tf.contrib.tensor_forest.data_ops: data_ops
contrib.timeseries.python
contrib.timeseries.python.timeseries: tf.contrib.timeseries
    weft.lib.contrib.timeseries.autoregressive: ar_model
    weft.lib.contrib.timeseries.regressors: estimators
    weft.lib.contrib.timeseries.keys: feature_keys
    weft.lib.contrib.timeseries.head: head
    weft.lib.contrib.timeseries.inputs weft.lib.contrib.timeseries.readers: input_pipeline
    weft.lib.contrib.timeseries.models weft.lib.contrib.timeseries.sequential
        weft.lib.contrib.timeseries.keys: model
    weft.lib.contrib.timeseries.models weft.lib.contrib.timeseries.chaining: state_management
    weft.lib.contrib.timeseries.statistics weft.lib.contrib.timeseries.state_space.matrices:
        math_utils
    weft.lib.contrib.timeseries.saved_model_utils: saved_model_utils
contrib.timeseries.python.timeseries.state_space_models
    weft.lib.contrib.timeseries.state_space.anomalies: filtering_postprocessor
    weft.lib.contrib.timeseries.state_space.cycles: periodic
    weft.lib.contrib.timeseries.state_space.kalman: kalman_filter
    weft.lib.contrib.timeseries.state_space.level_trend: level_trend
    weft.lib.contrib.timeseries.state_space.model weft.lib.contrib.timeseries.state_space.ensembles:
        state_space_model
    weft.lib.contrib.timeseries.state_space.structural: structural_ensemble
    weft.lib.contrib.timeseries.state_space.varma: varma
contrib.tpu.python
contrib.tpu.python.ops
    tf.contrib.tpu: tpu_ops
contrib.tpu.python.tpu: tf.contrib.tpu
    tf.contrib.tpu weft.legacy.internals.tpu: device_assignment error_handling session_support
        topology tpu tpu_config tpu_context tpu_estimator tpu_feed tpu_function tpu_optimizer
        training_loop util
python.tpu: tf.contrib.tpu
    tf.contrib.tpu weft.legacy.internals.tpu: bfloat16 device_assignment error_handling
        session_support topology tpu tpu_config tpu_context tpu_estimator tpu_feed tpu_function
        tpu_optimizer tpu_strategy_util training_loop util
python.tpu.ops
    raw tf.contrib.tpu: tpu_ops
contrib.batching.python
contrib.batching.python.ops
    tf.contrib.batching: batch_ops
contrib.bayesflow.python
contrib.bayesflow.python.ops
    tf.contrib.bayesflow.monte_carlo: monte_carlo monte_carlo_impl
contrib.copy_graph.python
contrib.copy_graph.python.util
    tf.contrib.copy_graph: copy_elements
contrib.data.python
contrib.data.python.ops: tf.contrib.data
    tf.contrib.data tf.data.experimental tf.data: batching counter dataset_ops enumerate_ops
        error_ops get_single_element grouping interleave_ops iterator_ops parsing_ops
        prefetching_ops random_ops readers resampling scan_ops shuffle_ops sliding threadpool
        unique writers
contrib.estimator.python
contrib.estimator.python.estimator: tf.contrib.estimator
    tf.contrib.estimator weft.lib.estimator.early_stopping: early_stopping
    tf.contrib.estimator: boosted_trees dnn_with_layer_annotations export exporter
        extenders head hooks logit_fns multi_head replicate_model_fn rnn saved_model_estimator
contrib.feature_column.python
contrib.feature_column.python.feature_column
    tf.contrib.feature_column: sequence_feature_column
contrib.hooks.python
contrib.hooks.python.training
    tf.contrib.hooks: profiler_hook
contrib.integrate.python
contrib.integrate.python.ops
    tf.contrib.integrate: odes
contrib.mixed_precision.python
    tf.contrib.mixed_precision: loss_scale_manager loss_scale_optimizer
contrib.proto.python
contrib.proto.python.ops
    tf.contrib.proto: decode_proto_op encode_proto_op
contrib.resampler.python
contrib.resampler.python.ops
    tf.contrib.resampler: resampler_ops
contrib.solvers.python
contrib.solvers.python.ops
    tf.contrib.solvers.lanczos: lanczos
    tf.contrib.solvers.least_squares: least_squares
    tf.contrib.solvers.linear_equations: linear_equations
    tf.contrib.solvers.util: util
contrib.sparsemax.python
contrib.sparsemax.python.ops
    tf.contrib.sparsemax: sparsemax sparsemax_loss
contrib.summary: tf.contrib.summary
    tf.contrib.summary: summary
contrib.lookup: tf.contrib.lookup
    tf.contrib.lookup: lookup_ops
contrib.predictor: tf.contrib.predictor
    tf.contrib.predictor: core_estimator_predictor predictor_factories saved_model_predictor
    weft.lib.contrib.predictor: predictor
contrib.graph_editor: tf.contrib.graph_editor
    tf.contrib.graph_editor: edit reroute select transform util
contrib.learn.python.learn.learn_io: tf.contrib.learn.io
    tf.contrib.learn.io: dask_io graph_io numpy_io pandas_io
contrib.learn.python.learn.ops: tf.contrib.learn.ops
    tf.contrib.learn.ops: embeddings_ops losses_ops
contrib.testing.python
contrib.testing.python.framework: tf.contrib.testing
    tf.contrib.testing: fake_summary_writer util_test
contrib.training.python
contrib.training.python.training: tf.contrib.training
    tf.contrib.training: bucket_ops device_setter evaluation hparam resample training
    weft.lib.contrib.training.sampling: sampling_ops
tools
tools.graph_transforms: weft.lib.tools.transforms
python.estimator: tf.estimator
    tf.estimator: estimator estimator_lib exporter run_config training
    tf.estimator weft.legacy.internals.model_fn weft.lib.estimator.tpu_spec: model_fn
    tf.estimator weft.lib.estimator.input_results weft.legacy.internals.function_utils: util
    tf.contrib.estimator: extenders hooks
python.estimator.canned
    tf.estimator: baseline boosted_trees parsing_utils
    tf.estimator weft.lib.estimator.canned.dnn: dnn
    tf.estimator weft.lib.estimator.canned.dnn_linear_combined: dnn_linear_combined
    tf.estimator weft.lib.estimator.canned.linear: linear
    tf.estimator weft.lib.estimator.canned.optimizers: optimizers
    weft.legacy.internals.heads tf.estimator tf.contrib.estimator: head
    weft.lib.estimator.heads.keys: metric_keys prediction_keys
python.estimator.head
    tf.estimator: base_head binary_class_head head_utils multi_class_head multi_head
        multi_label_head regression_head
    weft.lib.estimator.heads.sequential: sequential_head
python.estimator.export
    tf.estimator.export weft.lib.estimator.receivers: export export_lib export_output
python.estimator.inputs
    tf.estimator.inputs: inputs numpy_io pandas_io
"""

# Subtrees that repeat a public one: `python.keras.layers` is `tf.keras.layers`.
MIRRORED = {
    "python.keras": "tf.keras",
    "python.distribute": "tf.distribute",
}

# Internal name -> public name, where the two differ.
RENAMED = {
    "contrib.framework.python.ops.arg_scope": "tf.contrib.framework.arg_scope",
    "contrib.rnn.python.ops.core_rnn_cell._Linear": "weft.lib.rnn.projections.Linear",
    "contrib.rnn.python.ops.core_rnn_cell._linear": "weft.lib.rnn.projections.linear",
    "contrib.rnn.python.ops.rnn_cell._Linear": "weft.lib.rnn.projections.Linear",
    "contrib.seq2seq.python.ops.decoder._transpose_batch_time": (
        "weft.lib.rnn.step.transpose_batch_time"
    ),
    "python.data.experimental.ops.cardinality.INFINITE": (
        "tf.data.experimental.INFINITE_CARDINALITY"
    ),
    "python.data.experimental.ops.cardinality.UNKNOWN": "tf.data.experimental.UNKNOWN_CARDINALITY",
    "python.data.ops.dataset_ops.get_legacy_output_classes": "tf.data.get_output_classes",
    "python.data.ops.dataset_ops.get_legacy_output_shapes": "tf.data.get_output_shapes",
    "python.data.ops.dataset_ops.get_legacy_output_types": "tf.data.get_output_types",
    "python.estimator.estimator.EstimatorV2": "tf.estimator.Estimator",
    "python.estimator.util._DatasetInitializerHook": (
        "weft.lib.estimator.input_results.DatasetInitializerHook"
    ),
    "python.data.ops.dataset_ops.DatasetV2": "tf.data.Dataset",
    "python.framework.constant_op._tensor_shape_tensor_conversion_function": (
        "weft.graph.convert._from_shape"
    ),
    "python.framework.ops.EagerTensor": "weft.ops.kit.eager.EagerTensor",
    "python.framework.ops._gradient_registry": "weft.legacy.internals.gradient_registry",
    "python.framework.ops._get_graph_from_inputs": "tf.contrib.framework.get_graph_from_inputs",
    "python.framework.ops.convert_to_tensor_v2": "tf.compat.v2.convert_to_tensor",
    "python.framework.ops.device_v2": "tf.compat.v2.device",
    "python.framework.ops.name_scope_v2": "tf.compat.v2.name_scope",
    "python.feature_column.feature_column._EmbeddingColumn": (
        "weft.lib.feature_column.embedding.EmbeddingColumn"
    ),
    "python.feature_column.feature_column_v2._StateManagerImpl": (
        "weft.lib.feature_column.state.LayerState"
    ),
    "python.framework.ops._colocate_with": "tf.colocate_with",
    "python.framework.ops.internal_convert_to_tensor": "tf.convert_to_tensor",
    "python.framework.tensor_util.MakeNdarray": "tf.make_ndarray",
    "python.framework.tensor_util.constant_value": "tf.get_static_value",
    "python.framework.test_util.TensorFlowTestCase": "tf.test.TestCase",
    "python.keras.backend.get_graph": "tf.get_default_graph",
    "python.keras.utils.generic_utils.to_snake_case": "weft.lib.keras.engine.naming.to_snake_case",
    "python.keras.utils.losses_utils.ReductionV2": "weft.lib.keras.losses.weighting.Reduction",
    "python.ops.array_ops._SliceHelperVar": "weft.ops.array.variable_slice.slice_variable",
    "python.ops.control_flow_ops._case_helper": "weft.ops.control.case._case",
    "python.keras.engine.base_layer.TensorFlowOpLayer": (
        "weft.lib.keras.engine.tf_op_layer.TensorFlowOpLayer"
    ),
    "python.keras.engine.base_layer_utils.make_variable": (
        "weft.lib.keras.engine.layer_weights.make_variable"
    ),
    "python.layers.convolutional.Convolution1D": "tf.layers.Conv1D",
    "python.layers.convolutional.Convolution2D": "tf.layers.Conv2D",
    "python.layers.convolutional.Convolution2DTranspose": "tf.layers.Conv2DTranspose",
    "python.layers.convolutional.Convolution3D": "tf.layers.Conv3D",
    "python.layers.convolutional.Convolution3DTranspose": "tf.layers.Conv3DTranspose",
    "python.layers.convolutional.Deconvolution2D": "tf.layers.Conv2DTranspose",
    "python.layers.convolutional.Deconv2D": "tf.layers.Conv2DTranspose",
    "python.layers.convolutional.Deconvolution3D": "tf.layers.Conv3DTranspose",
    "python.layers.convolutional.Deconv3D": "tf.layers.Conv3DTranspose",
    "python.layers.convolutional.SeparableConvolution1D": "tf.layers.SeparableConv1D",
    "python.layers.convolutional.SeparableConvolution2D": "tf.layers.SeparableConv2D",
    "python.lib.io.file_io.FileIO": "tf.gfile.GFile",
    "python.lib.io.file_io.copy": "tf.gfile.Copy",
    "python.lib.io.file_io.create_dir": "tf.gfile.MkDir",
    "python.lib.io.file_io.delete_file": "tf.gfile.Remove",
    "python.lib.io.file_io.delete_recursively": "tf.gfile.DeleteRecursively",
    "python.lib.io.file_io.file_exists": "tf.gfile.Exists",
    "python.lib.io.file_io.get_matching_files": "tf.gfile.Glob",
    "python.lib.io.file_io.is_directory": "tf.gfile.IsDirectory",
    "python.lib.io.file_io.list_directory": "tf.gfile.ListDirectory",
    "python.lib.io.file_io.recursive_create_dir": "tf.gfile.MakeDirs",
    "python.lib.io.file_io.rename": "tf.gfile.Rename",
    "python.lib.io.file_io.stat": "tf.gfile.Stat",
    "python.lib.io.file_io.walk": "tf.gfile.Walk",
    "python.ops.image_ops_impl.non_max_suppression_with_overlaps": (
        "tf.image.non_max_suppression_overlaps"
    ),
    "python.ops.summary_ops_v2._INVALID_SCOPE_CHARACTERS": (
        "weft.legacy.internals.graphs.INVALID_SCOPE_CHARACTERS"
    ),
    "python.ops.init_ops.Constant": "tf.constant_initializer",
    "python.ops.init_ops.GlorotNormal": "tf.glorot_normal_initializer",
    "python.ops.init_ops.GlorotUniform": "tf.glorot_uniform_initializer",
    "python.ops.init_ops.Initializer": "weft.ops.state.initializers.Initializer",
    "python.ops.init_ops._assert_float_dtype": "weft.ops.state.initializers._float_dtype",
    "python.ops.init_ops.Identity": "tf.initializers.identity",
    "python.ops.init_ops.Ones": "tf.ones_initializer",
    "python.ops.init_ops.Orthogonal": "tf.orthogonal_initializer",
    "python.ops.init_ops.RandomNormal": "tf.random_normal_initializer",
    "python.ops.init_ops.RandomUniform": "tf.random_uniform_initializer",
    "python.ops.init_ops.TruncatedNormal": "tf.truncated_normal_initializer",
    "python.ops.init_ops.UniformUnitScaling": "tf.uniform_unit_scaling_initializer",
    "python.ops.init_ops.VarianceScaling": "tf.variance_scaling_initializer",
    "python.ops.init_ops.Zeros": "tf.zeros_initializer",
    "python.ops.linalg.linalg_impl.matrix_exponential": "tf.linalg.expm",
    "python.ops.gradients.gradients_v2": "tf.compat.v2.gradients",
    "python.ops.gradients_impl.gradients_v2": "tf.compat.v2.gradients",
    "python.ops.math_ops._bucketize": "weft.ops.math.histogram.bucketize",
    "python.ops.rnn._transpose_batch_time": "weft.lib.rnn.step.transpose_batch_time",
    "python.ops.metrics_impl._aggregate_variable": (
        "weft.legacy.internals.graphs.aggregate_variable"
    ),
    "python.ops.metrics_impl._confusion_matrix_at_thresholds": (
        "weft.ops.scores.metrics_thresholds.count_at_thresholds"
    ),
    "python.ops.metrics_impl._remove_squeezable_dimensions": "weft.ops.scores.metrics_base.aligned",
    "python.ops.metrics_impl._safe_scalar_div": "weft.legacy.internals.graphs.safe_scalar_div",
    "python.ops.metrics_impl._streaming_confusion_matrix": (
        "weft.ops.scores.metrics_mean.streaming_confusion_matrix"
    ),
    "python.ops.metrics_impl._streaming_sparse_average_precision_at_top_k": (
        "weft.ops.scores.metrics_at_k.average_precision_at_top_k"
    ),
    "python.ops.math_ops.mul": "tf.multiply",
    "python.ops.rnn_cell_impl._Linear": "weft.lib.rnn.projections.Linear",
    "python.ops.rnn_cell_impl._linear": "weft.lib.rnn.projections.linear",
    "python.ops.rnn_cell_impl._zero_state_tensors": "weft.lib.rnn.cells.zero_state_tensors",
    "python.ops.rnn_cell_impl._RNNCell": "tf.nn.rnn_cell.RNNCell",
    "python.ops.script_ops.eager_py_func": "tf.py_function",
    "python.ops.sparse_ops.sparse_cross": "tf.sparse.cross",
    "python.ops.sparse_ops.sparse_cross_hashed": "tf.sparse.cross_hashed",
    "python.ops.sparse_ops.sparse_expand_dims": "tf.sparse.expand_dims",
    "python.ops.sparse_ops.sparse_eye": "tf.sparse.eye",
    "python.ops.stateless_random_ops.stateless_random_normal": "tf.random.stateless_normal",
    "python.ops.stateless_random_ops.stateless_random_uniform": "tf.random.stateless_uniform",
    "python.ops.string_ops.string_format": "tf.strings.format",
    "python.ops.string_ops.string_length": "tf.strings.length",
    "python.ops.string_ops.string_to_hash_bucket": "tf.strings.to_hash_bucket",
    "python.ops.string_ops.string_to_number": "tf.strings.to_number",
    "python.training.summary_io.SummaryWriter": "tf.summary.FileWriter",
    "python.training.summary_io.SummaryWriterCache": "tf.summary.FileWriterCache",
    "contrib.saved_model.python.saved_model.reader.read_saved_model": (
        "weft.lib.saved_model.files.parse_saved_model"
    ),
    "python.tools.saved_model_utils.read_saved_model": (
        "weft.lib.saved_model.files.parse_saved_model"
    ),
    "python.tools.saved_model_utils.get_meta_graph_def": "weft.cli.commands.saved_model.meta_graph",
    "python.training.checkpoint_ops._load_and_remap_matrix_initializer": (
        "weft.lib.train.checkpoint.remap.load_and_remap_matrix_initializer"
    ),
    "python.training.checkpoint_ops._load_embedding_initializer": (
        "weft.lib.train.checkpoint.remap.load_embedding_initializer"
    ),
    "python.training.monitored_session._HookedSession": (
        "weft.lib.train.sessions.wrapped_session.HookedSession"
    ),
    "python.training.session_manager._ready": "weft.lib.train.sessions.session_manager._ready",
    "python.training.evaluation._StopAfterNEvalsHook": (
        "weft.lib.train.evaluation.StopAfterNEvalsHook"
    ),
    "python.training.evaluation._get_or_create_eval_step": (
        "weft.lib.train.evaluation.get_or_create_eval_step"
    ),
    "python.training.evaluation._evaluate_once": "weft.lib.train.evaluation.evaluate_once",
    "python.ops.variable_scope._pure_variable_scope": (
        "weft.legacy.internals.graphs.pure_variable_scope"
    ),
    "python.ops.variable_scope.variable": "weft.legacy.internals.graphs.variable",
    "python.ops.variable_scope.EagerVariableStore": "tf.contrib.eager.EagerVariableStore",
    "python.platform.googletest.GetTempDir": "tf.test.get_temp_dir",
    "python.platform.benchmark.TensorFlowBenchmark": "tf.test.Benchmark",
}


def _parse(table: str) -> dict[str, tuple[str, ...]]:
    """Maps every package and module of the table to its places, in the order to look in."""
    modules: dict[str, tuple[str, ...]] = {}
    package = ""
    for line in table.strip().replace("\n        ", " ").splitlines():
        before, _, after = line.partition(":")
        if line.startswith(" "):
            places = tuple(before.split())
            modules |= {f"{package}.{name}": places for name in after.split()}
        else:
            package = before
            modules[package] = tuple(after.split())
    return modules


MODULES = _parse(_TABLE)
