/* machine_tell.c -- what a process knows of where it is. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "machine/told.h"

/* Names have no blanks and are printable: what is not, is not told. */
static void clean(char *name)
{
    for (; *name; name++)
        if (*name <= ' ' || *name > '~')
            *name = '?';
}

void bm_machine_tell(struct bm_buffer *out, const char *spec)
{
    struct bm_told told = {.package = -1};
    char host[256] = "";

    if (!spec[0])
        return;
    if (gethostname(host, sizeof(host) - 1) || !host[0])
        memcpy(host, "localhost", sizeof("localhost"));
    clean(host);
    told.host = host;
    told.host_bytes = strlen(host);
    bm_told_put(out, &told);
}
