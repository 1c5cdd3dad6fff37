/* SPDX-License-Identifier: MIT */
/* Saves and reads the line of this machine: see ipc_line.h. */
#include "ipc_line.h"

#include "json_text.h"
#include "output.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char CURE[] = "run `aggbench lab calibrate` to measure it anew";
static const char TIME_FORMAT[] = "%Y-%m-%dT%H:%M:%SZ";
static const char *const units[] = {[AGB_IPC_PER_CYCLE] = "ipc", [AGB_IPC_PER_NS] = "ops_per_ns"};

const char *agb_ipc_unit_name(agb_ipc_unit unit)
{
    return units[unit];
}

const char *agb_ipc_unit_words(agb_ipc_unit unit)
{
    return unit == AGB_IPC_PER_CYCLE ? "instructions a cycle" : "instructions a nanosecond";
}

void agb_ipc_line_machine(const agb_machine *machine, char *text, size_t size)
{
    snprintf(text, size, "%s, %s, L3 %zu KiB, %s", machine->cpu, machine->uarch,
             machine->caches.l3 / 1024, machine->hypervisor[0] ? machine->hypervisor : "bare metal");
}

/* ---- Where ------------------------------------------------------------------------------------------------------- */

/* The XDG base directory specification has relative paths ignored. */
agb_status agb_ipc_line_path(char *path, size_t size, agb_error *err)
{
    static const char NAME[] = "aggbench/ipc-line.json";
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(path, size, "%s/%s", cache, NAME);
    else if (home && home[0] == '/')
        length = snprintf(path, size, "%s/.cache/%s", home, NAME);
    if (length < 0)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "ipc line: no place to keep it: neither XDG_CACHE_HOME nor HOME is the "
                        "whole path of a folder: set one of them");
    if ((size_t)length >= size)
        return agb_fail(err, AGB_ERR_ARGUMENT, "ipc line: %s: the path is too long: set XDG_CACHE_HOME to a shorter "
                        "one", path);
    return AGB_OK;
}

/* Makes the folders of a path, for this user only, as the specification wants. */
static agb_status make_folders(const char *path, agb_error *err)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return agb_cannot_write(folder, errno, err);
        *slash = '/';
    }
    return AGB_OK;
}

/* ---- What is a line ---------------------------------------------------------------------------------------------- */

static bool is_sound(const agb_ipc_line *line)
{
    return line->machine[0] != '\0' && isfinite(line->cpu_bound) && line->memory_bound > 0 &&
           line->memory_bound < line->midpoint && line->midpoint < line->cpu_bound;
}

static bool read_number(json_t *root, const char *key, double *out)
{
    json_t *value = json_object_get(root, key);
    *out = json_number_value(value);
    return json_is_number(value);
}

static bool read_unit(json_t *root, agb_ipc_unit *out)
{
    const char *name = json_string_value(json_object_get(root, "unit"));
    for (*out = AGB_IPC_PER_CYCLE; name && *out <= AGB_IPC_PER_NS; ++*out) {
        if (strcmp(units[*out], name) == 0)
            return true;
    }
    return false;
}

static bool read_time(json_t *root, int64_t *out)
{
    const char *text = json_string_value(json_object_get(root, "measured"));
    struct tm when = {0};
    const char *end = text ? strptime(text, TIME_FORMAT, &when) : NULL;
    *out = timegm(&when);
    return end && *end == '\0';
}

/* NULL, or what is wrong with it. */
static const char *read_line(json_t *root, agb_ipc_line *out)
{
    const char *machine = json_string_value(json_object_get(root, "machine"));
    *out = (agb_ipc_line){.unit = AGB_IPC_PER_CYCLE};
    if (json_integer_value(json_object_get(root, "aggbench_ipc_line")) != 1)
        return "wanted \"aggbench_ipc_line\": 1";
    if (!machine || !read_unit(root, &out->unit) || !read_time(root, &out->measured_s))
        return "wanted \"machine\" and \"measured\", and the unit \"ipc\" or \"ops_per_ns\"";
    snprintf(out->machine, sizeof out->machine, "%s", machine);
    if (!read_number(root, "cpu_bound", &out->cpu_bound) || !read_number(root, "memory_bound", &out->memory_bound) ||
        !read_number(root, "midpoint", &out->midpoint) || !is_sound(out))
        return "wanted the numbers 0 < memory_bound < midpoint < cpu_bound";
    return NULL;
}

/* ---- To and from the file ---------------------------------------------------------------------------------------- */

static json_t *line_json(const agb_ipc_line *line)
{
    char when[32] = "";
    struct tm parts;
    time_t seconds = (time_t)line->measured_s;
    if (gmtime_r(&seconds, &parts))
        strftime(when, sizeof when, TIME_FORMAT, &parts);
    return json_pack("{s:i, s:o, s:s, s:f, s:f, s:f, s:s}", "aggbench_ipc_line", 1, "machine",
                     agb_json_text(line->machine), "unit", units[line->unit], "cpu_bound", line->cpu_bound,
                     "memory_bound", line->memory_bound, "midpoint", line->midpoint, "measured", when);
}

agb_status agb_ipc_line_save(const agb_ipc_line *line, agb_error *err)
{
    char path[PATH_MAX];
    if (!is_sound(line))
        return agb_fail(err, AGB_ERR_ARGUMENT, "ipc line: computing reached %.3g, waiting %.3g, with %.3g between "
                        "them: no line: wanted 0 < waiting < between < computing", line->cpu_bound, line->memory_bound,
                        line->midpoint);
    agb_status status = agb_ipc_line_path(path, sizeof path, err);
    agb_output out;
    if (status == AGB_OK)
        status = make_folders(path, err);
    if (status == AGB_OK)
        status = agb_output_prepare(&out, path, err);
    if (status != AGB_OK)
        return status;
    status = agb_output_begin(&out, err);
    if (status != AGB_OK) {
        agb_output_release(&out);
        return status;
    }
    json_t *root = line_json(line);
    json_dumpf(root, out.file, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    fputc('\n', out.file);
    json_decref(root);
    return agb_output_close(&out, err);
}

agb_status agb_ipc_line_load(agb_ipc_line *out, const agb_machine *machine, agb_error *err)
{
    char path[PATH_MAX], here[sizeof out->machine];
    agb_status status = agb_ipc_line_path(path, sizeof path, err);
    if (status != AGB_OK)
        return status;
    FILE *file = fopen(path, "re");
    if (!file && errno == ENOENT)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "ipc line: %s: there is none yet: %s", path, CURE);
    if (!file)
        return agb_fail(err, AGB_ERR_IO, "ipc line: %s: %s", path, strerror(errno));
    json_error_t problem;
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &problem);
    fclose(file);
    const char *wrong = root ? read_line(root, out) : problem.text;
    if (wrong)
        status = agb_fail(err, AGB_ERR_FORMAT, "ipc line: %s: damaged: %s: %s", path, wrong, CURE);
    json_decref(root);
    agb_ipc_line_machine(machine, here, sizeof here);
    if (status == AGB_OK && strcmp(here, out->machine) != 0)
        status = agb_fail(err, AGB_ERR_UNSUPPORTED, "ipc line: %s: it is of another machine (%s), this is %s: %s", path,
                          agb_text_clean(out->machine).s, here, CURE);
    return status;
}
