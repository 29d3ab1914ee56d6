"""How long does saving 100 variables take, next to copying the file with `cp`?"""

import os

from checkpoints import arguments, copy_seconds, median, model
from common import load, report

impl, megabytes, samples = arguments(__doc__ or "")
tf = load(impl)
with model(tf, megabytes) as (sess, saver, folder):

    def save(i: int) -> None:
        saver.save(sess, os.path.join(folder, "m"), global_step=i, write_meta_graph=False)
        if i:
            tf.train.remove_checkpoint(os.path.join(folder, f"m-{i - 1}"))

    seconds = median(save, samples)
    data = os.path.join(folder, f"m-{samples}.data-00000-of-00001")
    report(
        "checkpoint_save",
        impl,
        seconds,
        megabytes=megabytes,
        cp_seconds=copy_seconds(data, samples),
        cp_to_disk_seconds=copy_seconds(data, samples, to_disk=True),
    )
