/* mpi_shim.h -- MPI between the library and the real one: the n-th call of a
 * kind, on this rank, fails, comes late, or never comes to its end. Linked into
 * a test program, its MPI_X stand before those of the MPI library, and call
 * PMPI_X. */
#ifndef MPI_SHIM_H
#define MPI_SHIM_H

/* All that the library calls; check_shim.sh compares. */
#define SHIM_LIST(X)                                                           \
    X(Isend)                                                                   \
    X(Irecv)                                                                   \
    X(Test)                                                                    \
    X(Iprobe)                                                                  \
    X(Get_count)                                                               \
    X(Iallreduce)                                                              \
    X(Comm_idup)                                                               \
    X(Comm_free)                                                               \
    X(Comm_set_errhandler)                                                     \
    X(Comm_rank)                                                               \
    X(Comm_size)                                                               \
    X(Initialized)                                                             \
    X(Finalized)                                                               \
    X(Error_string)                                                            \
    X(Cancel)                                                                  \
    X(Request_free)

enum shim_kind {
#define SHIM_ENTRY(name) SHIM_##name,
    SHIM_LIST(SHIM_ENTRY)
#undef SHIM_ENTRY
        SHIM_KINDS
};
extern const char *const shim_names[];

enum shim_mode {
    SHIM_NOTHING,
    SHIM_FAIL,   /* the n-th fails, without any effect */
    SHIM_BREAK,  /* and so do all that follow */
    SHIM_DELAY,  /* the n-th takes a while */
    SHIM_STARVE, /* from the n-th on, nothing comes to an end: sends are lost,
                    receives never match, tests and probes find nothing; other
                    calls last till shim_release() of all other ranks */
    SHIM_MODES
};

/* Count from now on, and act on this. */
void shim_arm(enum shim_kind kind, enum shim_mode mode, long n);
/* All is as without it. The other ranks' starved calls go on. Collective. */
void shim_release(void);
/* The calls since it was armed. */
long shim_count(enum shim_kind kind);
/* Whether it has acted since. */
int shim_has_acted(void);

#endif
