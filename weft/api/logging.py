"""tf.logging: public names, re-exported from where they are made."""

from weft.lib.platform.tf_logging import (
    DEBUG as DEBUG,
    debug as debug,
    ERROR as ERROR,
    error as error,
    FATAL as FATAL,
    fatal as fatal,
    flush as flush,
    get_verbosity as get_verbosity,
    INFO as INFO,
    info as info,
    log as log,
    log_every_n as log_every_n,
    log_first_n as log_first_n,
    log_if as log_if,
    set_verbosity as set_verbosity,
    TaskLevelStatusMessage as TaskLevelStatusMessage,
    vlog as vlog,
    WARN as WARN,
    warn as warn,
    warning as warning,
)
