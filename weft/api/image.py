"""tf.image: public names, re-exported from where they are made."""

from weft.ops.blocks import (
    extract_image_patches as extract_image_patches,
)
from weft.ops.image_adjust import (
    adjust_brightness as adjust_brightness,
)
from weft.ops.image_adjust import (
    adjust_contrast as adjust_contrast,
)
from weft.ops.image_adjust import (
    adjust_gamma as adjust_gamma,
)
from weft.ops.image_adjust import (
    adjust_hue as adjust_hue,
)
from weft.ops.image_adjust import (
    adjust_jpeg_quality as adjust_jpeg_quality,
)
from weft.ops.image_adjust import (
    adjust_saturation as adjust_saturation,
)
from weft.ops.image_adjust import (
    convert_image_dtype as convert_image_dtype,
)
from weft.ops.image_adjust import (
    grayscale_to_rgb as grayscale_to_rgb,
)
from weft.ops.image_adjust import (
    per_image_standardization as per_image_standardization,
)
from weft.ops.image_adjust import (
    random_brightness as random_brightness,
)
from weft.ops.image_adjust import (
    random_contrast as random_contrast,
)
from weft.ops.image_adjust import (
    random_hue as random_hue,
)
from weft.ops.image_adjust import (
    random_jpeg_quality as random_jpeg_quality,
)
from weft.ops.image_adjust import (
    random_saturation as random_saturation,
)
from weft.ops.image_adjust import (
    rgb_to_grayscale as rgb_to_grayscale,
)
from weft.ops.image_adjust import (
    rgb_to_yiq as rgb_to_yiq,
)
from weft.ops.image_adjust import (
    rgb_to_yuv as rgb_to_yuv,
)
from weft.ops.image_adjust import (
    yiq_to_rgb as yiq_to_rgb,
)
from weft.ops.image_adjust import (
    yuv_to_rgb as yuv_to_rgb,
)
from weft.ops.image_boxes import (
    draw_bounding_boxes as draw_bounding_boxes,
)
from weft.ops.image_boxes import (
    sample_distorted_bounding_box as sample_distorted_bounding_box,
)
from weft.ops.image_codec import (
    decode_and_crop_jpeg as decode_and_crop_jpeg,
)
from weft.ops.image_codec import (
    decode_bmp as decode_bmp,
)
from weft.ops.image_codec import (
    decode_gif as decode_gif,
)
from weft.ops.image_codec import (
    decode_image as decode_image,
)
from weft.ops.image_codec import (
    decode_jpeg as decode_jpeg,
)
from weft.ops.image_codec import (
    decode_png as decode_png,
)
from weft.ops.image_codec import (
    encode_jpeg as encode_jpeg,
)
from weft.ops.image_codec import (
    encode_png as encode_png,
)
from weft.ops.image_codec import (
    extract_jpeg_shape as extract_jpeg_shape,
)
from weft.ops.image_codec import (
    is_jpeg as is_jpeg,
)
from weft.ops.image_color import (
    hsv_to_rgb as hsv_to_rgb,
)
from weft.ops.image_color import (
    rgb_to_hsv as rgb_to_hsv,
)
from weft.ops.image_crop_resize import (
    crop_and_resize as crop_and_resize,
)
from weft.ops.image_geometry import (
    central_crop as central_crop,
)
from weft.ops.image_geometry import (
    crop_to_bounding_box as crop_to_bounding_box,
)
from weft.ops.image_geometry import (
    extract_patches as extract_patches,
)
from weft.ops.image_geometry import (
    flip_left_right as flip_left_right,
)
from weft.ops.image_geometry import (
    flip_up_down as flip_up_down,
)
from weft.ops.image_geometry import (
    pad_to_bounding_box as pad_to_bounding_box,
)
from weft.ops.image_geometry import (
    random_flip_left_right as random_flip_left_right,
)
from weft.ops.image_geometry import (
    random_flip_up_down as random_flip_up_down,
)
from weft.ops.image_geometry import (
    rot90 as rot90,
)
from weft.ops.image_geometry import (
    transpose as transpose,
)
from weft.ops.image_geometry import (
    transpose as transpose_image,
)
from weft.ops.image_glimpse import (
    extract_glimpse as extract_glimpse,
)
from weft.ops.image_nms import (
    combined_non_max_suppression as combined_non_max_suppression,
)
from weft.ops.image_nms import (
    non_max_suppression as non_max_suppression,
)
from weft.ops.image_nms import (
    non_max_suppression_overlaps as non_max_suppression_overlaps,
)
from weft.ops.image_nms import (
    non_max_suppression_padded as non_max_suppression_padded,
)
from weft.ops.image_nms import (
    non_max_suppression_with_scores as non_max_suppression_with_scores,
)
from weft.ops.image_quality import (
    image_gradients as image_gradients,
)
from weft.ops.image_quality import (
    psnr as psnr,
)
from weft.ops.image_quality import (
    sobel_edges as sobel_edges,
)
from weft.ops.image_quality import (
    ssim as ssim,
)
from weft.ops.image_quality import (
    ssim_multiscale as ssim_multiscale,
)
from weft.ops.image_quality import (
    total_variation as total_variation,
)
from weft.ops.image_resize import (
    resize_area as resize_area,
)
from weft.ops.image_resize import (
    resize_bicubic as resize_bicubic,
)
from weft.ops.image_resize import (
    resize_bilinear as resize_bilinear,
)
from weft.ops.image_resize import (
    resize_nearest_neighbor as resize_nearest_neighbor,
)
from weft.ops.image_scaling import (
    ResizeMethod as ResizeMethod,
)
from weft.ops.image_scaling import (
    resize_image_with_crop_or_pad as resize_image_with_crop_or_pad,
)
from weft.ops.image_scaling import (
    resize_image_with_crop_or_pad as resize_with_crop_or_pad,
)
from weft.ops.image_scaling import (
    resize_image_with_pad as resize_image_with_pad,
)
from weft.ops.image_scaling import (
    resize_images as resize,
)
from weft.ops.image_scaling import (
    resize_images as resize_images,
)
from weft.ops.random import (
    random_crop as random_crop,
)
