# Written by `make stubs` from weft/api/resource_loader.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.platform.resource_loader import get_data_files_path as get_data_files_path
from weft.lib.platform.resource_loader import get_path_to_datafile as get_path_to_datafile
from weft.lib.platform.resource_loader import get_root_dir_with_all_resources as get_root_dir_with_all_resources
from weft.lib.platform.resource_loader import load_resource as load_resource
from weft.lib.platform.resource_loader import readahead_file_path as readahead_file_path
