/* api.h -- what the files of the API share. */
#ifndef BM_API_H
#define BM_API_H

#include "base/option.h"
#include "base/strict_math.h"
#include "dataset/dataset.h"

/* A complete copy of a caller's options (may be NULL): environment and defaults
 * filled in, everything checked. */
int bm_options_complete(struct bm_options *out, const bouma_options *given,
                        struct bm_error *error);

/* The same, and the path looked at. */
int bm_api_check(struct bm_options *out, const bouma_options *given,
                 const char *path, struct bm_error *error);

/* Whether the dataset was opened at all, and not closed since. The message of
 * an earlier call is cleared, unless it is that of the opening. */
int bm_api_check_open(bouma_dataset *ds);

/* A step that is still being stored is committed, or has failed, before
 * anything else happens: here and nowhere else, so that no pipeline has to
 * think of another. Collective. */
int bm_api_finish_write(bouma_dataset *ds);

/* What a call has a dataset for. */
enum bm_api_use {
    BM_TO_READ,  /* one that was closed can still be read */
    BM_TO_USE,   /* it is open */
    BM_TO_WRITE, /* and things can be written */
};

/* How a collective call on a dataset (may be NULL) begins: it is good for that,
 * the message of an earlier call is cleared, and bm_api_finish_write(). */
int bm_api_begin(bouma_dataset *ds, enum bm_api_use use);

/* A call that calls its caller back, on a dataset or on a step (may be NULL):
 * what the caller frees meanwhile stays until the call ends, with 'rc', which
 * comes back. */
void bm_api_enter(bouma_dataset *ds);
int bm_api_leave(bouma_dataset *ds, int rc);
void bm_api_enter_step(bouma_step *step);
int bm_api_leave_step(bouma_step *step, int rc);

/* ESTATE if the step is left of a dataset of several ranks that was freed. */
int bm_api_check_together(const bouma_step *step);

/* A call has ended with 'rc', which comes back: tell the trace, if there is
 * one. It began at 'begun', a bm_trace_now() of ds->engine.tracing.trace. */
int bm_api_traced(bouma_dataset *ds, const char *call, double begun, int rc);

/* Whether things can be defined and written. */
int bm_api_check_writing(bouma_dataset *ds);
/* The same inside a step, for something that belongs to 'schema' and is called
 * 'what'. */
int bm_api_check_put(bouma_dataset *ds, const struct bm_schema *schema,
                     const char *what);
/* The same for a definition of 'name', whose handle goes to 'out'. */
int bm_api_check_defining(bouma_dataset *ds, const void *out, const char *name);
/* A definition or a put has ended with 'rc', which comes back: a failure is
 * remembered, and fails the next step. Of a definition: 'owner' (may be NULL)
 * and 'name' tell which. */
int bm_api_defined(bouma_dataset *ds, const void *owner, const char *name,
                   enum bm_refused_scope scope, int rc);
int bm_api_put(bouma_dataset *ds, int rc);
/* The same of a call that begins a step. */
int bm_api_begun(bouma_dataset *ds, int rc);
/* A copy of a caller's spec, which says its own size. */
int bm_api_copy_spec(struct bm_error *error, void *out, size_t bytes,
                     const void *spec, size_t spec_bytes, const char *what);
/* A copy of the i-th element of a caller's array of structs, which say their own
 * size: they lie at a distance of it, and all say the same. */
int bm_api_copy_element(struct bm_error *error, void *out, size_t bytes,
                        const void *array, size_t i, const char *what);
/* A variable of a grid or of particles. */
int bm_api_define_variable(bouma_variable **out, struct bm_object *object,
                           const char *name, const bouma_variable_spec *spec);
/* A caller's array for so many samples of a variable along each axis; EINVAL if
 * it is too small for them, or values would overlap in memory. A sample that is
 * put may be repeated: 'may_repeat'. *apart is out->apart, to be dropped from
 * the memory of the variable's schema. */
int bm_api_array(struct bm_array *out, int64_t **apart,
                 const bouma_array *given, const bouma_variable *v,
                 const int64_t count[3], int may_repeat);
/* Whether the samples of a box (NULL: all) can be read now; lifts it. */
int bm_api_check_readable(struct bm_box *lifted, const bouma_variable *v,
                          int level, const bouma_box *box);
