// Opens files until there are no descriptors left, or 100,000 are open, and says how many in its summary.
#include <fcntl.h>
#include <stdio.h>

#include "../fixture.h"

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

static int count;

__attribute__((constructor)) static void open_files(void) {
  while (count < 100000 && open("/dev/null", O_RDONLY) >= 0) count++;
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)host, (void)config, (void)instance;
  return sluice_error_set(error, "%s", count < 1000 ? "less than a thousand were to be had" : "there was no limit");
}

static const sluice_plugin plugin = {
    FIXTURE_IDENTITY, .create = create, .destroy = fixture_destroy, .extension = fixture_no_extension};
FIXTURE_ENTRY(&plugin)
