/* test_serve_response.c -- ranges, tags, encodings and caching of answers, and
 * their JSON. */
#include <math.h>
#include <zstd.h>

#include "check.h"
#include "serve/response.h"

static struct memory_budget memory;

static int range(const char *header, uint64_t total, uint64_t *first,
                 uint64_t *bytes)
{
    *first = *bytes = 0;
    return response_range(first, bytes, header, total);
}

static void a_single_range_is_taken(void)
{
    uint64_t first, bytes;

    CHECK_EQ(range("bytes=0-3", 10, &first, &bytes), 1);
    CHECK(first == 0 && bytes == 4);
    CHECK_EQ(range("bytes=4-", 10, &first, &bytes), 1);
    CHECK(first == 4 && bytes == 6);
    CHECK_EQ(range("bytes=-3", 10, &first, &bytes), 1);
    CHECK(first == 7 && bytes == 3);
    CHECK_EQ(range("bytes=-30", 10, &first, &bytes), 1);
    CHECK(first == 0 && bytes == 10);
    CHECK_EQ(range("bytes=9-100", 10, &first, &bytes), 1);
    CHECK(first == 9 && bytes == 1);
    CHECK_EQ(range("bytes=10-", 10, &first, &bytes), -1);
    CHECK_EQ(range("bytes=0-", 0, &first, &bytes), -1);
    CHECK_EQ(range("bytes=-0", 10, &first, &bytes), -1);
    CHECK_EQ(range("bytes=-5", 0, &first, &bytes), -1);
}

static void other_ranges_are_ignored(void)
{
    static const char *const others[] = {
        "bytes=0-1,3-4", "bytes=3-2",  "bytes=",
        "bytes=-",       "items=0-1",  "0-1",
        "bytes=a-",      "bytes=0-1x", "bytes=99999999999999999999-"};
    uint64_t first, bytes;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK_EQ(range(others[i], 10, &first, &bytes), 0);
}

static void tags_match_in_any_encoding(void)
{
    CHECK(response_matches("\"abc\"", "abc"));
    CHECK(response_matches("W/\"abc\"", "abc"));
    CHECK(response_matches("\"x\", \"abc-zstd\"", "abc"));
    CHECK(response_matches("\"abc-gzip\"", "abc"));
    CHECK(response_matches("*", "abc"));
    CHECK(!response_matches("\"abcd\"", "abc"));
    CHECK(!response_matches("\"abc-brot\"", "abc"));
    CHECK(!response_matches("abc", "abc"));
    CHECK(!response_matches("\"abc", "abc"));
    CHECK(!response_matches("", "abc"));
}

static void encodings_are_negotiated(void)
{
    CHECK_EQ(response_negotiate(NULL), ENCODING_NONE);
    CHECK_EQ(response_negotiate(""), ENCODING_NONE);
    CHECK_EQ(response_negotiate("gzip, deflate, br"), ENCODING_GZIP);
    CHECK_EQ(response_negotiate("gzip, deflate, br, zstd"), ENCODING_ZSTD);
    CHECK_EQ(response_negotiate("zstd;q=0.5, gzip"), ENCODING_GZIP);
    CHECK_EQ(response_negotiate("zstd;q=0, gzip;q=0"), ENCODING_NONE);
    CHECK_EQ(response_negotiate("*"), ENCODING_GZIP);
    CHECK_EQ(response_negotiate("*, gzip;q=0"), ENCODING_NONE);
    CHECK_EQ(response_negotiate("GZIP ; q=1.0"), ENCODING_GZIP);
    CHECK_EQ(response_negotiate("gzipped"), ENCODING_NONE);
}

static struct answer answer_of(int code, bool binary, const char *etag)
{
    struct answer answer;

    answer_init(&answer, &memory, 1 << 20);
    answer.code = code;
    answer.binary = binary;
    snprintf(answer.etag, sizeof(answer.etag), "%s", etag);
    return answer;
}

