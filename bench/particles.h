/* particles.h -- what the parts of bench_particles share. */
#ifndef BENCH_PARTICLES_H
#define BENCH_PARTICLES_H

#include "bouma.h"
#include "cloud_maker.h"

enum { PARTICLES_PATH_BYTES = 4096 };

enum { UNIFORM, CLUSTERED, DISTRIBUTIONS };
/* Of storing: the codecs; and raw with the levels of a chunk together, for who
 * asks for regions. */
enum { RAW, USUAL, QUANTISED, REGIONS, BACKENDS };

extern const char *const distribution_names[DISTRIBUTIONS];
extern const char *const backend_names[BACKENDS];

struct bench {
    int rank, ranks;
    uint64_t particles;
    int repetitions;
    const char *directory;
    struct cloud clouds[DISTRIBUTIONS]; /* what this rank has of them */
};

/* End the program, on all ranks. */
_Noreturn void fail(const char *what);
void check(int rc, const bouma_dataset *ds);

/* Where the dataset of a distribution and a way is. */
void particles_path(char path[PARTICLES_PATH_BYTES], const struct bench *b,
                    int distribution, int backend);

/* A dataset that is open for reading by one thread; if that fails, the program
 * ends, or 'try' gives the status (then close it, too). */
struct reading {
    bouma_dataset *ds;
    bouma_step *step;
    bouma_particles *set;
};
int reading_try(struct reading *r, const struct bench *b, int distribution,
                int backend);
void reading_open(struct reading *r, const struct bench *b, int distribution,
                  int backend);
void reading_close(struct reading *r);

/* particles_write.c: times of writes; then sizes, 1 if something that was
 * written cannot be read. All ranks. */
void bench_writes(const struct bench *b);
int bench_sizes(const struct bench *b);

/* particles_read.c: bytes of coarse reads, progressive reads, and queries. Only
 * one rank. */
void bench_coarse(const struct bench *b);
void bench_reads(const struct bench *b);

/* particles_scan.c: queries beside a scan of memory. Only one rank. */
void bench_scans(const struct bench *b);

/* particles_files.c: how even files are, planned for many ranks. Only one
 * rank; nothing is written. */
void bench_files(void);

#endif
