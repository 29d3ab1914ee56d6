"""The same with TensorFlow Serving's own client (pip install tensorflow-serving-api).

python examples/serving/ask_grpc.py [localhost:8500]
"""

import sys

import grpc
import tensorflow as tf
from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

channel = grpc.insecure_channel(sys.argv[1] if len(sys.argv) > 1 else "localhost:8500")
request = predict_pb2.PredictRequest()
request.model_spec.name = "iris"
flowers = [[5.1, 3.5, 1.4, 0.2], [6.7, 3.0, 5.2, 2.3]]
request.inputs["lengths"].CopyFrom(tf.make_tensor_proto(flowers, tf.float32))
response = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict(request, 10.0)
for name in tf.make_ndarray(response.outputs["species"]):
    print(name.decode())