static void a_plan_has_a_part_or_an_encoding(void)
{
    struct answer answer = answer_of(200, true, "abc");
    struct response_wishes both = {.range = "bytes=2-3",
                                   .accept_encoding = "zstd"};
    struct response_plan plan;

    response_plan(&plan, &answer, 10, &both);
    CHECK(plan.code == 206 && plan.offset == 2 && plan.bytes == 2);
    CHECK_EQ(plan.encoding, ENCODING_NONE);
    both.if_range = "\"abc\"";
    response_plan(&plan, &answer, 10, &both);
    CHECK_EQ(plan.code, 206);
    both.if_range = "\"other\"";
    response_plan(&plan, &answer, 10, &both);
    CHECK(plan.code == 200 && plan.bytes == 10);
    CHECK_EQ(plan.encoding, ENCODING_ZSTD);
    both.if_range = NULL;
    both.range = "bytes=10-";
    response_plan(&plan, &answer, 10, &both);
    CHECK_EQ(plan.code, 416);
    answer = answer_of(404, true, "");
    response_plan(&plan, &answer, 10, &both);
    CHECK(plan.code == 404 && plan.bytes == 10);
    answer = answer_of(200, false, "");
    response_plan(&plan, &answer, 10, &both);
    CHECK_EQ(plan.code, 200);
}

static void heads_have_lengths_without_bodies(void)
{
    struct answer answer = answer_of(200, false, "abc");

    answer.head = true;
    CHECK(!answer_body(&answer, ANSWER_BYTES, 5000));
    CHECK(answer.code == 200 && answer.bytes == 5000 && answer.binary);
    CHECK(!answer_body(&answer, ANSWER_BYTES, (size_t)-1));
    CHECK_EQ(answer.code, 413);
    answer_release(&answer);
    answer = answer_of(200, false, "abc");
    CHECK(!answer_is_head(&answer, ANSWER_JSON));
    answer.head = true;
    CHECK(answer_is_head(&answer, ANSWER_JSON));
    CHECK(answer.unmeasured && !answer.binary);
    CHECK(answer_is_head(&answer, ANSWER_BYTES) && answer.binary);
    answer_release(&answer);
    CHECK_EQ(atomic_load(&memory.used), 0);
}

static void large_blocks_are_kept_until_they_are_needed(void)
{
    struct memory_budget own;
    size_t bytes = 2 << 20;
    void *first, *second, *third;

    memory_budget_init(&own, 16 << 20);
    first = memory_budget_resize(&own, NULL, bytes);
    REQUIRE(first);
    memory_budget_release(&own, first);
    CHECK(atomic_load(&own.used) >= bytes);
    CHECK_EQ(atomic_load(&own.used), atomic_load(&own.spare));
    second = memory_budget_resize(&own, NULL, bytes - 100);
    CHECK(second == first);
    CHECK_EQ(atomic_load(&own.spare), 0);
    third = memory_budget_resize(&own, NULL, bytes);
    CHECK(third && third != second);
    memory_budget_release(&own, second);
    memory_budget_release(&own, third);
    CHECK(!memory_budget_resize(&own, NULL, 17 << 20));
    CHECK_EQ(atomic_load(&own.used), 0);
    first = memory_budget_resize(&own, NULL, 15 << 20);
    CHECK(first);
    memory_budget_release(&own, first); /* too large to be kept */
    CHECK_EQ(atomic_load(&own.used), 0);
    second = memory_budget_resize(&own, NULL, bytes);
    memory_budget_release(&own, second);
    first = memory_budget_resize(&own, NULL, 15 << 20);
    CHECK(first);
    memory_budget_release(&own, first);
    memory_budget_drop(&own);
    CHECK(atomic_load(&own.used) == 0 && atomic_load(&own.spare) == 0);
}

