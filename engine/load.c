/* SPDX-License-Identifier: MIT */
/* From a SOURCE to a table: open each file with the loader that knows it, match the columns, append the rows. */
#include "internal.h"
#include "loader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough for the first block of a zstd frame (at most 128 KiB), so that what is inside can be recognised. */
enum { HEAD_BYTES = 136 << 10 };

/* One opened file (or generator). */
typedef struct reader {
    const char *name;    /* for messages: the file, or the generator with its spec */
    agb_input input;
    unsigned char *head;
    const agb_loader *loader;
    void *self;
    agb_schema schema;
} reader;

/* ---- Schemas ---- */

agb_status agb_schema_add(agb_schema *schema, const char *name, agb_type type, bool optional, const char *detail,
                          agb_error *err)
{
    agb_column_info *more = realloc(schema->column, (schema->columns + 1) * sizeof *more);
    if (more)
        schema->column = more;
    char *name_copy = strdup(name), *detail_copy = strdup(detail ? detail : "");
    if (!more || !name_copy || !detail_copy) {
        free(name_copy);
        free(detail_copy);
        return agb_fail(err, AGB_ERR_MEMORY, "column '%s': no memory for its description", name);
    }
    schema->column[schema->columns++] = (agb_column_info){name_copy, type, optional, detail_copy};
    return AGB_OK;
}

agb_status agb_schema_set_detail(agb_schema *schema, const char *detail, agb_error *err)
{
    char *copy = strdup(detail);
    if (!copy)
        return agb_fail(err, AGB_ERR_MEMORY, "source: no memory for its description");
    free(schema->detail);
    schema->detail = copy;
    return AGB_OK;
}

void agb_schema_release(agb_schema *schema)
{
    for (size_t i = 0; i < schema->columns; i++) {
        free(schema->column[i].name);
        free(schema->column[i].detail);
    }
    free(schema->column);
    free(schema->detail);
    *schema = (agb_schema){0};
}

/* ---- Readers ---- */

static const agb_load_options standard;

static void close_reader(reader *r)
{
    if (r->self)
        r->loader->close(r->self);
    agb_schema_release(&r->schema);
    if (r->input.fd > 0)
        close(r->input.fd);
    free(r->head);
    *r = (reader){.input.fd = -1};
}

static agb_status read_head(reader *r, agb_error *err)
{
    size_t got = 0;
    ssize_t n = 1;
    r->head = malloc(HEAD_BYTES);
    if (!r->head)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its first bytes", r->input.path);
    while (got < HEAD_BYTES && n > 0) {
        n = r->input.seekable ? pread(r->input.fd, r->head + got, HEAD_BYTES - got, (off_t)got)
                              : read(r->input.fd, r->head + got, HEAD_BYTES - got);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            return agb_fail(err, AGB_ERR_IO, "%s: cannot be read: %s", r->input.path, strerror(errno));
        else
            got += (size_t)n;
    }
    r->input.head = r->head;
    r->input.head_bytes = got;
    return AGB_OK;
}

/* May wait for a pipe's writer when it is named; else a pipe that took a file's place is refused, not waited for. */
static agb_status open_input(reader *r, const char *path, bool is_named, agb_error *err)
{
    struct stat status;
    r->input.path = path;
    r->input.fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                         : open(path, O_RDONLY | O_CLOEXEC | (is_named ? 0 : O_NONBLOCK));
    if (r->input.fd < 0 || fstat(r->input.fd, &status) != 0)
        return agb_fail(err, AGB_ERR_IO, "%s: cannot be opened: %s: %s", path, strerror(errno),
                        agb_file_advice(errno));
    if (S_ISDIR(status.st_mode))
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: is a folder: name a file", path);
    if (!is_named && !S_ISREG(status.st_mode))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: is no regular file any more: name the files themselves", path);
    r->input.seekable = S_ISREG(status.st_mode) && status.st_size > 0 &&
                        lseek(r->input.fd, 0, SEEK_CUR) == 0;    /* of 0 bytes are those of /proc, whatever they hold */
    r->input.bytes = r->input.seekable ? (uint64_t)status.st_size : 0;
    agb_status read = read_head(r, err);
    if (read == AGB_OK && r->input.head_bytes == 0)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: the file is empty: get it again, or name another one", path);
    return read;
}

