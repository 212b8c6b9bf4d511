/* cloud_maker.h -- particles for benchmarks: all over the unit cube, or most of
 * them in small blobs. Each has a position in f32 and four attributes in f64.
 * The same seed gives the same particles, on any number of ranks. */
#ifndef BENCH_CLOUD_MAKER_H
#define BENCH_CLOUD_MAKER_H

#include <stdint.h>

enum { CLOUD_ATTRIBUTES = 4, CLOUD_MAX_BLOBS = 64 };

/* Bytes of a particle. */
#define CLOUD_BYTES (3 * sizeof(float) + CLOUD_ATTRIBUTES * sizeof(double))

/* Two that are smooth in space but for a little noise, the particle's number,
 * and a random one. */
enum { CLOUD_TEMPERATURE, CLOUD_PRESSURE, CLOUD_ID, CLOUD_RANDOM };
extern const char *const cloud_names[CLOUD_ATTRIBUTES];

/* Gaussian blobs anywhere, some with more particles than others; no blobs: all
 * particles are in the background, which is uniform. */
struct cloud_spec {
    int blobs;           /* up to CLOUD_MAX_BLOBS */
    double narrow, wide; /* the deviation of a blob is between these */
    double background;   /* the share of particles outside blobs */
    uint64_t seed;
};

/* The particles of a spec, one after the other, in no order in space. */
struct cloud_stream {
    struct cloud_spec spec;
    uint64_t state;
    double centre[CLOUD_MAX_BLOBS][3], deviation[CLOUD_MAX_BLOBS];
};
void cloud_stream_init(struct cloud_stream *s, const struct cloud_spec *spec);
void cloud_stream_next(struct cloud_stream *s, float at[3]);

struct cloud {
    uint64_t count;
    float *position[3];
    double *attribute[CLOUD_ATTRIBUTES];
};

/* Those of 'total' particles that are in the 'place'-th of the equal boxes into
 * which the cube is cut, 'boxes' along each axis. Without blobs each box has
 * the same number of them. 0, or -1 without memory. */
int cloud_make(struct cloud *c, const struct cloud_spec *spec, uint64_t total,
               const int place[3], const int boxes[3]);
void cloud_release(struct cloud *c);

#endif
