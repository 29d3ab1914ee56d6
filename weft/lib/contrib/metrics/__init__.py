"""tf.contrib.metrics: tf.metrics with predictions first (`streaming_*`), and others."""

from weft.lib.contrib.metrics.curves import (
    precision_at_recall as precision_at_recall,
)
from weft.lib.contrib.metrics.curves import (
    precision_recall_at_equal_thresholds as precision_recall_at_equal_thresholds,
)
from weft.lib.contrib.metrics.curves import (
    recall_at_precision as recall_at_precision,
)
from weft.lib.contrib.metrics.curves import (
    streaming_curve_points as streaming_curve_points,
)
from weft.lib.contrib.metrics.histograms import auc_using_histogram as auc_using_histogram
from weft.lib.contrib.metrics.kept_values import (
    auc_with_confidence_intervals as auc_with_confidence_intervals,
)
from weft.lib.contrib.metrics.kept_values import (
    streaming_concat as streaming_concat,
)
from weft.lib.contrib.metrics.kept_values import (
    streaming_dynamic_auc as streaming_dynamic_auc,
)
from weft.lib.contrib.metrics.single import (
    accuracy as accuracy,
)
from weft.lib.contrib.metrics.single import (
    cohen_kappa as cohen_kappa,
)
from weft.lib.contrib.metrics.single import (
    count as count,
)
from weft.lib.contrib.metrics.single import (
    f1_score as f1_score,
)
from weft.lib.contrib.metrics.single import (
    sparse_recall_at_top_k as sparse_recall_at_top_k,
)
from weft.lib.contrib.metrics.single import (
    streaming_recall_at_k as streaming_recall_at_k,
)
from weft.lib.contrib.metrics.single import (
    streaming_sparse_average_precision_at_top_k as streaming_sparse_average_precision_at_top_k,
)
from weft.lib.contrib.metrics.single import (
    streaming_sparse_precision_at_top_k as streaming_sparse_precision_at_top_k,
)
from weft.lib.contrib.metrics.streaming import (
    aggregate_metric_map as aggregate_metric_map,
)
from weft.lib.contrib.metrics.streaming import (
    aggregate_metrics as aggregate_metrics,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_accuracy as streaming_accuracy,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_auc as streaming_auc,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_covariance as streaming_covariance,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_negative_rate as streaming_false_negative_rate,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_negative_rate_at_thresholds as streaming_false_negative_rate_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_negatives as streaming_false_negatives,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_negatives_at_thresholds as streaming_false_negatives_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_positive_rate as streaming_false_positive_rate,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_positive_rate_at_thresholds as streaming_false_positive_rate_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_positives as streaming_false_positives,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_false_positives_at_thresholds as streaming_false_positives_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean as streaming_mean,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean_absolute_error as streaming_mean_absolute_error,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean_cosine_distance as streaming_mean_cosine_distance,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean_iou as streaming_mean_iou,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean_relative_error as streaming_mean_relative_error,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean_squared_error as streaming_mean_squared_error,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_mean_tensor as streaming_mean_tensor,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_pearson_correlation as streaming_pearson_correlation,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_percentage_less as streaming_percentage_less,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_precision as streaming_precision,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_precision_at_thresholds as streaming_precision_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_recall as streaming_recall,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_recall_at_thresholds as streaming_recall_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_root_mean_squared_error as streaming_root_mean_squared_error,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_sensitivity_at_specificity as streaming_sensitivity_at_specificity,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_sparse_average_precision_at_k as streaming_sparse_average_precision_at_k,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_sparse_precision_at_k as streaming_sparse_precision_at_k,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_sparse_recall_at_k as streaming_sparse_recall_at_k,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_specificity_at_sensitivity as streaming_specificity_at_sensitivity,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_true_negatives as streaming_true_negatives,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_true_negatives_at_thresholds as streaming_true_negatives_at_thresholds,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_true_positives as streaming_true_positives,
)
from weft.lib.contrib.metrics.streaming import (
    streaming_true_positives_at_thresholds as streaming_true_positives_at_thresholds,
)
from weft.ops.scores.confusion_matrix import confusion_matrix as confusion_matrix
from weft.ops.sparse.sets import (
    set_difference as set_difference,
)
from weft.ops.sparse.sets import (
    set_intersection as set_intersection,
)
from weft.ops.sparse.sets import (
    set_size as set_size,
)
from weft.ops.sparse.sets import (
    set_union as set_union,
)
