/* work_rates.c -- see work_rates.h. */
#include "machine/work_rates.h"

#include <string.h>

#include "machine/quantity.h"

const char *bm_work_name(int work)
{
#define ENTRY(name, text) [BM_WORK_##name] = text,
    static const char *const names[BM_WORKS] = {BM_WORK_LIST(ENTRY)};
#undef ENTRY

    return work >= 0 && work < BM_WORKS ? names[work] : NULL;
}

static void put(struct bm_buffer *out, const char *text)
{
    bm_put_bytes(out, text, strlen(text));
}

static void put_rate(struct bm_buffer *out, const char *key, double rate)
{
    if (rate <= 0)
        return;
    put(out, key);
    bm_speed_put(out, rate);
}

static void put_codec(struct bm_buffer *out, int codec,
                      const struct bm_codec_rates *r)
{
    if (r->encode <= 0 && r->decode <= 0 && r->encode_list <= 0 &&
        r->decode_list <= 0)
        return;
    put(out, "codec ");
    put(out, bouma_codec_name((bouma_codec)codec));
    put_rate(out, " encode ", r->encode);
    put_rate(out, " decode ", r->decode);
    put_rate(out, " encode_list ", r->encode_list);
    put_rate(out, " decode_list ", r->decode_list);
    put(out, "\n");
}

void bm_work_rates_put(struct bm_buffer *out, const struct bm_work_rates *r)
{
    for (int i = 0; i < BM_WORKS; i++)
        if (r->work[i] > 0) {
            put(out, "work ");
            put(out, bm_work_name(i));
            put_rate(out, " rate ", r->work[i]);
            put(out, "\n");
        }
    for (int i = 1; i < BM_RATED_CODECS; i++)
        put_codec(out, i, &r->codecs[i]);
}