/* Places and bytes that others take do not keep a block out. */
static void a_large_block_takes_the_place_of_small_ones(void)
{
    const size_t small = 1100000, large = 3 << 20;
    void *blocks[SPARE_BLOCKS], *block;
    struct memory_budget own;
    size_t kept;

    for (size_t limit = 16 << 20; limit <= 64 << 20; limit *= 4) {
        memory_budget_init(&own, limit);
        for (int i = 0; i < SPARE_BLOCKS; i++)
            blocks[i] = memory_budget_resize(&own, NULL, small);
        block = memory_budget_resize(&own, NULL, large);
        REQUIRE(block);
        for (int i = 0; i < SPARE_BLOCKS; i++)
            memory_budget_release(&own, blocks[i]);
        memory_budget_release(&own, block);
        CHECK(atomic_load(&own.spare) <= limit / 4);
        CHECK_EQ(atomic_load(&own.used), atomic_load(&own.spare));
        kept = atomic_load(&own.spare);
        block = memory_budget_resize(&own, NULL, large);
        CHECK(kept - atomic_load(&own.spare) >= large); /* it was kept */
        memory_budget_release(&own, block);
        memory_budget_drop(&own);
        CHECK(atomic_load(&own.used) == 0 && atomic_load(&own.spare) == 0);
    }
}

static void only_what_has_a_tag_is_kept(void)
{
    struct answer answer = answer_of(200, true, "");

    CHECK(!strcmp(response_caching(&answer, false), "no-store"));
    answer = answer_of(200, true, "abc");
    CHECK(!strcmp(response_caching(&answer, false), "no-cache"));
    answer.immutable = true;
    CHECK(!strcmp(response_caching(&answer, false),
                  "max-age=31536000, immutable"));
    CHECK(!strcmp(response_caching(&answer, true),
                  "private, max-age=31536000, immutable"));
    answer.code = 404;
    CHECK(!strcmp(response_caching(&answer, false), "no-store"));
}

static void bodies_become_shorter_or_stay(void)
{
    struct answer answer = answer_of(200, true, "abc");
    unsigned char back[5000], *body = answer_body(&answer, "x", 5000);
    uint32_t random = 1;

    REQUIRE(body);
    memset(body, 7, 5000);
    CHECK(response_compress(&answer, ENCODING_ZSTD));
    CHECK(answer.bytes < 5000 && !strcmp(answer.encoding, "zstd"));
    CHECK_EQ(ZSTD_decompress(back, sizeof(back), answer.body, answer.bytes),
             5000);
    CHECK(back[0] == 7 && back[4999] == 7);
    CHECK(response_compress(&answer, ENCODING_GZIP)); /* not twice */
    CHECK(!strcmp(answer.encoding, "zstd"));
    answer_release(&answer);
    answer = answer_of(200, true, "abc");
    body = answer_body(&answer, "x", 5000);
    REQUIRE(body);
    for (int i = 0; i < 5000; i++)
        body[i] =
            (unsigned char)((random = random * 1664525u + 1013904223u) >> 24);
    CHECK(response_compress(&answer, ENCODING_GZIP));
    CHECK(answer.bytes == 5000 && !answer.encoding);
    CHECK(response_may_compress(&answer, ENCODING_GZIP));
    memory.limit = 0;
    CHECK(!response_compress(&answer, ENCODING_GZIP));
    memory.limit = 1 << 22;
    answer.as_it_is = true;
    CHECK(!response_may_compress(&answer, ENCODING_GZIP));
    answer_release(&answer);
    CHECK_EQ(atomic_load(&memory.used), 0);
}

static void bodies_have_limits(void)
{
    struct answer answer = answer_of(200, true, "abc");

    CHECK(!answer_body(&answer, "x", (1 << 20) + 1));
    CHECK_EQ(answer.code, 413);
    CHECK(answer.body && strstr(answer.body, "BOUMA_ELIMIT"));
    answer_release(&answer);
    memory_budget_init(&memory, 1000);
    answer = answer_of(200, true, "abc");
    CHECK(!answer_body(&answer, "x", 2000));
    CHECK_EQ(answer.code, 503);
    CHECK(!strcmp(answer.headers[0].name, "Retry-After"));
    answer_release(&answer);
    CHECK_EQ(atomic_load(&memory.used), 0);
    memory_budget_init(&memory, 1 << 22);
}

