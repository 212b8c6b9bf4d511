/* write.h -- steps are written. Inside this folder, write_job.h has the stages
 * that each goes through. */
#ifndef BM_WRITE_H
#define BM_WRITE_H

#include "dataset/dataset.h"

/* End the step: 'status' is the caller's own, BOUMA_OK or EABORTED. No other
 * one is being stored. Collective. 'record' may be NULL. */
int bm_write_step(struct bouma_dataset *ds, int status, bouma_record *record);

/* If a step is still being stored: wait for it and commit it. Its record, if
 * that is not NULL. Collective; nothing happens if there is none. */
int bm_write_settle(struct bouma_dataset *ds, bouma_record *record);

/* Forget the plan of the last step, and a step that is still being stored. */
void bm_write_release(struct bm_carried *carried, const bouma_allocator *a);

#endif
