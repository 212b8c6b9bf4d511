/* end_reading.h -- the end of a command that reads a dataset. */
#ifndef END_READING_H
#define END_READING_H

#include "context.h"

/* Free 'ds' (may be NULL) after a command that ended with 'rc'. If there is to
 * be a trace, it is written, and a failure of that is told. Collective. */
void end_reading(struct context *ctx, bouma_dataset *ds, int rc);
/* The same for a dataset that this process alone has opened. */
void end_reading_alone(struct context *ctx, bouma_dataset *ds);

#endif
