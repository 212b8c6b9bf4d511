/* threads.h -- comes before every source of the library that is compiled for
 * the simulation: threads, clocks and naps become those of the simulated
 * machine. Only one actor runs at a time, so atomics stay as they are. */
#ifndef SIM_THREADS_H
#define SIM_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

int sim_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*run)(void *), void *context);
int sim_thread_join(pthread_t thread, void **result);
int sim_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attributes);
int sim_mutex_destroy(pthread_mutex_t *m);
int sim_mutex_lock(pthread_mutex_t *m);
int sim_mutex_unlock(pthread_mutex_t *m);
int sim_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes);
int sim_cond_destroy(pthread_cond_t *c);
int sim_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int sim_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                       const struct timespec *until);
int sim_cond_signal(pthread_cond_t *c);
int sim_cond_broadcast(pthread_cond_t *c);
int sim_clock_gettime(clockid_t clock, struct timespec *t);
/* Until something happens to the rank, or longer: nothing is polled in a
 * simulation. */
int sim_nanosleep(const struct timespec *t, struct timespec *left);
int sim_yield(void);

#ifdef __cplusplus
}
#endif

#ifndef SIM_INSIDE
/* SMPI has its own, for programs. */
#undef clock_gettime
#undef nanosleep
#define pthread_create         sim_thread_create
#define pthread_join           sim_thread_join
#define pthread_mutex_init     sim_mutex_init
#define pthread_mutex_destroy  sim_mutex_destroy
#define pthread_mutex_lock     sim_mutex_lock
#define pthread_mutex_unlock   sim_mutex_unlock
#define pthread_cond_init      sim_cond_init
#define pthread_cond_destroy   sim_cond_destroy
#define pthread_cond_wait      sim_cond_wait
#define pthread_cond_timedwait sim_cond_timedwait
#define pthread_cond_signal    sim_cond_signal
#define pthread_cond_broadcast sim_cond_broadcast
#define clock_gettime          sim_clock_gettime
#define nanosleep              sim_nanosleep
#define sched_yield            sim_yield
#endif

#endif
