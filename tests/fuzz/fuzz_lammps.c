/* fuzz_lammps.c -- no text makes the reader of LAMMPS dumps crash, nor ask for
 * much more memory than the text has. */
#include "fuzz_help.h"
#include "read_lammps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size);
    struct table_message message;
    struct lammps_file file;
    bool found = true;

    lammps_open(&file, copy, size);
    while (found) {
        struct particle_table table = {0};
        struct lammps_frame frame;

        if (!lammps_next(&file, &frame, &table, &found, &message))
            found = false;
        else if (found) {
            HOLDS(frame.atoms <= size && frame.words > 0);
            lammps_load(&file, &frame, &table,
                        (struct row_range){frame.atoms / 3, frame.atoms},
                        &message);
        }
        table_release(&table);
    }
    free(copy);
    return 0;
}
