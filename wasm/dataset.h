/* dataset.h -- a dataset as bouma_wasm.h hands it out: what the last call left.
 */
#ifndef BOUMA_WASM_DATASET_H
#define BOUMA_WASM_DATASET_H

#include "bouma_wasm.h"
#include "json.h"

struct bw_dataset {
    bouma_dataset *ds;
    int status;
    char own_message[256]; /* of failures that are not the library's */
    struct json json;
    void *data;
    bouma_particle_data *particles;
};

/* Begin a call: what the last one left goes. */
void bw_begin(struct bw_dataset *d);

/* Keep a status of the library, and return it. */
int bw_keep(struct bw_dataset *d, int status);

/* Keep a status and a message of our own. NULL. */
void *bw_fail(struct bw_dataset *d, int status, const char *message);

/* The JSON that the call has made; NULL if it has failed. */
const char *bw_answer(struct bw_dataset *d);

#endif
