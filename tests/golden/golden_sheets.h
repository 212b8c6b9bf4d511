/* golden_sheets.h -- manifests with sheets, which writers make only of steps with
 * more files than belong into a repository. Readers take both alike. */
#ifndef GOLDEN_SHEETS_H
#define GOLDEN_SHEETS_H

#include <stdint.h>

/* Give the manifest in a file sheets, of so many files, a power of 2. Not 0
 * after a message on stderr. */
int golden_cut_manifest(const char *name, uint32_t files);

#endif
