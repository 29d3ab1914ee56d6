"""How long does saving 100 variables take, next to copying the file with `cp`?"""

import os

from checkpoints import arguments, copy_seconds, model, replacing
from common import load, report

impl, megabytes, samples = arguments(__doc__ or "")
tf = load(impl)
with model(tf, megabytes) as (sess, saver, folder):
    prefix = os.path.join(folder, "m")
    seconds = replacing(
        lambda i: saver.save(sess, prefix, global_step=i, write_meta_graph=False),
        lambda i: tf.train.remove_checkpoint(f"{prefix}-{i}"),
        samples,
    )
    data = f"{prefix}-{samples}.data-00000-of-00001"
    report("checkpoint_save", impl, seconds, megabytes=megabytes, cp=copy_seconds(data, samples))
