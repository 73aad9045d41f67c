extension PluginTemplate {
  static func c(_ name: String) -> [File] {
    [File(path: "plugin.c", text: cSource(name))] + common(name, built: "build/lib\(name).so", ignored: "/build/")
  }

  private static func cSource(_ name: String) -> String {
    #"""
    // Sets a header of each request.
    #include <stdlib.h>

    #include <sluice/sluice.h>

    /// The data of one instance. Do not keep data in global or static variables: a library can have several instances,
    /// and several builds of it can be loaded at once.
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

    /// Checks the configuration and stores it; code that opens or starts something belongs in `activate`.
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

    static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, on_request));

    /// A self-test, run before each hot swap and by "sluice plugin validate".
    static const sluice_selftest_case sets_header =
        SLUICE_TABLE(sluice_selftest_case,
                     SLUICE_SET(name, "sets-header"),
                     SLUICE_SET(description, "The header is on the wire."),
                     SLUICE_SET(config, "{\"value\": \"red\"}"),
                     SLUICE_SET(request, "{\"method\": \"GET\", \"url\": \"http://example.com/\"}"),
                     SLUICE_SET(expected_request, "{\"method\": \"GET\", \"headers\": {\"x-\#(name)\": \"red\"}}"));
    static const sluice_selftest_case *const cases[] = {&sets_header};
    static const sluice_selftest selftest = SLUICE_TABLE(sluice_selftest, SLUICE_SET(count, 1), SLUICE_SET(cases, cases));

    SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_SELFTEST_ID, &selftest});

    // To require a feature of the host, add a line such as SLUICE_REQUIRES(retry); see sluice/note.h.
    SLUICE_PLUGIN("\#(name)", "0.1.0",
                  SLUICE_SET(summary, "Sets a header of each request."),
                  SLUICE_SET(config_schema,
                             "{\"type\": \"object\", \"required\": [\"value\"], \"additionalProperties\": false,"
                             " \"properties\": {\"value\": {\"type\": \"string\"}}}"),
                  SLUICE_SET(create, create),
                  SLUICE_SET(destroy, destroy),
                  SLUICE_SET(extension, extension));

    """#
  }
}
