/* print_json.c -- what the JSON outputs of the commands have in common. */
#include "print_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute_value.h"

json_t *json_text(const char *text)
{
    json_t *made;
    char *copy;

    if (!text)
        text = "";
    made = json_string(text);
    if (made)
        return made;
    copy = strdup(text);
    for (char *c = copy; c && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    made = copy ? json_string(copy) : NULL;
    free(copy);
    return made;
}

json_t *json_number(double number)
{
    if (isfinite(number))
        return json_real(number);
    return json_text(isnan(number) ? "nan" : number > 0 ? "inf" : "-inf");
}

/* jansson's integers end at INT64_MAX. A larger one is held as an object with
 * this key, which no name of a user's can be, and printed as its digits. */
static const char large_key[] = "\x01";
static const char large_printed[] = "\"\\u0001\": \"";

json_t *json_count(uint64_t count)
{
    char digits[24];
    json_t *large;

    if (count <= (uint64_t)INT64_MAX)
        return json_integer((json_int_t)count);
    large = json_object();
    snprintf(digits, sizeof(digits), "%" PRIu64, count);
    json_put(large, large_key, json_string(digits));
    return large;
}

json_t *json_ratio(uint64_t raw, uint64_t stored)
{
    return stored ? json_number((double)raw / (double)stored) : json_null();
}

json_t *json_integers(const int64_t *values, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

json_t *json_numbers(const double *values, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_number(values[i]));
    return list;
}

json_t *json_value(bouma_value value)
{
    if (value.type == BOUMA_TYPE_F64)
        return json_number(value.f);
    if (value.type == BOUMA_TYPE_U64)
        return json_count(value.u);
    return json_integer(value.i);
}

/* A text, one number, or a list of numbers. */
static json_t *attribute_json(const bouma_attribute *attribute)
{
    json_t *list;

    if (attribute->type == BOUMA_TYPE_STRING)
        return json_text(attribute->values);
    if (attribute->count == 1)
        return json_value(attribute_value(attribute, 0));
    list = json_array();
    for (size_t i = 0; i < attribute->count; i++)
        json_array_append_new(list, json_value(attribute_value(attribute, i)));
    return list;
}

json_t *json_attributes(const bouma_attributes *attributes)
{
    json_t *object = json_object();
    bouma_attribute attribute = {.size = sizeof(attribute)};

    for (int i = 0; bouma_attributes_get(&attribute, attributes, i) == BOUMA_OK;
         i++)
        json_object_set_new(object, attribute.name, attribute_json(&attribute));
    return object;
}

json_t *json_notes(const bouma_dataset *ds)
{
    json_t *list = json_array();
    const char *note;

    for (int i = 0; (note = bouma_dataset_note(ds, i)); i++)
        json_array_append_new(list, json_text(note));
    return list;
}

void json_put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *phases(const bouma_record *record)
{
    json_t *object = json_object();

    json_put(object, "describe", json_number(record->describe_seconds));
    json_put(object, "plan", json_number(record->plan_seconds));
    json_put(object, "distribute", json_number(record->distribute_seconds));
    json_put(object, "shape", json_number(record->shape_seconds));
    json_put(object, "ship", json_number(record->ship_seconds));
    json_put(object, "store", json_number(record->store_seconds));
    /* A step's manifest cannot know it: it is written before. */
    if (record->commit_seconds > 0)
        json_put(object, "commit", json_number(record->commit_seconds));
    return object;
}

void json_put_record(json_t *object, const bouma_record *record)
{
    json_put(object, "raw_bytes", json_count(record->raw_bytes));
    json_put(object, "stored_bytes", json_count(record->stored_bytes));
    json_put(object, "ratio",
             json_ratio(record->raw_bytes, record->stored_bytes));
    json_put(object, "files", json_integer(record->files));
    json_put(object, "largest_file", json_count(record->largest_file));
    json_put(object, "mean_file", json_count(record->mean_file));
    json_put(object, "balance",
             json_ratio(record->largest_file, record->mean_file));
    json_put(object, "chunks", json_integer(record->chunks));
    json_put(object, "ranks", json_integer(record->ranks));
    json_put(object, "moved_bytes", json_count(record->moved_bytes));
    json_put(object, "shipped_bytes", json_count(record->shipped_bytes));
    json_put(object, "moved_messages", json_count(record->moved_messages));
    json_put(object, "shipped_messages", json_count(record->shipped_messages));
    json_put(object, "most_patches", json_integer(record->most_patches));
    json_put(object, "slowest_encode", json_number(record->slowest_encode));
    json_put(object, "mean_encode", json_number(record->mean_encode));
    json_put(object, "predicted", json_boolean(record->predicted != 0));
    json_put(object, "misfits", json_integer(record->misfits));
    json_put(object, "phases", phases(record));
}

/* Bytes of what jansson made; new lines begin 'indent' blanks further right. A
 * text has no new line in it, but an escape. */
static void print_bytes(const char *text, size_t bytes, int indent)
{
    const char *end;

    while (indent && (end = memchr(text, '\n', bytes))) {
        size_t line = (size_t)(end - text) + 1;

        fwrite(text, 1, line, stdout);
        printf("%*s", indent, "");
        text += line;
        bytes -= line;
    }
    fwrite(text, 1, bytes, stdout);
}

/* Print what jansson made of a tree; { "\u0001": "123" } becomes 123. The
 * quotes of a text are escaped, so that none can look like the key. */
static void print_dump(const char *text, int indent)
{
    const char *found;

    while ((found = strstr(text, large_printed))) {
        const char *digits = found + strlen(large_printed);

        while (*found != '{')
            found--;
        print_bytes(text, (size_t)(found - text), indent);
        fwrite(digits, 1, strcspn(digits, "\""), stdout);
        text = strchr(digits, '}') + 1;
    }
    print_bytes(text, strlen(text), indent);
}

/* The text of a tree, which is dropped; NULL if there is no memory. */
static char *dump(json_t *root)
{
    char *text =
        root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17))
             : NULL;

    json_decref(root);
    return text;
}

int print_json(struct context *ctx, json_t *root)
{
    char *text = dump(root);

    if (!text)
        return context_fail_memory(ctx);
    print_dump(text, 0);
    putchar('\n');
    free(text);
    return DONE;
}

void json_list_begin(struct json_list *list, struct context *ctx, json_t *root,
                     const char *key)
{
    static const char end[] = "]\n}";
    char *text;

    *list = (struct json_list){.ctx = ctx};
    json_put(root, key, json_array());
    text = dump(root);
    list->failed = !text;
    if (text) {
        text[strlen(text) - strlen(end)] = '\0';
        print_dump(text, 0);
    }
    free(text);
}

void json_list_add(struct json_list *list, json_t *element)
{
    char *text = dump(element);

    if (text && !list->failed) {
        printf("%s\n    ", list->count++ ? "," : "");
        print_dump(text, 4);
    }
    list->failed |= !text;
    free(text);
}

int json_list_end(struct json_list *list)
{
    printf("%s]\n}\n", list->count ? "\n  " : "");
    return list->failed
               ? context_fail(list->ctx, DATA_AT_FAULT, "out of memory")
               : DONE;
}
