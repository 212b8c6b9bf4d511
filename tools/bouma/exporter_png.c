/* exporter_png.c -- a canvas as a PNG file, by libpng's simplified interface.
 */
#include <stdlib.h>

#include "exporter.h"

#if BOUMA_WITH_PNG
#include <png.h>

static int encode(void **out, size_t *bytes, struct context *ctx,
                  const struct canvas *canvas)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB_COLORMAP,
                       .colormap_entries = INKS};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);

    *out = malloc(size);
    if (!*out)
        return context_fail(ctx, DATA_AT_FAULT, "no memory for the picture");
    if (!png_image_write_to_memory(&image, *out, &size, 0, canvas->pixels, 0,
                                   canvas->palette))
        return context_fail(ctx, DATA_AT_FAULT, "libpng: %s", image.message);
    *bytes = size;
    return DONE;
}

#define ENCODE  encode
#define MISSING NULL
#else
#define ENCODE  NULL
#define MISSING "libpng"
#endif

const struct exporter export_png = {.suffix = ".png",
                                    .takes = EXPORT_PICTURE,
                                    .stream = true,
                                    .help = "a picture with a palette",
                                    .missing = MISSING,
                                    .encode = ENCODE};
