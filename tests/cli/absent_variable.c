/* absent_variable.c -- makes the dataset of its argument: step 3 has variable a
 * of grid "grid", and defines b, which it does not have; with a tolerance. */
#include "bouma.h"

int main(int argc, char **argv)
{
    bouma_grid_spec g = {.size = sizeof(g), .ndims = 2, .shape = {16, 16}};
    bouma_variable_spec v = {.size = sizeof(v), .type = BOUMA_TYPE_F32};
    float data[16 * 16] = {0};
    bouma_variable *a, *b;
    bouma_dataset *ds;
    bouma_grid *grid;
    int rc;

    if (argc != 2)
        return 2;
    rc = bouma_dataset_create(&ds, argv[1], NULL);
    if (!rc)
        rc = bouma_grid_define(&grid, ds, "grid", &g);
    if (!rc)
        rc = bouma_variable_define(&a, grid, "a", &v);
    v.codec = BOUMA_CODEC_WAVELET;
    v.tolerance = 0.5;
    v.tolerance_kind = BOUMA_TOLERANCE_ABSOLUTE;
    v.unit = "K";
    if (!rc)
        rc = bouma_variable_define(&b, grid, "b", &v);
    if (!rc)
        rc = bouma_step_begin(ds, 3, 0);
    if (!rc)
        rc = bouma_variable_put_copy(
            a, NULL, &BOUMA_ARRAY(BOUMA_TYPE_F32, data, sizeof(data)));
    if (!rc)
        rc = bouma_step_end(ds);
    if (!rc)
        rc = bouma_dataset_close(ds);
    bouma_dataset_free(ds);
    return rc != BOUMA_OK;
}
