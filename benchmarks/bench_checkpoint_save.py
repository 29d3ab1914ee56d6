"""How long does saving 100 variables take, next to copying the file with `cp`?"""

import os
import statistics
import time

from checkpoints import arguments, copy_seconds, model
from common import load, report

impl, megabytes, samples = arguments(__doc__ or "")
tf = load(impl)
with model(tf, megabytes) as (sess, saver, folder):
    # Only the latest is kept; removing the one before, which may be on its way to the disk, is
    # not part of saving, as the removal of a copy that was never written out is not part of `cp`.
    taken = []
    for i in range(samples + 1):
        began = time.perf_counter()
        saver.save(sess, os.path.join(folder, "m"), global_step=i, write_meta_graph=False)
        taken.append(time.perf_counter() - began)
        if i:
            tf.train.remove_checkpoint(os.path.join(folder, f"m-{i - 1}"))
    seconds = statistics.median(taken[1:])
    data = os.path.join(folder, f"m-{samples}.data-00000-of-00001")
    report(
        "checkpoint_save",
        impl,
        seconds,
        megabytes=megabytes,
        cp_seconds=copy_seconds(data, samples),
        cp_to_disk_seconds=copy_seconds(data, samples, to_disk=True),
    )
