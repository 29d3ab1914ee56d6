"""How long does restoring 100 variables take, next to copying the file with `cp`?"""

import os

from checkpoints import arguments, copy_seconds, median, model
from common import load, report

impl, megabytes, samples = arguments(__doc__ or "")
tf = load(impl)
with model(tf, megabytes) as (sess, saver, folder):
    path = saver.save(sess, os.path.join(folder, "m"), write_meta_graph=False)
    seconds = median(lambda _: saver.restore(sess, path), samples)
    report(
        "checkpoint_restore",
        impl,
        seconds,
        megabytes=megabytes,
        cp=copy_seconds(f"{path}.data-00000-of-00001", samples),
    )
