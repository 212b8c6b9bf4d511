/* static_site.h -- a folder with datasets and all that a browser needs to show
 * them, for a web server that knows nothing of bouma: docs/http.md. */
#ifndef SERVE_STATIC_SITE_H
#define SERVE_STATIC_SITE_H

#include "../context.h"
#include "served.h"

struct static_site {
    const char *folder;
    struct served *served; /* what it shows */
    bool copies;           /* the data are copied; else a link leads there */
    bool forced;           /* also into a folder of something else */
};

/* Write the folder. Files get their names when they are complete, the page the
 * last of all; a folder that was written before is brought up to date. */
int static_site_write(const struct static_site *site, struct context *ctx);

#endif
