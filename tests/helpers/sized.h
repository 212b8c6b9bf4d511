/* sized.h -- hand over a struct that knows its size. */
#ifndef BM_TEST_SIZED_H
#define BM_TEST_SIZED_H

#include "bouma.h"

/* The struct at 'out', with its member 'size' set. */
#define SIZED(out) ((out)->size = sizeof(*(out)), (out))

/* End a step, or wait for it: its record, too. */
static inline int end_step(bouma_record *record, bouma_dataset *ds)
{
    int rc = bouma_step_end(ds);

    record->size = sizeof(*record);
    bouma_dataset_record_get(record, ds);
    return rc;
}

static inline int wait_for_step(bouma_record *record, bouma_dataset *ds)
{
    int rc = bouma_dataset_wait(ds);

    record->size = sizeof(*record);
    bouma_dataset_record_get(record, ds);
    return rc;
}

#endif
