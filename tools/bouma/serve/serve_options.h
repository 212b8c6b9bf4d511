/* serve_options.h -- the options of bouma serve. A build without libmicrohttpd
 * takes them as well, so that it tells of what is missing, not of an option. */
#ifndef SERVE_OPTIONS_H
#define SERVE_OPTIONS_H

#include "../command.h"

extern const struct option_spec serve_options[];

#endif