static void messages_name_no_paths(void)
{
    struct answer answer = answer_of(200, true, "abc");

    answer.path = "/secret/run.bouma";
    answer.name = "run";
    answer_fail_status(&answer, BOUMA_ENOTFOUND,
                       "/secret/run.bouma: no, /secret/run.bouma/x");
    CHECK_EQ(answer.code, 404);
    CHECK(!memmem(answer.body, answer.bytes, "secret", 6));
    CHECK(memmem(answer.body, answer.bytes, "run: no, run/x", 14) != NULL);
    answer_release(&answer);
}

static bool json_is(void (*put)(struct json_out *out), const char *expected)
{
    struct json_out out;
    bool same;

    json_out_init(&out, &memory, 1000);
    put(&out);
    same = !out.failed && out.used == strlen(expected) &&
           memcmp(out.text, expected, out.used) == 0;
    if (!same)
        printf("%.*s\n", (int)out.used, out.text);
    memory_budget_release(&memory, out.text);
    return same;
}

static void put_numbers(struct json_out *out)
{
    json_out_open(out, '[');
    json_out_number(out, 0.1);
    json_out_number(out, NAN);
    json_out_number(out, -INFINITY);
    json_out_number(out, 1e300);
    json_out_integer(out, -5);
    json_out_integer(out, INT64_MIN);
    json_out_count(out, (uint64_t)1 << 53);
    json_out_count(out, ((uint64_t)1 << 53) + 1);
    json_out_close(out, ']');
}

static void put_texts(struct json_out *out)
{
    json_out_open(out, '{');
    json_out_key(out, "a\"b");
    json_out_text(out, "\n\\\xc3\xa4");
    json_out_key(out, "wrong");
    json_out_text(out, "x\xff\xc3(\xed\xa0\x80\xc0\xaf");
    json_out_key(out, "none");
    json_out_text(out, NULL);
    json_out_close(out, '}');
}

static void json_has_a_limit(void)
{
    struct json_out out;

    json_out_init(&out, &memory, 1000);
    for (int i = 0; i < 1000; i++)
        json_out_text(&out, "text");
    CHECK(out.failed && out.too_long);
    CHECK(out.used <= 1000);
    memory_budget_release(&memory, out.text);
}

#define WRONG "\xef\xbf\xbd"

static void json_is_valid(void)
{
    CHECK(json_is(put_numbers, "[0.1,null,\"-inf\",1e+300,-5,"
                               "\"-9223372036854775808\",9007199254740992,"
                               "\"9007199254740993\"]"));
    CHECK(
        json_is(put_texts,
                "{\"a\\\"b\":\"\\u000a\\\\\xc3\xa4\",\"wrong\":\"x" WRONG WRONG
                "(" WRONG WRONG WRONG WRONG WRONG "\",\"none\":null}"));
}

int main(void)
{
    memory_budget_init(&memory, 1 << 22);
    a_single_range_is_taken();
    other_ranges_are_ignored();
    tags_match_in_any_encoding();
    encodings_are_negotiated();
    a_plan_has_a_part_or_an_encoding();
    heads_have_lengths_without_bodies();
    large_blocks_are_kept_until_they_are_needed();
    a_large_block_takes_the_place_of_small_ones();
    only_what_has_a_tag_is_kept();
    bodies_become_shorter_or_stay();
    bodies_have_limits();
    messages_name_no_paths();
    json_is_valid();
    json_has_a_limit();
    CHECK_EQ(atomic_load(&memory.used), 0);
    return check_result();
}
