# Written by `make stubs` from weft/api/image.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.ops.image.adjust import adjust_brightness as adjust_brightness
from weft.ops.image.adjust import adjust_contrast as adjust_contrast
from weft.ops.image.adjust import adjust_gamma as adjust_gamma
from weft.ops.image.adjust import adjust_hue as adjust_hue
from weft.ops.image.adjust import adjust_jpeg_quality as adjust_jpeg_quality
from weft.ops.image.adjust import adjust_saturation as adjust_saturation
from weft.ops.image.adjust import convert_image_dtype as convert_image_dtype
from weft.ops.image.adjust import grayscale_to_rgb as grayscale_to_rgb
from weft.ops.image.adjust import per_image_standardization as per_image_standardization
from weft.ops.image.adjust import random_brightness as random_brightness
from weft.ops.image.adjust import random_contrast as random_contrast
from weft.ops.image.adjust import random_hue as random_hue
from weft.ops.image.adjust import random_jpeg_quality as random_jpeg_quality
from weft.ops.image.adjust import random_saturation as random_saturation
from weft.ops.image.adjust import rgb_to_grayscale as rgb_to_grayscale
from weft.ops.image.adjust import rgb_to_yiq as rgb_to_yiq
from weft.ops.image.adjust import rgb_to_yuv as rgb_to_yuv
from weft.ops.image.adjust import yiq_to_rgb as yiq_to_rgb
from weft.ops.image.adjust import yuv_to_rgb as yuv_to_rgb
from weft.ops.image.boxes import draw_bounding_boxes as draw_bounding_boxes
from weft.ops.image.boxes import sample_distorted_bounding_box as sample_distorted_bounding_box
from weft.ops.image.decode import decode_and_crop_jpeg as decode_and_crop_jpeg
from weft.ops.image.decode import decode_bmp as decode_bmp
from weft.ops.image.decode import decode_gif as decode_gif
from weft.ops.image.decode import decode_image as decode_image
from weft.ops.image.decode import decode_jpeg as decode_jpeg
from weft.ops.image.decode import decode_png as decode_png
from weft.ops.image.decode import extract_jpeg_shape as extract_jpeg_shape
from weft.ops.image.decode import is_jpeg as is_jpeg
from weft.ops.image.color import hsv_to_rgb as hsv_to_rgb
from weft.ops.image.color import rgb_to_hsv as rgb_to_hsv
from weft.ops.image.crop_resize import crop_and_resize as crop_and_resize
from weft.ops.image.encode import encode_jpeg as encode_jpeg
from weft.ops.image.encode import encode_png as encode_png
from weft.ops.image.geometry import central_crop as central_crop
from weft.ops.image.geometry import crop_to_bounding_box as crop_to_bounding_box
from weft.ops.image.geometry import extract_patches as extract_patches
from weft.ops.image.geometry import flip_left_right as flip_left_right
from weft.ops.image.geometry import flip_up_down as flip_up_down
from weft.ops.image.geometry import pad_to_bounding_box as pad_to_bounding_box
from weft.ops.image.geometry import random_flip_left_right as random_flip_left_right
from weft.ops.image.geometry import random_flip_up_down as random_flip_up_down
from weft.ops.image.geometry import rot90 as rot90
from weft.ops.image.geometry import transpose as transpose
from weft.ops.image.geometry import transpose as _is_transpose_image
from weft.ops.image.glimpse import extract_glimpse as extract_glimpse
from weft.ops.image.suppression import non_max_suppression as non_max_suppression
from weft.ops.image.suppression import non_max_suppression_overlaps as non_max_suppression_overlaps
from weft.ops.image.suppression import non_max_suppression_padded as non_max_suppression_padded
from weft.ops.image.suppression import non_max_suppression_with_scores as non_max_suppression_with_scores
from weft.ops.image.suppression_combined import combined_non_max_suppression as combined_non_max_suppression
from weft.ops.image.proposals import generate_bounding_box_proposals as generate_bounding_box_proposals
from weft.ops.image.quality import image_gradients as image_gradients
from weft.ops.image.quality import psnr as psnr
from weft.ops.image.quality import sobel_edges as sobel_edges
from weft.ops.image.quality import ssim as ssim
from weft.ops.image.quality import ssim_multiscale as ssim_multiscale
from weft.ops.image.quality import total_variation as total_variation
from weft.ops.image.resize import resize_area as resize_area
from weft.ops.image.scaling import resize_images as _is_resize
from weft.ops.image.scaling import resize_image_with_crop_or_pad as resize_image_with_crop_or_pad
from weft.ops.image.scaling import resize_image_with_pad as resize_image_with_pad
from weft.ops.image.scaling import resize_images as resize_images
from weft.ops.image.scaling import resize_image_with_crop_or_pad as _is_resize_with_crop_or_pad
from weft.ops.image.scaling import ResizeMethod as ResizeMethod
from weft.ops.array.patches import extract_image_patches as extract_image_patches
from weft.ops.random.random import random_crop as random_crop
transpose_image = _is_transpose_image
def resize_bicubic(images: _Any, size: _Any, align_corners: _builtins.bool = False, name: _builtins.str | None = None, half_pixel_centers: _builtins.bool = False) -> _Tensor: ...
def resize_bilinear(images: _Any, size: _Any, align_corners: _builtins.bool = False, name: _builtins.str | None = None, half_pixel_centers: _builtins.bool = False) -> _Tensor: ...
def resize_nearest_neighbor(images: _Any, size: _Any, align_corners: _builtins.bool = False, name: _builtins.str | None = None, half_pixel_centers: _builtins.bool = False) -> _Tensor: ...
resize = _is_resize
resize_with_crop_or_pad = _is_resize_with_crop_or_pad
