/* cut_manifests.c -- give the manifests of datasets sheets, which they have not,
 * since they are of few files: cut_manifests FILES MANIFEST..., with so many
 * files in a sheet, a power of 2. */
#include <stdlib.h>

#include "golden_sheets.h"

int main(int argc, char **argv)
{
    int bad = argc < 3;

    for (int i = 2; i < argc && !bad; i++)
        bad = golden_cut_manifest(argv[i], (uint32_t)atoi(argv[1]));
    return bad;
}
