/* fuzz_url.c -- no target of a request makes its parser crash, and what comes
 * out names nothing above the root. */
#include "fuzz_help.h"
#include "serve/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), message[80], encoded[600];
    struct url url, back;

    if (!text)
        exit(1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (!url_parse(&url, text, message, sizeof(message))) {
        HOLDS(message[0] && memchr(message, '\0', sizeof(message)));
        url_release(&url);
        free(text);
        return 0;
    }
    HOLDS(url.part_count <= URL_PARTS);
    HOLDS(url.parameter_count <= URL_PARAMETERS);
    for (size_t i = 0; i < url.part_count; i++) {
        HOLDS(url.parts[i][0]);
        HOLDS(strcmp(url.parts[i], ".") && strcmp(url.parts[i], ".."));
        /* Encoded, a name is one part, and the same. */
        encoded[0] = '/';
        if (!url_encode(encoded + 1, sizeof(encoded) - 1, url.parts[i]))
            continue;
        HOLDS(url_parse(&back, encoded, message, sizeof(message)));
        HOLDS(back.part_count == 1 && !strcmp(back.parts[0], url.parts[i]));
        url_release(&back);
    }
    for (size_t i = 0; i < url.parameter_count; i++)
        HOLDS(url_parameter(&url, url.parameters[i].name) ==
              url.parameters[i].value);
    url_release(&url);
    free(text);
    return 0;
}
