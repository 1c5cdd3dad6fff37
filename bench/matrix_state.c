/* SPDX-License-Identifier: MIT */
/* The state file of a matrix: see matrix.h. One JSON object a line: first what all cells have in common, then a line
 * for each cell that is done. */
#include "matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How every state file begins: what does not is somebody else's, and is left as it is. */
static const char begins[] = "{\"aggbench_matrix\":1,";

static agb_status cannot(const agb_matrix *matrix, const char *what, agb_error *err)
{
    return agb_fail(err, AGB_ERR_IO, "--state: %s: %s: %s: name another file", matrix->state_path, what,
                    strerror(errno));
}

/* The whole line at once; a crash before the sync leaves it cut short or not there. */
static agb_status append(const agb_matrix *matrix, const json_t *line, agb_error *err)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(12));
    size_t length = text ? strlen(text) : 0, at = 0;
    agb_status status = AGB_OK;
    if (!text)
        return agb_fail(err, AGB_ERR_MEMORY, "--state: %s: no memory for a line", matrix->state_path);
    text[length++] = '\n';    /* in place of the end */
    while (at < length && status == AGB_OK) {
        ssize_t put = write(matrix->state, text + at, length - at);
        if (put > 0)
            at += (size_t)put;
        else if (errno != EINTR)
            status = cannot(matrix, "writing", err);
    }
    if (status == AGB_OK && fsync(matrix->state) != 0 && errno != EINVAL)    /* EINVAL: no file of a disk */
        status = cannot(matrix, "writing", err);
    free(text);
    return status;
}

/* Takes the reference. */
static void set_done(agb_matrix *matrix, agb_matrix_cell *cell, json_t *line)
{
    cell->done = line;
    cell->win = agb_matrix_win(line);
    matrix->n_done++;
}

