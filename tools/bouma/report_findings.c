/* report_findings.c -- what verify and repair find. */
#include "report_findings.h"

#include <stdio.h>

#include "format_text.h"
#include "print_json.h"

void findings_init(struct findings *findings, const struct context *ctx,
                   struct progress_bar *bar)
{
    *findings = (struct findings){.ctx = ctx, .bar = bar};
    if (ctx->json && context_prints(ctx))
        findings->list = json_array();
}

void findings_release(struct findings *findings)
{
    json_decref(findings->list);
}

static const char *severity_text(bouma_severity severity)
{
    return severity == BOUMA_SEVERITY_DAMAGE      ? "damage"
           : severity == BOUMA_SEVERITY_UNCHECKED ? "unchecked"
                                                  : "note";
}

static json_t *finding_json(const bouma_finding *finding)
{
    json_t *object = json_object();

    json_put(object, "severity", json_text(severity_text(finding->severity)));
    json_put(object, "step",
             finding->step < 0 ? json_null() : json_integer(finding->step));
    json_put(object, "name", json_text(finding->name));
    json_put(object, "text", json_text(finding->text));
    return object;
}

static void print_finding(const struct context *ctx,
                          const bouma_finding *finding)
{
    bool red = finding->severity != BOUMA_SEVERITY_NOTE;

    printf("%s%-6s%s ", red ? context_red(ctx) : "",
           severity_text(finding->severity), red ? context_plain(ctx) : "");
    if (finding->name && finding->name[0])
        printf("%s: ", finding->name);
    print_clean(finding->text ? finding->text : "");
    putchar('\n');
}

void findings_add(void *user, const bouma_finding *finding)
{
    struct findings *findings = user;

    if (!context_prints(findings->ctx))
        return;
    progress_bar_clear(findings->bar);
    findings->notes += finding->severity == BOUMA_SEVERITY_NOTE;
    if (findings->ctx->json)
        json_array_append_new(findings->list, finding_json(finding));
    else
        print_finding(findings->ctx, finding);
}
