/* wasm_forge.c -- wasm_forge OUT INPUT...: the datasets that fuzz_whole.c makes
 * of these inputs, on disk: OUT/0/d, OUT/1/d and so on. Most are damaged, and
 * have checksums that fit. */
#include <sys/stat.h>
#include <unistd.h>

#include "../fuzz/fuzz_whole.c"

static void enter(const char *name, int number)
{
    char text[32];

    if (!name)
        snprintf(text, sizeof(text), "%d", number);
    HOLDS(!mkdir(name ? name : text, 0777));
    HOLDS(!chdir(name ? name : text));
}

static size_t load(uint8_t *data, size_t room, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t n;

    HOLDS(file);
    n = fread(data, 1, room, file);
    fclose(file);
    return n;
}

/* As LLVMFuzzerTestOneInput() does it. */
static int forge(const uint8_t *data, size_t size)
{
    const struct original *o;

    if (!size || size > 500)
        return 0;
    o = original_of(size);
    memcpy(changed, o->files, sizeof(changed));
    for (size_t at = 1; at + 5 <= size; at += 5)
        change(o, data + at);
    fix(o, data[0]);
    return 1;
}

int main(int argc, char **argv)
{
    uint8_t data[512];
    char *inputs[4096];
    int made = 0;

    HOLDS(argc > 2 && argc < 4096);
    for (int i = 2; i < argc; i++)
        HOLDS(inputs[i] = realpath(argv[i], NULL));
    use_originals();
    enter(argv[1], 0);
    for (int i = 2; i < argc; i++) {
        size_t size = load(data, sizeof(data), inputs[i]);

        if (forge(data, size)) {
            enter(NULL, made++);
            save(bouma_io_posix(), data[0]);
            HOLDS(!chdir(".."));
        }
        free(inputs[i]);
    }
    printf("%d datasets\n", made);
    return 0;
}
