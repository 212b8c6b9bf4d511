/* axes.h -- how many axes there are. */
#ifndef AXES_H
#define AXES_H

/* Of grids and positions, at most: BOUMA_MAX_DIMS leaves room for more. */
enum { MAX_AXES = 3 };

#endif
