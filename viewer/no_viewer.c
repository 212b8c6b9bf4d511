/* no_viewer.c -- in place of the files of the viewer where npm is not there. */
#include "viewer.h"

const struct viewer_file viewer_files[1] = {{0}};
const size_t viewer_file_count = 0;
