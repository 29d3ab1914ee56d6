"""tf.contrib.hooks"""

from weft.train.hooks_saving import ProfilerHook as ProfilerHook
