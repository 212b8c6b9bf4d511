/* serve_options.c -- the options of bouma serve, whether it can serve or not. */
#include "serve_options.h"

const struct option_spec serve_options[] = {
    {.name = "port",
     .argument = "N",
     .help = "port; 0: any that is free; default: 8080"},
    {.name = "bind",
     .argument = "ADDRESS",
     .help = "address to listen at; default: 127.0.0.1, this machine alone"},
    {.name = "token",
     .argument = "T",
     .help = "answer only those who give this token; default: that of the "
             "environment variable BOUMA_TOKEN, if there is one"},
    {.name = "public",
     .help = "answer everyone, also from other machines, without a token"},
    {.name = "host",
     .argument = "NAME",
     .many = true,
     .help = "a name by which clients reach this server; may be repeated"},
    {.name = "allow-origin",
     .argument = "ORIGIN",
     .many = true,
     .help = "pages of this origin (https://host:port, or * for all) may read "
             "answers; may be repeated"},
    {.name = "memory",
     .argument = "BYTES",
     .help = "memory for answers and open datasets; default: 1G"},
    {.name = "max-answer",
     .argument = "BYTES",
     .help = "longest answer; default: 64M"},
    {.name = "connections",
     .argument = "N",
     .help = "connections at once, a quarter of them from one address; "
             "default: 1024"},
    {.name = "workers",
     .argument = "N",
     .help = "threads that answer; default: one per processor, at least 4"},
    {.name = "open", .help = "open the viewer in a browser"},
    {.name = "static",
     .argument = "OUT",
     .help = "do not serve, but write a folder that any web server can serve: "
             "the viewer, and the data"},
    {.name = "copy",
     .help = "with --static: copy the data; default: links to the datasets"},
    {.name = "force",
     .help = "with --static: write into a folder that has other files, too"},
    {0}};
