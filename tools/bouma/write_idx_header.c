/* write_idx_header.c -- the header of an IDX dataset, and the names of its
 * files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "write_idx.h"

/* PIDX's rule. Blocks have numbers of so many bits: that many pieces of two
 * digits, each a directory, and a last one of 'digits'. */
static int name_digits(const struct idx_write *idx, int *directories)
{
    int bits = idx->order.bits - idx->order.block_bits;

    *directories = bits > 16 ? (bits - 16 + 7) / 8 : 0;
    return bits == 0 ? 1 : bits <= 8 ? 2 : bits <= 12 ? 3 : 4;
}

void idx_write_name(char *out, size_t bytes, const struct idx_write *idx,
                    int64_t step, uint64_t first)
{
    int directories, digits = name_digits(idx, &directories);
    char above[64] = "";
    size_t used = 0;

    for (int i = directories - 1; i >= 0; i--)
        used += (size_t)snprintf(above + used, sizeof(above) - used, "%02x/",
                                 (unsigned)(first >> (16 + 8 * i) & 0xff));
    snprintf(out, bytes, "time%09lld/%s%0*x.bin", (long long)step, above,
             digits, (unsigned)(first & 0xffff));
}

static const char *type_name(bouma_type type)
{
    switch (type) {
    case BOUMA_I8:
        return "int8";
    case BOUMA_I16:
        return "int16";
    case BOUMA_I32:
        return "int32";
    case BOUMA_I64:
        return "int64";
    case BOUMA_U8:
        return "uint8";
    case BOUMA_U16:
        return "uint16";
    case BOUMA_U32:
        return "uint32";
    case BOUMA_U64:
        return "uint64";
    case BOUMA_F32:
        return "float32";
    default:
        return "float64";
    }
}

static void print_fields(FILE *to, const struct idx_write *idx)
{
    static const char *const codecs[] = {[IDX_WRITE_RAW] = "raw",
                                         [IDX_WRITE_ZIP] = "zip",
                                         [IDX_WRITE_LZ4] = "lz4"};

    fprintf(to, "(fields)\n");
    for (int i = 0; i < idx->field_count; i++) {
        const struct idx_write_field *field = &idx->fields[i];

        fprintf(to, "%s%s ", i ? "+ " : "", field->name);
        if (field->components > 1)
            fprintf(to, "%d*", field->components);
        fprintf(to,
                "%s default_compression(%s) default_layout(hzorder) "
                "default_value(0)\n",
                type_name(field->type), codecs[idx->codec]);
    }
}

/* The steps as runs of equal distances. */
static void print_time(FILE *to, const struct idx_write *idx)
{
    const int64_t *n = idx->steps;
    size_t count = idx->step_count;

    fprintf(to, "(time)\n");
    if (n[count - 1] - n[0] == (int64_t)count - 1) {
        fprintf(to, "%" PRId64 " %" PRId64 " time%%09d/\n", n[0], n[count - 1]);
        return;
    }
    fprintf(to, "time%%09d/");
    for (size_t i = 0, last; i < count; i = last + 1) {
        int64_t each = i + 1 < count ? n[i + 1] - n[i] : 1;

        for (last = i; last + 1 < count && n[last + 1] - n[last] == each;)
            last++;
        fprintf(to, " (%" PRId64 ",%" PRId64 ",%" PRId64 ")", n[i], n[last],
                each);
    }
    fprintf(to, "\n");
}

/* x first. */
static void print_boxes(FILE *to, const struct idx_write *idx)
{
    fprintf(to, "(box)\n");
    for (int axis = 2; axis >= 3 - idx->ndims; axis--)
        fprintf(to, "0 %" PRId64 "%s", idx->domain.hi[axis] - 1,
                axis > 3 - idx->ndims ? " " : "\n");
    if (!idx->placed)
        return;
    fprintf(to, "(physic_box)\n");
    for (int axis = 2; axis >= 3 - idx->ndims; axis--)
        fprintf(to, "%.17g %.17g%s", idx->origin[axis],
                idx->origin[axis] +
                    (double)idx->domain.hi[axis] * idx->spacing[axis],
                axis > 3 - idx->ndims ? " " : "\n");
}

char *idx_write_header(const struct idx_write *idx, size_t *bytes)
{
    int directories, digits = name_digits(idx, &directories);
    char *text = NULL;
    FILE *to = open_memstream(&text, bytes);
    bool failed;

    if (!to)
        return NULL;
    fprintf(to, "(version)\n6\n");
    print_boxes(to, idx);
    print_fields(to, idx);
    fprintf(to, "(bits)\nV");
    for (int i = 0; i < idx->order.bits; i++)
        fprintf(to, "%d", 2 - idx->order.axis[i]);
    fprintf(to,
            "\n(bitsperblock)\n%d\n(blocksperfile)\n%d\n"
            "(interleave block)\n0\n",
            idx->order.block_bits, idx->per_file);
    print_time(to, idx);
    fprintf(to, "(filename_template)\n./%s/", idx->stem);
    for (int i = 0; i < directories; i++)
        fprintf(to, "%%02x/");
    fprintf(to, "%%0%dx.bin\n(missing_blocks)\n0\n(arco)\n0\n", digits);
    failed = ferror(to);
    if (fclose(to) || failed) {
        free(text);
        return NULL;
    }
    return text;
}
