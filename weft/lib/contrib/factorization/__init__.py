"""tf.contrib.factorization: k-means, Gaussian mixtures, and matrices as products of factors."""

from weft.lib.contrib.factorization.kmeans import CLUSTERS_VAR_NAME as CLUSTERS_VAR_NAME
from weft.lib.contrib.factorization.kmeans import COSINE_DISTANCE as COSINE_DISTANCE
from weft.lib.contrib.factorization.kmeans import KMC2_INIT as KMC2_INIT
from weft.lib.contrib.factorization.kmeans import KMEANS_PLUS_PLUS_INIT as KMEANS_PLUS_PLUS_INIT
from weft.lib.contrib.factorization.kmeans import RANDOM_INIT as RANDOM_INIT
from weft.lib.contrib.factorization.kmeans import (
    SQUARED_EUCLIDEAN_DISTANCE as SQUARED_EUCLIDEAN_DISTANCE,
)
from weft.lib.contrib.factorization.kmeans import KMeans as KMeans
from weft.lib.contrib.factorization.kmeans import KMeansClustering as KMeansClustering
from weft.lib.contrib.factorization.mixture_estimator import GMM as GMM
from weft.lib.contrib.factorization.mixtures import DIAG_COVARIANCE as DIAG_COVARIANCE
from weft.lib.contrib.factorization.mixtures import FULL_COVARIANCE as FULL_COVARIANCE
from weft.lib.contrib.factorization.mixtures import GmmAlgorithm as GmmAlgorithm
from weft.lib.contrib.factorization.mixtures import gmm as gmm
from weft.lib.contrib.factorization.wals import WALSModel as WALSModel
from weft.lib.contrib.factorization.wals_estimator import (
    WALSMatrixFactorization as WALSMatrixFactorization,
)
