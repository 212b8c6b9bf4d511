/* check.h -- looking for damage, and mending what can be mended. */
#ifndef BM_CHECK_H
#define BM_CHECK_H

#include "dataset/lost.h"
#include "read/read.h"

/* What a caller of verify, repair, forget or drain asks, and where the answer
 * goes. */
struct bm_request {
    const char *path;
    const bouma_options *given; /* the caller's; may be NULL */
    struct bm_options options;  /* the same, complete */
    const bouma_allocator *a;   /* theirs, or the default */
    void (*each)(void *user, const bouma_finding *f); /* may be NULL */
    void *user;
    char *message; /* [message_bytes], the caller's room; may be NULL */
    size_t message_bytes;
    struct bm_error error; /* what will be told there */
};

/* Findings, collected as bytes so that ranks can send them to each other. */
struct bm_findings {
    struct bm_buffer bytes;
    uint64_t notes, damages, unchecked;
    int failure; /* the status of the first that is unchecked; else BOUMA_OK */
};

/* Whether a status tells of damage, and not of a failure to look, of a newer
 * version, or of a memory limit that is too low. */
int bm_is_damage(int status);
/* The severity that follows. */
bouma_severity bm_severity_of(int status);

void bm_findings_init(struct bm_findings *f, const bouma_allocator *a);
void bm_findings_release(struct bm_findings *f);
/* Take back all that was added since 'before', a copy. */
void bm_findings_return(struct bm_findings *f,
                        const struct bm_findings *before);
void bm_findings_add(struct bm_findings *f, bouma_severity severity,
                     int64_t step, const char *name, const char *format, ...)
    BM_PRINTF(5, 6);
/* What readers of IDX need and do not find, as notes; 'wanted': a step has a
 * grid for them. Links of the epoch 'last' may be on their way. BOUMA_OK or
 * ENOMEM. */
int bm_check_idx(struct bouma_dataset *ds, int wanted, uint32_t last,
                 struct bm_findings *out);
/* Hand each one to a caller's function. */
void bm_findings_each(const struct bm_buffer *bytes, const bouma_allocator *a,
                      void (*each)(void *user, const bouma_finding *f),
                      void *user);

/* How to look at a subfile, and what of it is damaged. */
struct bm_check {
    bouma_depth depth;
    const char *name;                 /* under which it lies; NULL: its own */
    const struct bm_lost_step *known; /* on record of the step; may be NULL */
    int is_part; /* of a local copy of several nodes: a file that is not here is on
                    another */
    uint64_t elsewhere; /* counts those */
    int data_only;      /* its length, and a head that has a good copy, are not
                           told of */
    struct bm_lost_step *lost; /* may be NULL; gets the pieces that do not match
                                  their checksums */
    uint64_t whole;            /* counts those that do */
};

/* Look at file i of an open step (of all its writings), as deep as asked. Damage becomes
 * findings; what is returned is only ENOMEM. Of a file that was cut, what is
 * lost is told, and the rest looked at. */
int bm_check_subfile(struct bouma_step *step, size_t i, struct bm_check *how,
                     struct bm_findings *out, bouma_verify_report *report);
/* Whether the chunks of subfile 'i', which has this head, belong into it. */
void bm_check_files(const struct bm_manifest *m, size_t i,
                    const struct bm_head *head, const char *name,
                    struct bm_findings *out);
/* A note, if some of the files of a step are on other nodes. */
void bm_tell_elsewhere(uint64_t files, const struct bm_manifest *m,
                       struct bm_findings *out);
/* If it is on record that the attributes of the step are lost: a damage, or a
 * note if that was forgotten. 'known' may be NULL. Returns whether it is. */
int bm_tell_attributes(const struct bm_lost_step *known,
                       const struct bm_manifest *m, struct bm_findings *out);
/* Whether a loss on record is of parts of this writing of a step. */
int bm_loss_is_of(const struct bm_lost_step *lost, const struct bm_manifest *m);

/* All ranks of 'comm', which is taken over. Collective. */
int bm_verify(struct bm_comm *comm, struct bm_request *q, bouma_depth depth,
              bouma_verify_report *report);

/* Whether the record of dropped steps can be read; BOUMA_OK or ENOMEM. */
int bm_check_truncations(struct bm_store *s, const uint8_t id[16],
                         struct bm_findings *out);

/* What is no file, or no directory, and should be one, as notes: kinds.c. */
void bm_check_kinds(struct bm_store *s, struct bm_findings *out);

/* Steps that are lost as a whole, as findings. */
void bm_losses_tell(const struct bm_loss_list *list, struct bm_findings *out);
/* Of all records of losses, those that are damaged and of steps that are there:
 * they tell of no loss. */
void bm_losses_tell_vague(const struct bm_loss_list *records,
                          struct bm_store *s, const uint8_t id[16],
                          struct bm_findings *out);
/* All of them, for a caller. */
int bm_losses_each(const char *path, const struct bm_options *options,
                   const bouma_allocator *a,
                   void (*each)(void *user, const bouma_loss *loss), void *user,
                   struct bm_error *error);
/* Forget that of a step; -1: all. One process. */
int bm_forget(struct bm_request *q, int64_t step, int apply,
              bouma_repair_report *report);

/* One process. */
int bm_repair(struct bm_request *q, int apply, bouma_repair_report *report);

#endif
