// threads.cpp -- see threads.h. A mutex or condition of the library's has room
// for a pointer to one of SimGrid's.
#define SIM_INSIDE
#include "threads.h"

#include <cerrno>
#include <cmath>
#include <cstring>

#include "rank.hpp"
#include "work.h"

namespace sg = simgrid::s4u;

namespace
{

// The pointer in the first bytes. Objects that were initialised by a constant
// begin with zeros there, too.
template <class T, class P> T *object_in(P *place)
{
    static_assert(sizeof(P) >= sizeof(T *));
    T *object;

    std::memcpy(&object, place, sizeof(object));
    if (!object) {
        auto made = T::create();

        intrusive_ptr_add_ref(made.get());
        object = made.get();
        std::memcpy(place, &object, sizeof(object));
    }
    return object;
}

template <class T, class P> int destroy(P *place)
{
    T *object;

    std::memcpy(&object, place, sizeof(object));
    if (object)
        intrusive_ptr_release(object);
    std::memset(place, 0, sizeof(*place));
    return 0;
}

sg::Mutex *mutex_in(pthread_mutex_t *m)
{
    return object_in<sg::Mutex>(m);
}

sg::ConditionVariable *condition_in(pthread_cond_t *c)
{
    return object_in<sg::ConditionVariable>(c);
}

} // namespace

extern "C" {

int sim_thread_create(pthread_t *thread, const pthread_attr_t *,
                      void *(*run)(void *), void *context)
{
    sim::Rank &rank = sim::this_rank();

    sim_pay();
    auto actor = sg::Actor::create("thread", rank.host, [run, context, &rank] {
        sim::adopt(sg::this_actor::get_pid(), rank);
        run(context);
        sim_pay();
        sim::forget(sg::this_actor::get_pid());
        rank.wake();
    });

    intrusive_ptr_add_ref(actor.get());
    *thread = reinterpret_cast<pthread_t>(actor.get());
    return 0;
}

int sim_thread_join(pthread_t thread, void **result)
{
    auto *actor = reinterpret_cast<sg::Actor *>(thread);

    sim_pay();
    actor->join();
    intrusive_ptr_release(actor);
    if (result)
        *result = nullptr;
    return 0;
}

int sim_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *)
{
    std::memset(m, 0, sizeof(*m));
    return 0;
}

int sim_mutex_destroy(pthread_mutex_t *m)
{
    return destroy<sg::Mutex>(m);
}

int sim_mutex_lock(pthread_mutex_t *m)
{
    sim_pay();
    mutex_in(m)->lock();
    return 0;
}

int sim_mutex_unlock(pthread_mutex_t *m)
{
    sim_pay();
    mutex_in(m)->unlock();
    return 0;
}

int sim_cond_init(pthread_cond_t *c, const pthread_condattr_t *)
{
    std::memset(c, 0, sizeof(*c));
    return 0;
}

int sim_cond_destroy(pthread_cond_t *c)
{
    return destroy<sg::ConditionVariable>(c);
}

int sim_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    std::unique_lock<sg::Mutex> lock(*mutex_in(m), std::adopt_lock);

    sim_pay();
    condition_in(c)->wait(lock);
    lock.release();
    return 0;
}

int sim_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
                       const struct timespec *until)
{
    std::unique_lock<sg::Mutex> lock(*mutex_in(m), std::adopt_lock);
    double time = (double)until->tv_sec + 1e-9 * (double)until->tv_nsec;
    sim_pay();
    auto status = condition_in(c)->wait_until(lock, time);

    lock.release();
    return status == std::cv_status::timeout ? ETIMEDOUT : 0;
}

// Whoever waits for a thread may do so in a nap.
int sim_cond_signal(pthread_cond_t *c)
{
    sim_pay();
    condition_in(c)->notify_one();
    sim::this_rank().wake();
    return 0;
}

int sim_cond_broadcast(pthread_cond_t *c)
{
    sim_pay();
    condition_in(c)->notify_all();
    sim::this_rank().wake();
    return 0;
}

int sim_clock_gettime(clockid_t, struct timespec *t)
{
    sim_pay();
    double now = sg::Engine::get_clock();

    t->tv_sec = (time_t)now;
    t->tv_nsec = (long)((now - std::floor(now)) * 1e9);
    return 0;
}

int sim_nanosleep(const struct timespec *t, struct timespec *)
{
    sim_pay();
    if (sim::is_thread())
        sg::this_actor::sleep_for((double)t->tv_sec +
                                  1e-9 * (double)t->tv_nsec);
    else
        sim::this_rank().sleep(1); // a second: whatever is missed is not lost
    return 0;
}

int sim_yield(void)
{
    return 0;
}

} // extern "C"
