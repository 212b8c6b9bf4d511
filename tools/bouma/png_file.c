/* png_file.c -- a canvas as a PNG file, by libpng's simplified interface. */
#include "png_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#if BOUMA_WITH_PNG
#include <png.h>
#endif

#include "output.h"

int png_file_check(struct context *ctx, const char *path)
{
    size_t length = path ? strlen(path) : 0;

    if (!BOUMA_WITH_PNG)
        return context_fail(ctx, CALL_AT_FAULT,
                            "this %s is built without libpng, and makes no "
                            "pictures",
                            session_program());
    if (!path)
        return context_fail(ctx, CALL_AT_FAULT,
                            "say where to write: -o OUT.png");
    if (strcmp(path, "-") == 0 && ctx->json)
        return context_fail(ctx, CALL_AT_FAULT,
                            "--json and -o - both want standard output; write "
                            "to a file");
    if (strcmp(path, "-") != 0 &&
        (length < 5 || strcasecmp(path + length - 4, ".png") != 0))
        return context_fail(ctx, CALL_AT_FAULT,
                            "cannot make %s: pictures are PNG files; end it in "
                            ".png",
                            path);
    return DONE;
}

#if BOUMA_WITH_PNG
/* The bytes of the file, which the caller frees. */
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
#else
static int encode(void **out, size_t *bytes, struct context *ctx,
                  const struct canvas *canvas)
{
    (void)bytes, (void)canvas;
    *out = NULL;
    return png_file_check(ctx, NULL); /* which says what is missing */
}
#endif

int png_file_write(struct context *ctx, const char *path,
                   const struct canvas *canvas)
{
    bool mine = session_rank(ctx->session) == 0;
    struct output output;
    void *data = NULL;
    size_t bytes = 0;
    int rc = output_create(&output, ctx, path);

    if (!rc && mine)
        rc = encode(&data, &bytes, ctx, canvas);
    if (!rc && mine)
        rc = output_write(&output, ctx, data, bytes, 0);
    free(data);
    return output_finish(&output, ctx, rc);
}