/* ESTATE while a call that reads the step calls its caller back. */
int bm_api_check_idle(const struct bouma_step *step);

/* Objects and variables of a step by number or name; NULL, with a message. */
struct bm_object *bm_api_object(bouma_step *step, enum bm_object_kind kind,
                                int i);
struct bm_object *bm_api_find_object(bouma_step *step, enum bm_object_kind kind,
                                     const char *name);
bouma_variable *bm_api_variable(struct bm_object *object, int i);
bouma_variable *bm_api_find_variable(struct bm_object *object,
                                     const char *name);
/* Those of an object. */
bouma_attributes *bm_api_attributes(struct bm_object *object);

/* ENOTFOUND: there is no 'kind' of that name; nth(list, i) gives the names that
 * there are, and NULL past the last. */
int bm_api_no_such(struct bm_error *error, const char *kind, const char *name,
                   const char *(*nth)(const void *list, int i),
                   const void *list);

/* A struct that the library fills, and whose first member is its size, which the
 * caller has set: is it there, and can that be its size? Then it is zeroed, but
 * for the size. 'own' is the size that it has here. */
int bm_reply_begin(void *given, size_t own);
/* Fill it from one of ours, as far as it goes: BOUMA_OK, or EINVAL. */
int bm_reply(void *given, const void *ours, size_t own);
/* The same for one that need not be there: EINVAL if its size is not set. */
int bm_api_check_report(const void *report, struct bm_error *error);

/* EINVAL: the caller gives no such struct for 'what'. 'error' may be NULL. */
int bm_api_no_output(struct bm_error *error, const char *what);

/* Whether a struct that begins with its size can have that one: else it was
 * never set. */
int bm_struct_is_size(size_t bytes);

/* Copy a caller's struct of 'given_bytes' into a zeroed one of ours; a longer
 * one of a newer caller must end in zeros. 1 if that is so. */
int bm_struct_copy(void *out, size_t bytes, const void *given,
                   size_t given_bytes);

/* Open in any mode over a communicator, which is taken over; NULL if there was
 * no memory even for that. Collective. */
int bm_api_open(bouma_dataset **out, struct bm_comm *comm, enum bm_mode mode,
                const char *path, const bouma_options *opts);

/* The same for a plain file. */
int bm_api_io_open(bouma_file **out, struct bm_comm *comm, const char *path,
                   bouma_file_mode mode, const bouma_options *opts);

/* A handle that is there for the message alone, and takes 'comm' (may be NULL)
 * over; NULL without memory. The status of 'error' comes back. */
int bm_api_not_opened(bouma_dataset **out, const bouma_allocator *a,
                      struct bm_comm *comm, const struct bm_error *error);
int bm_api_io_not_opened(bouma_file **out, const bouma_allocator *a,
                         const struct bm_error *error);

/* The allocator of a caller's options, which may be NULL. */
const bouma_allocator *bm_api_allocator(const bouma_options *opts);

/* For calls without a handle: 'text' into the caller's own room for a message,
 * of which there may be none. */
void bm_api_tell(char *message, size_t bytes, const char *text);

/* A communicator of this process alone, for such a call. */
int bm_api_alone(struct bm_comm **out, const bouma_options *opts, char *message,
                 size_t bytes);

/* What a caller asks, in one piece. */
struct bm_request;
struct bm_request bm_api_ask(const char *path, const bouma_options *opts,
                             void (*each)(void *user, const bouma_finding *f),
                             void *user, char *message, size_t bytes);
/* Its path, its options and the report to fill (may be NULL): checked, and
 * complete then. */
int bm_api_accept(struct bm_request *q, void *report);
/* Tell the caller what its error says. */
void bm_api_answer(const struct bm_request *q);

/* bouma_verify() over a communicator, which is taken over. 'report' may be
 * NULL. Collective. */
int bm_api_verify(struct bm_comm *comm, struct bm_request *q, bouma_depth depth,
                  bouma_verify_report *report);

/* bouma_probe() over a communicator, which is taken over. Collective. */
int bm_api_probe(struct bm_comm *comm, const bouma_probe_spec *spec,
                 const bouma_options *opts, bouma_probe_report *report,
                 char *message, size_t bytes);

/* bouma_drain(), the same. */
int bm_api_drain(struct bm_comm *comm, struct bm_request *q, const char *local,
                 int remove, bouma_drain_report *report);

#endif
