/* io_thread.h -- a thread that stores what is handed to it, while the one that
 * hands it over goes on. It makes no call of MPI. */
#ifndef BM_IO_THREAD_H
#define BM_IO_THREAD_H

#include <stddef.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/trace.h"

struct bm_io_thread;

/* Store job number 'job'. */
typedef int bm_io_job(void *context, size_t job, struct bm_error *error);

/* One that takes at most 'jobs' jobs. NULL if there is no memory. Without a
 * thread, because none is wanted or can be started, the jobs are done by
 * whoever asks for the next that is over, or waits for them. */
struct bm_io_thread *bm_io_thread_new(const bouma_allocator *a, size_t jobs,
                                      bm_io_job *run, void *context,
                                      int threaded);
/* Before the first job: jobs are events of 'trace' (may be NULL), called 'name'
 * (a constant), with their number as 'counted'. */
void bm_io_thread_set_trace(struct bm_io_thread *k, struct bm_trace *trace,
                            const char *name, const char *counted);
/* Before the first job: whenever one is over, the thread calls this. */
typedef void bm_io_waker(void *context);
void bm_io_thread_set_waker(struct bm_io_thread *k, bm_io_waker *wake,
                            void *context);
/* Waits for what was handed over, if a thread was wanted. Accepts NULL. */
void bm_io_thread_free(struct bm_io_thread *k);

/* Jobs are done in the order in which they were handed over; after one that
 * failed, the rest are left out. */
void bm_io_thread_hand(struct bm_io_thread *k, size_t job);

/* The next job that is over (done or left out), each once, in order: 1 if there
 * is one. With 'wait', wait for it: 0 only if none is left. */
int bm_io_thread_next(struct bm_io_thread *k, size_t *job, int wait);

/* Wait till all that was handed over is over; as bm_io_thread_status() then. */
int bm_io_thread_wait(struct bm_io_thread *k, struct bm_error *error);

/* Whether a job has failed: its status, and the message in 'error'. */
int bm_io_thread_status(struct bm_io_thread *k, struct bm_error *error);

/* When all that was handed over is over, and none has failed: as many jobs can
 * be handed over again as at first. */
void bm_io_thread_rewind(struct bm_io_thread *k);

/* How long it has worked. */
double bm_io_thread_seconds(struct bm_io_thread *k);

#endif
