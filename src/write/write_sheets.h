/* write_sheets.h -- the manifest of a step with many files is made by many
 * ranks: of each sheet (layout/sheet.h) a leader gathers the records, and hands
 * it to rank 0 as bytes, with what its files have together. So rank 0 decodes
 * as much as there are sheets, not files. */
#ifndef BM_WRITE_SHEETS_H
#define BM_WRITE_SHEETS_H

#include "write/write_job.h"

/* How many files a sheet of the step has; 0: its manifest has no sheets. */
uint32_t bm_job_sheet_files(const struct bm_write_job *job);

/* The record of a file, behind others of this rank. */
void bm_record_put(struct bm_buffer *records, uint32_t file,
                   const struct bm_subfile_info *info,
                   const struct bm_schema *schema);
/* All records that a buffer has, into the manifest's. BOUMA_OK, or a status
 * with a message. */
int bm_records_decode(struct bm_manifest *m, const struct bm_buffer *records,
                      struct bm_error *error);

/* The records of this rank's files become what it has to say to rank 0 of the
 * sheets that it leads: *mine is replaced. One status on all ranks. Collective.
 */
int bm_sheets_gather(struct bm_write_job *job, struct bm_buffer *mine, int rc);
/* Rank 0: what the leaders said, into the manifest of so many files, for as
 * long as 'all' is there. BOUMA_OK, or a status with a message. */
int bm_sheets_decode(struct bm_manifest *m, const struct bm_buffer *all,
                     size_t files, uint32_t sheet_files,
                     struct bm_error *error);

#endif
