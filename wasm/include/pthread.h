/* pthread.h -- of a system with one thread. Locks are free, nobody waits, and
 * no thread can be started: the library then does all work on its own one. */
#ifndef BOUMA_WASM_PTHREAD_H
#define BOUMA_WASM_PTHREAD_H

#include <errno.h>
#include <sys/types.h> /* has the types */

#define ALWAYS(name, type)                                                     \
    static inline int name(type *object)                                       \
    {                                                                          \
        (void)object;                                                          \
        return 0;                                                              \
    }
ALWAYS(pthread_mutex_lock, pthread_mutex_t)
ALWAYS(pthread_mutex_unlock, pthread_mutex_t)
ALWAYS(pthread_mutex_destroy, pthread_mutex_t)
ALWAYS(pthread_cond_signal, pthread_cond_t)
ALWAYS(pthread_cond_broadcast, pthread_cond_t)
ALWAYS(pthread_cond_destroy, pthread_cond_t)
#undef ALWAYS

static inline int pthread_mutex_init(pthread_mutex_t *lock, const void *how)
{
    (void)lock;
    (void)how;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *cond, const void *how)
{
    (void)cond;
    (void)how;
    return 0;
}

/* Who waits would wait for a thread that there is not. */
static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock)
{
    (void)cond;
    (void)lock;
    return EDEADLK;
}

static inline int pthread_create(pthread_t *thread, const void *how,
                                 void *(*run)(void *), void *context)
{
    (void)thread;
    (void)how;
    (void)run;
    (void)context;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)thread;
    (void)result;
    return ESRCH;
}

static inline pthread_t pthread_self(void)
{
    return 0;
}

#endif