static agb_status choose_loader(reader *r, const agb_registry *registry, const char *forced, agb_error *err)
{
    if (forced) {
        r->loader = agb_registry_find_loader(registry, forced);
        if (!r->loader || (r->loader->traits & AGB_LOADER_GENERATES))
            return agb_fail(err, AGB_ERR_NOT_FOUND, "input format '%s': no loader of that name reads files: see "
                            "`aggbench list`", forced);
        return AGB_OK;
    }
    int best = 0;
    for (size_t i = 0; agb_registry_loader_at(registry, i); i++) {
        const agb_loader *loader = agb_registry_loader_at(registry, i);
        int sure = loader->probe ? loader->probe(&r->input) : 0;
        if (sure > best) {
            best = sure;
            r->loader = loader;
        }
    }
    if (!r->loader)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: no loader knows the form of its first bytes: take one of the "
                        "formats that `aggbench list` shows, or name it with --input-format", r->input.path);
    return AGB_OK;
}

/* SOURCE "NAME:spec" of a generating loader; NULL when it is a file. */
static const agb_loader *generator_of(const agb_registry *registry, const char *source, const char **spec)
{
    const char *colon = strchr(source, ':');
    for (size_t i = 0; colon && agb_registry_loader_at(registry, i); i++) {
        const agb_loader *loader = agb_registry_loader_at(registry, i);
        if ((loader->traits & AGB_LOADER_GENERATES) && strlen(loader->name) == (size_t)(colon - source)
            && strncmp(loader->name, source, (size_t)(colon - source)) == 0) {
            *spec = colon + 1;
            return loader;
        }
    }
    return NULL;
}

static agb_status open_schema(reader *r, agb_error *err)
{
    agb_status status = r->loader->open(&r->input, &r->self, err);
    if (status == AGB_OK)
        status = agb_schema_set_detail(&r->schema, "", err);
    if (status == AGB_OK)
        status = r->loader->schema(r->self, &r->schema, err);
    r->schema.format = r->loader->name;
    r->schema.files = 1;
    return status;
}

static agb_status check_schema(const reader *r, agb_error *err)
{
    if (!r->input.schema || (r->loader->traits & AGB_LOADER_UNTYPED))
        return AGB_OK;
    return agb_fail(err, AGB_ERR_ARGUMENT, "%s: a schema is given, but %s names and types its own columns: leave the "
                    "schema out", r->name, r->loader->name);
}

static agb_status open_reader(reader *r, const agb_registry *registry, const agb_files *files, size_t i,
                              const agb_load_options *options, agb_error *err)
{
    *r = (reader){.name = files->path[i], .input = {.fd = -1, .schema = options->schema}};
    agb_status status = open_input(r, r->name, files->is_named, err);
    if (status == AGB_OK)
        status = choose_loader(r, registry, options->loader, err);
    if (status == AGB_OK)
        status = check_schema(r, err);
    if (status == AGB_OK)
        status = open_schema(r, err);
    if (status != AGB_OK)
        close_reader(r);
    return status;
}

static agb_status open_generator(reader *r, const agb_loader *loader, const char *source, const char *spec,
                                 const agb_load_options *options, agb_error *err)
{
    *r = (reader){.name = source, .input = {.fd = -1, .path = spec, .schema = options->schema}, .loader = loader};
    agb_status status = check_schema(r, err);
    if (status == AGB_OK)
        status = open_schema(r, err);
    if (status != AGB_OK)
        close_reader(r);
    return status;
}

/* ---- Matching columns ---- */

/* The first column inside of a group of that name, as a nested file names it: group.field; NULL: no such group. */
static const char *column_inside(const reader *r, const char *group)
{
    size_t length = strlen(group);
    for (size_t i = 0; i < r->schema.columns; i++) {
        const agb_column_info *column = &r->schema.column[i];
        if (column->type == AGB_TYPE_OTHER && strncmp(column->name, group, length) == 0 && column->name[length] == '.')
            return column->name;
    }
    return NULL;
}

