extension PluginTemplate {
  static func c(_ name: String) -> [File] {
    [File(path: "plugin.c", text: cSource(name))] + common(name, built: "build/lib\(name).so", ignored: "/build/")
  }

  private static func cSource(_ name: String) -> String {
    #"""
    // Sets a header of each request.
    #include <stdlib.h>

    #include <sluice/sluice.h>

    /// What one instance remembers. No variable outside of it: a library can have several instances, and several builds of it can
    /// be loaded at once.
    typedef struct instance {
      const sluice_host *host;
      char *value;
    } instance;

    static sluice_verdict on_request(void *context, sluice_exchange *exchange) {
      const instance *self = context;
      if (sluice_set_request_header(self->host, exchange, "x-\#(name)", self->value) != SLUICE_STATUS_OK) {
        return sluice_fail(self->host, exchange, "header", "\#(name): the host refused the header");
      }
      return SLUICE_VERDICT_CONTINUE;
    }

    static void destroy(void *context) {
      instance *self = context;
      free(self->value);
      free(self);
    }

    /// Checks and remembers; what opens or starts something belongs into `activate`.
    static sluice_status create(const sluice_host *host, json_t *config, void **context, sluice_error *error) {
      const char *value = json_string_value(json_object_get(config, "value"));
      if (!value || !sluice_is_field_value(sluice_text_make(value))) {
        return sluice_error_set(error, "\"value\": expected a string without control characters");
      }
      instance *self = calloc(1, sizeof *self);
      if (self) self->value = malloc(strlen(value) + 1);
      if (!self || !self->value) {
        free(self);
        sluice_error_set(error, "out of memory");
        return SLUICE_STATUS_NO_MEMORY;
      }
      self->host = host;
      strcpy(self->value, value);
      *context = self;
      return SLUICE_STATUS_OK;
    }

    /// Run before each hot swap, and by "sluice plugin validate".
    static const sluice_selftest_case sets_header = {
        .size = sizeof sets_header,
        .name = "sets-header",
        .description = "The header is on the wire.",
        .config = "{\"value\": \"red\"}",
        .request = "{\"method\": \"GET\", \"url\": \"http://example.com/\"}",
        .expected_request = "{\"method\": \"GET\", \"headers\": {\"x-\#(name)\": \"red\"}}",
    };

    static const void *extension(const char *id) {
      static const sluice_interceptor interceptor = {.size = sizeof interceptor, .on_request = on_request};
      static const sluice_selftest_case *const cases[] = {&sets_header};
      static const sluice_selftest selftest = {.size = sizeof selftest, .count = 1, .cases = cases};
      if (strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
      return strcmp(id, SLUICE_SELFTEST_ID) == 0 ? (const void *)&selftest : NULL;
    }

    /// What is known of the plugin before any of its code runs: no feature that it cannot do without, version 0.1.0.
    SLUICE_PLUGIN_NOTE(0, 0, 1, 0)

    SLUICE_EXPORT const sluice_plugin *sluice_plugin_entry(const sluice_host *host, uint32_t abi, sluice_error *error) {
      static const sluice_plugin plugin = {
          .size = sizeof plugin,
          .abi = SLUICE_ABI_VERSION,
          .id = "\#(name)",
          .version = "0.1.0",
          .summary = "Sets a header of each request.",
          .config_schema = "{\"type\": \"object\", \"required\": [\"value\"], \"additionalProperties\": false,"
                           " \"properties\": {\"value\": {\"type\": \"string\"}}}",
          .create = create,
          .destroy = destroy,
          .extension = extension,
      };
      (void)host;
      if (abi >= SLUICE_ABI_VERSION) return &plugin;
      sluice_error_set(error, "built for ABI %u, this host speaks %u", SLUICE_ABI_VERSION, abi);
      return NULL;
    }

    """#
  }
}
