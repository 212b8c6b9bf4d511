/* fuzz_options.c -- options as text: the input is name, NUL, value; and all of
 * it as the environment variable. */
#include "bouma.h"
#include "fuzz_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = (char *)fuzz_copy(data, size);
    char *all = realloc(text, size + 1), message[64];
    const char *value;
    bouma_options options = {.size = sizeof(options)};
    bouma_dataset *ds;
    bouma_io *io;

    HOLDS(all);
    all[size] = 0;
    value = strlen(all) < size ? all + strlen(all) + 1 : "";
    memset(message, 'x', sizeof(message));
    if (bouma_options_set(&options, all, value, message, sizeof(message)))
        HOLDS(message[0] && memchr(message, 0, sizeof(message)));
    bouma_options_set(&options, all, value, NULL, 0);
    bouma_options_set(&options, all, value, message, 1);
    HOLDS(options.size == sizeof(options));
    HOLDS(options.files >= 0 && options.group >= 0);
    HOLDS(options.timeout >= 0);

    io = bouma_io_memory_new();
    HOLDS(io);
    options = (bouma_options){.size = sizeof(options)};
    options.io = io;
    setenv("BOUMA_OPTIONS", all, 1);
    HOLDS(bouma_dataset_open(&ds, "nowhere", &options));
    HOLDS(bouma_error_message(ds)[0]);
    bouma_dataset_free(ds);
    bouma_io_memory_free(io);
    free(all);
    return 0;
}