static agb_status column_missing(const reader *r, const char *wanted, agb_error *err)
{
    const char *inside = *wanted ? column_inside(r, wanted) : NULL;
    if (inside)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: column '%s' is nested (it holds %s): only flat columns can be "
                        "loaded: choose another column", r->name, wanted, inside);
    const char **names = calloc(r->schema.columns + 1, sizeof *names);
    if (!names)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its columns' names", r->name);
    for (size_t i = 0; i < r->schema.columns; i++)
        names[i] = r->schema.column[i].name;
    const char *near = agb_nearest_name(names, wanted);
    agb_fail(err, AGB_ERR_NOT_FOUND, "%s: no column '%s'%s%s%s: describe the source to see all columns", r->name,
             wanted, near ? ": did you mean '" : "", near ? near : "", near ? "'" : "");
    free(names);
    return AGB_ERR_NOT_FOUND;
}

static agb_status find_column(const reader *r, const char *wanted, size_t *index, agb_error *err)
{
    for (size_t i = 0; i < r->schema.columns; i++) {
        if (strcmp(r->schema.column[i].name, wanted) != 0)
            continue;
        if (r->schema.column[i].type == AGB_TYPE_OTHER)
            return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: column '%s' is %s, which cannot be loaded: choose another "
                            "column", r->name, wanted, r->schema.column[i].detail);
        *index = i;
        return AGB_OK;
    }
    return column_missing(r, wanted, err);
}

agb_status agb_column_names_check(const char *const *columns, size_t n_columns, agb_error *err)
{
    if (n_columns == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "columns: none is named");
    for (size_t i = 0; i < n_columns; i++) {
        if (columns[i][0] == '\0')
            return agb_fail(err, AGB_ERR_ARGUMENT, "columns: name number %zu is empty", i + 1);
        for (size_t j = 0; j < i; j++)
            if (strcmp(columns[i], columns[j]) == 0)
                return agb_fail(err, AGB_ERR_ARGUMENT, "columns: '%s' is named twice: name each column once",
                                columns[i]);
    }
    return AGB_OK;
}

/* ---- Loading ---- */

typedef struct request {
    const agb_registry *registry;
    const char *const *columns;
    size_t n_columns;
    const agb_load_options *options;
    agb_table *table;
    const char *format;
    bool has_columns;        /* the first file has set the table's types */
    uint64_t source_rows;    /* of the files so far, what head left out included; UINT64_MAX: not known */
} request;

static bool has_enough(const request *q)
{
    return q->options->head && agb_table_rows(q->table) >= q->options->head;
}

static agb_status match_columns(request *q, const reader *r, size_t *index, agb_error *err)
{
    for (size_t i = 0; i < q->n_columns; i++) {
        agb_status status = find_column(r, q->columns[i], &index[i], err);
        if (status != AGB_OK)
            return status;
        agb_type type = r->schema.column[index[i]].type;
        if (!q->has_columns) {
            status = agb_table_add(q->table, q->columns[i], type, q->options->pages, err);
            if (status != AGB_OK)
                return status;
            continue;
        }
        agb_column there;
        agb_table_find_column(q->table, q->columns[i], &there);
        if (there.type != type)
            return agb_fail(err, AGB_ERR_FORMAT, "%s: column '%s' is %s here but %s in the files before: load files of "
                            "one shape", r->name, q->columns[i], agb_type_name(type), agb_type_name(there.type));
    }
    q->has_columns = true;
    return AGB_OK;
}

static agb_status load_reader(request *q, reader *r, agb_error *err)
{
    size_t *index = calloc(q->n_columns, sizeof *index);
    if (!index)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for the list of columns", r->name);
    agb_status status = match_columns(q, r, index, err);
    bool stopped = false;
    uint64_t before = agb_table_rows(q->table), rows = r->schema.rows, head = q->options->head;
    agb_load load = {.pool = q->options->pool, .progress = q->options->progress, .context = q->options->context,
                     .may_map = q->options->may_map, .rows_wanted = head ? head - before : 0, .stopped = &stopped};
    if (status == AGB_OK)
        status = r->loader->load(r->self, index, q->n_columns, q->table, &load, err);
    if (rows == UINT64_MAX && !stopped)
        rows = agb_table_rows(q->table) - before;
    q->source_rows = rows > UINT64_MAX - q->source_rows ? UINT64_MAX : q->source_rows + rows;
    q->format = r->loader->name;
    free(index);
    return status;
}

