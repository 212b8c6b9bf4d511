/* bouma_check.h -- verify, repair and drain datasets.
 *
 * Example:
 *
 *     bouma_verify_report found = {.size = sizeof(found)};
 *     char why[200];
 *
 *     int rc = bouma_verify(&found, "plate.bouma", BOUMA_DEPTH_FULL, NULL,
 *                           NULL, NULL, why, sizeof(why));
 *     if (rc)
 *         fprintf(stderr, "not checked: %s\n", why);
 *     else
 *         printf("%d damages in %d steps\n", (int)found.damages,
 *                (int)found.steps);
 */
#ifndef BOUMA_CHECK_H
#define BOUMA_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "bouma_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- checking and mending ----------------------------------------------- */

/* How much of a dataset is checked. */
typedef enum bouma_depth {
    BOUMA_DEPTH_QUICK = 1, /* manifests and file sizes */
    BOUMA_DEPTH_META = 2,  /* also the tables of chunks */
    BOUMA_DEPTH_FULL = 3,  /* also every checksum */
    BOUMA_DEPTH_DEEP = 4   /* also decode every chunk, compare its range */
} bouma_depth;

/* How bad a finding is. */
typedef enum bouma_severity {
    /* harmless, such as leftovers of a killed writer */
    BOUMA_SEVERITY_NOTE = 1,
    /* something committed cannot be read, or not fully */
    BOUMA_SEVERITY_DAMAGE = 2,
    /* it could not be checked: the device failed, or a newer version of bouma
     * wrote it */
    BOUMA_SEVERITY_UNCHECKED = 3
} bouma_severity;

/* Something that a check has found, or what a repair does about it. The texts
 * are there during the call. */
typedef struct bouma_finding {
    size_t size; /* sizeof(bouma_finding) */
    bouma_severity severity;
    int64_t step;     /* -1: not about one step */
    const char *name; /* file, relative to the dataset */
    const char *text;
} bouma_finding;

/* The sums of a check. */
typedef struct bouma_verify_report {
    size_t size; /* sizeof(bouma_verify_report), set by the caller */
    uint64_t steps, files, chunks, bytes; /* checked */
    uint64_t notes, damages;              /* findings */
    uint64_t unchecked;                   /* findings */
} bouma_verify_report;

/* Check the dataset at 'path'. 'each' (may be NULL) gets each finding, on every
 * rank. BOUMA_OK means that the check was made, whatever it found; on failure
 * 'message' (of 'bytes' bytes) says why it could not be made. A program may be
 * writing meanwhile: a step that it replaces or drops is a note; BOUMA_ESTATE
 * if it has replaced this dataset by another. */
BOUMA_API int bouma_verify(bouma_verify_report *report, const char *path,
                           bouma_depth depth, const bouma_options *opts,
                           void (*each)(void *user, const bouma_finding *f),
                           void *user, char *message, size_t bytes);

/* Repair the dataset or, without 'apply', report what a repair would do. It
 * reads all data; data that do not match their checksums are recorded as lost.
 * Whatever is in the way is moved to lost/. Only these are removed: the files
 * of an earlier version of a step that was rewritten and is whole; the record
 * of a loss that is over; the old index, when it is rebuilt; and the empty
 * directory of a lost step. 'each' gets each action, and also what is damaged
 * or could not be checked. Steps are independent: one that cannot be checked,
 * or that a newer version of bouma wrote, is left alone, and the others are
 * repaired. */
typedef struct bouma_repair_report {
    size_t size;        /* sizeof(bouma_repair_report), set by the caller */
    uint64_t actions;   /* done, or to do */
    uint64_t hopeless;  /* damages that remain unless forgotten, as
                           bouma_verify() counts them */
    uint64_t unchecked; /* findings that could not be checked */
} bouma_repair_report;
BOUMA_API int bouma_repair(bouma_repair_report *report, const char *path,
                           int apply, const bouma_options *opts,
                           void (*each)(void *user, const bouma_finding *f),
                           void *user, char *message, size_t bytes);

/* Committed data that are gone or damaged. A loss stays on record, also when
 * the index is rebuilt, and verify counts it as damage, until it is forgotten
 * or the step is rewritten. */
