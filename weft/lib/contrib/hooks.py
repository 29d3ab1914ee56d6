"""tf.contrib.hooks"""

from weft.lib.train.sessions.hooks_saving import ProfilerHook as ProfilerHook
