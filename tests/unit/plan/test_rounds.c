/* Streams cut into rounds: full buffers, ends of parts, offsets in the file. */
#include "plan/rounds.h"

#include "bouma.h"
#include "check.h"

#define MOST 20

static void rounds_are_full_and_end_with_their_part(void)
{
    uint64_t state = 5;

    for (int tries = 0; tries < 2000; tries++) {
        struct bm_stream_part parts[MOST];
        uint64_t buffer = 1 + (uint64_t)check_below(&state, 100), at = 0;
        size_t count = (size_t)check_below(&state, MOST), r = 0;
        struct bm_rounds rounds;

        for (size_t i = 0; i < count; i++)
            parts[i] = (struct bm_stream_part){
                (uint64_t)check_below(&state, 500),
                (uint64_t)check_below(&state, (int64_t)buffer)};
        REQUIRE(!bm_rounds_init(&rounds, bm_allocator_default(), parts, count,
                                buffer));
        for (size_t i = 0; i < count; i++) {
            uint64_t file = parts[i].lead, end = at + parts[i].bytes;

            while (at < end) {
                uint64_t bytes = rounds.start[r + 1] - rounds.start[r];

                CHECK_EQ(rounds.start[r], at);
                CHECK(bytes > 0 && bytes <= rounds.largest);
                CHECK(rounds.largest <= buffer);
                /* It ends at a multiple of the buffer, or with the part. */
                CHECK((file + bytes) % buffer == 0 || at + bytes == end);
                CHECK(file / buffer == (file + bytes - 1) / buffer);
                for (uint64_t k = 0; k < bytes; k += 1 + bytes / 3)
                    CHECK_EQ(bm_rounds_find(&rounds, at + k), r);
                file += bytes;
                at += bytes;
                r++;
            }
        }
        CHECK_EQ(r, rounds.count);
        CHECK_EQ(rounds.start[r], at);
        bm_rounds_release(&rounds);
    }
}

int main(void)
{
    rounds_are_full_and_end_with_their_part();
    return check_result();
}