typedef struct bouma_loss {
    size_t size; /* sizeof(bouma_loss) */
    int64_t step;
    double time;      /* of the step, if 'is_known' */
    int64_t recorded; /* when it was recorded: seconds since 1970; 0: not yet,
                         below 0: not known */
    int64_t files;    /* 0: the whole step is lost; else the number of files
                         that are lost or damaged: the rest can be read */
    int accepted;     /* files only: forgotten, so verify reports notes */
    int is_known;     /* 1: 'time' is known */
    int attributes;   /* one of 'files' is the manifest: it was rebuilt, and
                         attributes of the step and of the dataset are lost */
} bouma_loss;

/* Report each known loss of the dataset at 'path', by ascending step. Damaged
 * files that repair has not seen yet are found by verify only. If the index
 * cannot be read, the losses on record are reported, and the status is that of
 * the index: it may know of more. */
BOUMA_API int bouma_losses(const char *path, const bouma_options *opts,
                           void (*each)(void *user, const bouma_loss *loss),
                           void *user, char *message, size_t bytes);

/* Forget the loss of a step, or all losses if 'step' is -1; without 'apply'
 * only report, as bouma_repair(). BOUMA_ENOTFOUND if no loss of the step is
 * known: bouma_repair() records those of files and chunks. A step whose
 * manifest can be read is never removed. */
BOUMA_API int
bouma_repair_forget(bouma_repair_report *report, const char *path, int64_t step,
                    int apply, const bouma_options *opts,
                    void (*each)(void *user, const bouma_finding *f),
                    void *user, char *message, size_t bytes);

/* ---- draining what was left behind -------------------------------------- */

/* Numbers of steps; and of files and bytes that were copied. */
typedef struct bouma_drain_report {
    size_t size;        /* sizeof(bouma_drain_report), set by the caller */
    uint64_t steps;     /* in the local copy */
    uint64_t present;   /* already in the dataset */
    uint64_t published; /* added to the dataset */
    uint64_t waiting;   /* lack files of other nodes */
    uint64_t failed;    /* not copied or not removed, as they are damaged or the
                           like */
    uint64_t removed;   /* from the local copy */
    uint64_t files, bytes;
    uint64_t older;    /* not copied: the dataset has a later version */
    uint64_t replaced; /* of 'published': replaced an earlier version */
    uint64_t losses;   /* recorded in the dataset as lost: they are lost here or
                         there, and could not be copied */
    uint64_t dropped;  /* not copied: deleted, or dropped by a truncation */
} bouma_drain_report;

/* Finish the draining of a program with the option 'persist': copy all steps
 * that the local copy 'local' has and the dataset 'path' does not, check every
 * byte, and publish them. The dataset is created if it is missing; otherwise it
 * must have the local copy's id (BOUMA_EEXISTS). After an interruption or a
 * failure, another call continues where the first stopped. BOUMA_EBUSY while a
 * program writes the dataset, which then drains by itself.
 *
 * If both have a step, and it was rewritten in one of them, the later version
 * counts: that of the later writer (its epoch; see docs/format.md), or the
 * later attempt of the same writer. A later version in the local copy replaces
 * that of the dataset; if the dataset has the later one, nothing is copied, and
 * the local copy keeps its own ('older'). If they differ but neither is later,
 * both stay as they are (BOUMA_EEXISTS). A step that the local copy has lost,
 * and the dataset does not have, is recorded there as lost. A step that was
 * deleted, or dropped by bouma_dataset_truncate(), is not copied ('dropped');
 * if the record of dropped steps is damaged, no step is (BOUMA_EFORMAT).
 *
 * With several nodes, each has a local copy with the files of its own ranks:
 * drain each, in any order or at once; the one that brings the last file of a
 * step publishes it.
 *
 * With 'remove', steps that the dataset has in the same version are removed
 * from the local copy, after all bytes of their files have been read back from
 * the dataset and checked. Steps that are damaged in the dataset stay in the
 * local copy, even if the damage was forgotten. Dropped steps are removed as
 * well.
 *
 * A damaged step, here or there, does not stop the others: it is counted as
 * 'failed', and 'message' (of 'bytes' bytes) describes the first one. 'report'
 * may be NULL; it is also filled in after a failure. */
BOUMA_API int bouma_drain(bouma_drain_report *report, const char *local,
                          const char *path, int remove,
                          const bouma_options *opts, char *message,
                          size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
