/* truncations_check.c -- the record of dropped steps: whether it can be read;
 * and if it is damaged, it is moved out of the way. Nothing else knows what it
 * said. */
#include "check/repair.h"

int bm_check_truncations(struct bm_store *s, const uint8_t id[16],
                         struct bm_findings *out)
{
    struct bm_error why = {0};
    struct bm_truncations t;
    int rc;

    bm_truncations_init(&t, s->a);
    rc = bm_truncations_load(s, id, &t, &why);
    bm_truncations_release(&t);
    if (rc == BOUMA_ENOMEM)
        return rc;
    if (rc)
        bm_findings_add(out, bm_severity_of(rc), -1, BM_NAME_TRUNCATIONS,
                        bm_is_damage(rc)
                            ? "%s; which steps were dropped is not known any "
                              "more, so nothing can be drained to here; `bouma "
                              "repair` moves it to lost/"
                            : "%s",
                        why.text);
    return BOUMA_OK;
}

int bm_repair_truncations(struct bm_repair *r)
{
    struct bm_error why = {0};
    int rc = bm_truncations_load(&r->ds.store, r->ds.id, &r->truncations, &why);

    r->changing = 0;
    if (rc && !bm_is_damage(rc)) {
        bm_fail(r->error, rc, "%s", why.text);
        return bm_repair_leave(r, -1, BM_NAME_TRUNCATIONS, rc);
    }
    if (!rc ||
        !bm_repair_act(r, -1, BM_NAME_TRUNCATIONS,
                       "the record of dropped steps is damaged, and moved to "
                       "lost/: steps that were dropped on purpose, and "
                       "are still on the storage of nodes, come back with a "
                       "drain"))
        return BOUMA_OK;
    return bm_repair_move_away(r, BM_NAME_TRUNCATIONS);
}
