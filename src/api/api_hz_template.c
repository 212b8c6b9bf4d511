/* api_hz_template.c -- the template of an HZ order that fits ranks. */
#include <inttypes.h>

#include "api/api.h"
#include "plan/hz_ranks.h"

static int check_template(const char *out, size_t bytes, int ndims,
                          const int64_t *shape, const int64_t *ranks,
                          bouma_rank_order order, struct bm_error *error)
{
    if (!out || bytes < BM_HZ_BITS + 2)
        return bm_fail(error, BOUMA_EINVAL,
                       "the text has room for %zu bytes; a template needs %d",
                       out ? bytes : 0, BM_HZ_BITS + 2);
    if (!shape || !ranks)
        return bm_fail(error, BOUMA_EINVAL, "%s is NULL",
                       shape ? "ranks" : "shape");
    if (ndims < 1 || ndims > 3)
        return bm_fail(error, BOUMA_EINVAL, "ndims is %d, not 1 to 3", ndims);
    if (order && !bouma_rank_order_name(order))
        return bm_fail(error, BOUMA_EINVAL, "there is no order of ranks %d",
                       (int)order);
    for (int d = 0; d < ndims; d++)
        if (shape[d] < 1 || ranks[d] < 1)
            return bm_fail(error, BOUMA_EINVAL, "%s[%d] is %" PRId64,
                           shape[d] < 1 ? "shape" : "ranks", d,
                           shape[d] < 1 ? shape[d] : ranks[d]);
    return BOUMA_OK;
}

int bouma_hz_template(char *out, size_t bytes, int ndims, const int64_t *shape,
                      const int64_t *ranks, bouma_rank_order order,
                      char *message, size_t message_bytes)
{
    BM_STRICT_MATH;
    int64_t lifted[3] = {1, 1, 1}, grid[3] = {1, 1, 1};
    struct bm_error error = {0};
    struct bm_hz_ranks r;
    struct bm_hz hz;
    int rc;

    if (out && bytes)
        out[0] = 0;
    rc = check_template(out, bytes, ndims, shape, ranks, order, &error);
    for (int d = 0; d < ndims && !rc; d++) {
        lifted[3 - ndims + d] = shape[d];
        grid[3 - ndims + d] = ranks[d];
    }
    if (!rc && (bm_hz_ranks_init(&r, lifted, NULL, grid, order) ||
                bm_hz_ranks_template_near(&hz, &r)))
        rc = bm_fail(&error, BOUMA_EINVAL,
                     "too many ranks or samples: a template has at most %d "
                     "characters",
                     BM_HZ_BITS);
    if (!rc)
        bm_hz_text(out, &hz);
    bm_api_tell(message, message_bytes, error.text);
    return rc;
}