agb_status agb_matrix_state_add(agb_matrix *matrix, agb_matrix_cell *cell, json_t *line, agb_error *err)
{
    agb_status status = append(matrix, line, err);
    set_done(matrix, cell, line);
    return status;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static char *read_all(const agb_matrix *matrix, size_t *length)
{
    enum { MOST_BYTES = 1 << 30 };
    struct stat there;
    *length = 0;
    if (fstat(matrix->state, &there) != 0 || there.st_size > MOST_BYTES)
        return NULL;
    char *text = malloc((size_t)there.st_size + 1);
    while (text && *length < (size_t)there.st_size) {
        ssize_t got = pread(matrix->state, text + *length, (size_t)there.st_size - *length, (off_t)*length);
        if (got <= 0)
            break;
        *length += (size_t)got;
    }
    return text;
}

static agb_status check_head(const agb_matrix *matrix, const json_t *head, agb_error *err)
{
    const char *key;
    json_t *wanted;
    json_object_foreach(matrix->head, key, wanted) {
        const json_t *there = json_object_get(head, key);
        if (json_equal(wanted, (json_t *)there))
            continue;
        char *old = there ? json_dumps(there, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("nothing");
        char *new = json_dumps(wanted, JSON_ENCODE_ANY | JSON_COMPACT);
        agb_status status = agb_fail(err, AGB_ERR_ARGUMENT,
                                     "--state: %s: is of another matrix: %s is %.150s there, and "
                                     "%.150s here: give the same options, name another file, or remove it",
                                     matrix->state_path, key, old ? old : "?", new ? new : "?");
        free(old);
        free(new);
        return status;
    }
    return AGB_OK;
}

static bool is_cell(const json_t *line)
{
    const json_t *results = json_object_get(line, "results");
    bool good = json_is_string(json_object_get(line, "distribution")) &&
                json_is_integer(json_object_get(line, "groups")) && json_is_integer(json_object_get(line, "threads")) &&
                json_is_array(results);
    for (size_t i = 0; good && i < json_array_size(results); i++) {
        const json_t *result = json_array_get(results, i), *walls = json_object_get(result, "wall_s");
        good = json_is_string(json_object_get(result, "aggregator")) &&
               json_is_string(json_object_get(result, "state")) && json_is_array(walls);
        for (size_t k = 0; good && k < json_array_size(walls); k++)
            good = json_number_value(json_array_get(walls, k)) > 0;
    }
    return good;
}

/* Takes the reference. A cell of another grid stays in the file and is left alone. */
static void take_cell(agb_matrix *matrix, json_t *line)
{
    const char *name = json_string_value(json_object_get(line, "distribution"));
    json_int_t groups = json_integer_value(json_object_get(line, "groups"));
    json_int_t threads = json_integer_value(json_object_get(line, "threads"));
    for (size_t i = 0; i < matrix->n; i++) {
        agb_matrix_cell *cell = &matrix->cells[i];
        if (cell->done || cell->groups != (uint64_t)groups || cell->threads != (unsigned)threads ||
            strcmp(cell->distribution->name, name) != 0)
            continue;
        set_done(matrix, cell, line);
        return;
    }
    json_decref(line);
}

/* *good: where the last whole line ends. */
static agb_status read_lines(agb_matrix *matrix, char *text, size_t length, size_t *good, agb_error *err)
{
    char *end;
    for (unsigned number = 1; *good < length && (end = memchr(text + *good, '\n', length - *good)); number++) {
        json_error_t why;
        json_t *line = json_loadb(text + *good, (size_t)(end - text) - *good, JSON_REJECT_DUPLICATES, &why);
        agb_status status = AGB_OK;
        if (!line || (number > 1 && !is_cell(line)))
            status = agb_fail(err, AGB_ERR_FORMAT, "--state: %s: line %u is no line of a matrix: name another file, or "
                              "remove it", matrix->state_path, number);
        else if (number == 1)
            status = check_head(matrix, line, err);
        if (status != AGB_OK || number == 1)
            json_decref(line);
        else
            take_cell(matrix, line);
        if (status != AGB_OK)
            return status;
        *good = (size_t)(end - text) + 1;
    }
    return AGB_OK;
}

agb_status agb_matrix_state_open(agb_matrix *matrix, agb_error *err)
{
    bool dry = matrix->options->dry_run;    /* writes nothing: a first line would refuse the next grid */
    int how = dry ? O_RDONLY | O_NONBLOCK : O_RDWR | O_CREAT | O_APPEND;
    matrix->state = open(matrix->state_path, how | O_CLOEXEC, 0666);
    if (matrix->state < 0)
        return dry && errno == ENOENT ? AGB_OK : cannot(matrix, "opening", err);
    /* Of this process alone: a child that outlives it for a moment must not keep the next matrix out. */
    struct flock alone = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!dry && fcntl(matrix->state, F_SETLK, &alone) != 0 && (errno == EAGAIN || errno == EACCES))
        return agb_fail(err, AGB_ERR_IO, "--state: %s: another matrix is writing it: wait for it, or name another file",
                        matrix->state_path);
    size_t length, good = 0;
    char *text = read_all(matrix, &length);
    if (!text)
        return agb_fail(err, AGB_ERR_MEMORY, "--state: %s: it cannot be read: name another file", matrix->state_path);
    bool ours = length == 0 || strncmp(text, begins, length < strlen(begins) ? length : strlen(begins)) == 0;
    agb_status status = ours ? read_lines(matrix, text, length, &good, err)
                             : agb_fail(err, AGB_ERR_FORMAT, "--state: %s: is no state of a matrix: name another file",
                                        matrix->state_path);
    free(text);
    if (status != AGB_OK || dry)
        return status;
    if (good < length && ftruncate(matrix->state, (off_t)good) != 0)
        return cannot(matrix, "dropping its unfinished last line", err);
    return good == 0 ? append(matrix, matrix->head, err) : AGB_OK;
}
