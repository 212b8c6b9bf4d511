/* open_files.h -- what it takes to open a step of very many files. */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

/* Print the bytes that are read to open a step of 16,384 files, whose manifest
 * has sheets, and to read one patch of it, beside those of the whole manifest,
 * which a reader without sheets reads. The dataset is removed. */
void open_files_measure(const char *directory);

#endif
