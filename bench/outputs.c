/* SPDX-License-Identifier: MIT */
/* The files that a run may write: see outputs.h. */
#include "outputs.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <unistd.h>

static bool is_in_folder(const agb_output *output, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat file;
    bool found = false;
    while (dir && !found && (entry = readdir(dir)))
        found = fstatat(dirfd(dir), entry->d_name, &file, 0) == 0 && agb_output_is(output, &file);
    if (dir)
        closedir(dir);
    return found;
}

static bool is_among_matches(const agb_output *output, const char *pattern)
{
    glob_t matches = {0};
    struct stat file;
    bool found = false;
    if (glob(pattern, 0, NULL, &matches) == 0) {
        for (size_t i = 0; i < matches.gl_pathc && !found; i++)
            found = stat(matches.gl_pathv[i], &file) == 0 && agb_output_is(output, &file);
        globfree(&matches);
    }
    return found;
}

/* Whether it is one of the files that a SOURCE means. */
static bool is_of_source(const agb_output *output, const char *source)
{
    struct stat there;
    int failed = strcmp(source, "-") == 0 ? fstat(STDIN_FILENO, &there) : stat(source, &there);
    if (failed)
        return is_among_matches(output, source);
    return S_ISDIR(there.st_mode) ? is_in_folder(output, source)
                                  : S_ISREG(there.st_mode) && agb_output_is(output, &there);
}

agb_status agb_output_prepare_apart(agb_output *out, const char *option, const char *path, const char *const *sources,
                                    size_t n_sources, agb_error *err)
{
    agb_status status = agb_output_prepare(out, path, err);
    for (size_t i = 0; i < n_sources && status == AGB_OK && path; i++) {
        if (is_of_source(out, sources[i]))
            status = agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: is a file of the source %s: name another file", option,
                              path, sources[i]);
    }
    return status;
}

agb_status agb_outputs_prepare(agb_outputs *out, const agb_options *options, char *const *sources, size_t n_sources,
                               agb_error *err)
{
    const char *const *names = (const char *const *)sources;
    *out = (agb_outputs){.has_groups = options->groups != NULL, .has_record = options->record != NULL};
    if (options->groups && n_sources > 1)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--groups: %s: takes the groups of one source, but --sweep makes %zu: "
                        "leave one out", options->groups, n_sources);
    agb_status status = agb_output_prepare_apart(&out->report, "output", options->output, names, n_sources, err);
    if (status == AGB_OK && options->groups)
        status = agb_output_prepare_apart(&out->groups, "groups", options->groups, names, n_sources, err);
    if (status == AGB_OK && options->record)
        status = agb_output_prepare_apart(&out->record, "record", options->record, names, n_sources, err);
    const agb_output *all[] = {options->output ? &out->report : NULL, options->groups ? &out->groups : NULL,
                               options->record ? &out->record : NULL};
    static const char *const options_of[] = {"output", "groups", "record"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (size_t k = i + 1; k < sizeof all / sizeof all[0]; k++)
            if (status == AGB_OK && all[i] && all[k] && agb_output_same(all[i], all[k]))
                status = agb_fail(err, AGB_ERR_ARGUMENT, "--%s: %s: is where --%s writes, too: name two files",
                                  options_of[k], all[k]->path, options_of[i]);
    return status;
}

void agb_outputs_release(agb_outputs *outputs)
{
    agb_output_release(&outputs->report);
    agb_output_release(&outputs->groups);
    agb_output_release(&outputs->record);
}
