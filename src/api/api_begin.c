/* api_begin.c -- how collective calls on a dataset begin. */
#include "api/api.h"
#include "write/write.h"

int bm_api_finish_write(bouma_dataset *ds)
{
    return bm_write_finish(ds, &ds->carried.record);
}

int bm_api_begin(bouma_dataset *ds, enum bm_api_use use)
{
    int rc = BOUMA_OK;

    if (!ds)
        return BOUMA_EINVAL;
    if (use == BM_TO_READ && ds->opened)
        bm_error_clear(&ds->error);
    else
        rc = use == BM_TO_WRITE ? bm_api_check_writing(ds)
                                : bm_api_check_open(ds);
    return rc ? rc : bm_api_finish_write(ds);
}
