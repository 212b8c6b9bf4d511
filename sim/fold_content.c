/* fold_content.c -- the buffers of `bench io` may be folded (fold.h). */
#include "content.h"
#include "fold.h"

uint8_t *__real_content_new(size_t bytes);
uint8_t *__wrap_content_new(size_t bytes);
uint8_t *__wrap_content_new(size_t bytes)
{
    uint8_t *data = sim_fold(bytes);

    return data ? data : __real_content_new(bytes);
}

void __real_content_free(uint8_t *data);
void __wrap_content_free(uint8_t *data);
void __wrap_content_free(uint8_t *data)
{
    if (!sim_is_folded(data))
        __real_content_free(data);
}

void __real_content_fill(uint8_t *data, size_t bytes, struct content content);
void __wrap_content_fill(uint8_t *data, size_t bytes, struct content content);
void __wrap_content_fill(uint8_t *data, size_t bytes, struct content content)
{
    if (!sim_is_folded(data))
        __real_content_fill(data, bytes, content);
}