static agb_status load_files(request *q, const char *source, agb_error *err)
{
    agb_files files;
    agb_status status = agb_files_find(&files, source, err);
    for (size_t i = 0; status == AGB_OK && i < files.count; i++) {
        reader r;
        if (has_enough(q)) {
            q->source_rows = UINT64_MAX;
            break;
        }
        status = open_reader(&r, q->registry, &files, i, q->options, err);
        if (status == AGB_OK) {
            status = load_reader(q, &r, err);
            close_reader(&r);
        }
    }
    agb_files_release(&files);
    return status;
}

static agb_status load_generator(request *q, const agb_loader *loader, const char *source, const char *spec,
                                 agb_error *err)
{
    reader r;
    agb_status status = open_generator(&r, loader, source, spec, q->options, err);
    if (status != AGB_OK)
        return status;
    status = load_reader(q, &r, err);
    close_reader(&r);
    return status;
}

agb_status agb_table_load(agb_table **out, const agb_registry *registry, const char *source,
                          const char *const *columns, size_t n_columns, const agb_load_options *options,
                          agb_error *err)
{
    request q = {.registry = registry, .columns = columns, .n_columns = n_columns,
                 .options = options ? options : &standard};
    *out = NULL;
    agb_status status = agb_column_names_check(columns, n_columns, err);
    if (status == AGB_OK)
        status = agb_table_create(&q.table, err);
    if (status != AGB_OK)
        return status;
    const char *spec;
    const agb_loader *generator = generator_of(registry, source, &spec);
    status = generator ? load_generator(&q, generator, source, spec, err) : load_files(&q, source, err);
    if (status != AGB_OK) {
        agb_table_destroy(q.table);
        return status;
    }
    agb_table_loaded(q.table, q.format, q.options->head, q.source_rows);
    *out = q.table;
    return AGB_OK;
}

/* ---- Describing ---- */

static agb_status describe_more_files(agb_schema *schema, const agb_registry *registry, const agb_files *files,
                                      const agb_load_options *options, agb_error *err)
{
    for (size_t i = 1; i < files->count; i++) {
        reader r;
        agb_status status = open_reader(&r, registry, files, i, options, err);
        if (status != AGB_OK)
            return status;
        schema->files++;
        schema->rows = schema->rows == UINT64_MAX || r.schema.rows == UINT64_MAX ? UINT64_MAX
                                                                                 : schema->rows + r.schema.rows;
        close_reader(&r);
    }
    return AGB_OK;
}

/* What a loader says about storage is about one file. */
static agb_status say_whose_detail(agb_schema *schema, agb_error *err)
{
    char *detail;
    if (schema->files == 1 || !*schema->detail)
        return AGB_OK;
    if (asprintf(&detail, "the first of them: %s", schema->detail) < 0)
        return agb_fail(err, AGB_ERR_MEMORY, "source: no memory for its description");
    free(schema->detail);
    schema->detail = detail;
    return AGB_OK;
}

static agb_status describe_files(agb_schema *schema, const agb_registry *registry, const char *source,
                                 const agb_load_options *options, agb_error *err)
{
    agb_files files;
    reader r;
    agb_status status = agb_files_find(&files, source, err);
    if (status == AGB_OK)
        status = open_reader(&r, registry, &files, 0, options, err);
    if (status == AGB_OK) {
        *schema = r.schema;
        r.schema = (agb_schema){0};
        close_reader(&r);
        status = describe_more_files(schema, registry, &files, options, err);
        if (status == AGB_OK)
            status = say_whose_detail(schema, err);
        if (status != AGB_OK)
            agb_schema_release(schema);
    }
    agb_files_release(&files);
    return status;
}

agb_status agb_source_describe_as(agb_schema *schema, const agb_registry *registry, const char *source,
                                  const agb_load_options *options, agb_error *err)
{
    *schema = (agb_schema){0};
    options = options ? options : &standard;
    const char *spec;
    const agb_loader *generator = generator_of(registry, source, &spec);
    if (!generator)
        return describe_files(schema, registry, source, options, err);
    reader r;
    agb_status status = open_generator(&r, generator, source, spec, options, err);
    if (status != AGB_OK)
        return status;
    *schema = r.schema;
    r.schema = (agb_schema){0};
    close_reader(&r);
    return AGB_OK;
}

agb_status agb_source_describe(agb_schema *schema, const agb_registry *registry, const char *source, agb_error *err)
{
    return agb_source_describe_as(schema, registry, source, NULL, err);
}
