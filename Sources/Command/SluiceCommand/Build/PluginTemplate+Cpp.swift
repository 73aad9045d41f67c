extension PluginTemplate {
  static func cpp(_ name: String) -> [File] {
    [File(path: "plugin.cc", text: cppSource(name))] + common(name, built: "build/lib\(name).so", ignored: "/build/")
  }

  private static func cppSource(_ name: String) -> String {
    #"""
    // Sets a header of each request.
    #include <exception>
    #include <string>

    #include <sluice/sluice.h>

    namespace {

    /// The data of one instance. Do not keep data in global or static variables: a library can have several instances,
    /// and several builds of it can be loaded at once.
    struct Instance {
      const sluice_host *host;
      std::string value;

      sluice_verdict on_request(sluice_exchange *exchange) const {
        if (sluice_set_request_header(host, exchange, "x-\#(name)", value.c_str()) != SLUICE_STATUS_OK) {
          return sluice_fail(host, exchange, "header", "\#(name): the host refused the header");
        }
        return SLUICE_VERDICT_CONTINUE;
      }
    };

    /// Calls a method of the instance. An exception must not leave a function that the host calls. If the method throws,
    /// the transaction fails.
    template <sluice_verdict (Instance::*method)(sluice_exchange *) const>
    sluice_verdict stage(void *context, sluice_exchange *exchange) noexcept {
      const Instance *self = static_cast<const Instance *>(context);
      try {
        return (self->*method)(exchange);
      } catch (const std::exception &error) {
        return sluice_fail(self->host, exchange, "exception", error.what());
      } catch (...) {
        return sluice_fail(self->host, exchange, "exception", "\#(name): an exception that is not a std::exception");
      }
    }

    /// Checks the configuration and stores it; code that opens or starts something belongs in `activate`.
    sluice_status create(const sluice_host *host, json_t *config, void **context, sluice_error *error) noexcept {
      const char *value = json_string_value(json_object_get(config, "value"));
      if (!value || !sluice_is_field_value(sluice_text_make(value))) {
        return sluice_error_set(error, "\"value\": expected a string without control characters");
      }
      try {
        *context = new Instance{host, value};
        return SLUICE_STATUS_OK;
      } catch (const std::exception &exception) {
        return sluice_error_set(error, "%s", exception.what());
      } catch (...) {
        return sluice_error_set(error, "an exception that is not a std::exception");
      }
    }

    void destroy(void *context) noexcept { delete static_cast<Instance *>(context); }

    const sluice_interceptor interceptor =
        SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, stage<&Instance::on_request>));

    /// A self-test, run before each hot swap and by "sluice plugin validate".
    const sluice_selftest_case sets_header =
        SLUICE_TABLE(sluice_selftest_case,
                     SLUICE_SET(name, "sets-header"),
                     SLUICE_SET(description, "The header is on the wire."),
                     SLUICE_SET(config, R"({"value": "red"})"),
                     SLUICE_SET(request, R"({"method": "GET", "url": "http://example.com/"})"),
                     SLUICE_SET(expected_request, R"({"method": "GET", "headers": {"x-\#(name)": "red"}})"));
    const sluice_selftest_case *const cases[] = {&sets_header};
    const sluice_selftest selftest = SLUICE_TABLE(sluice_selftest, SLUICE_SET(count, 1), SLUICE_SET(cases, cases));

    SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_SELFTEST_ID, &selftest});

    }  // namespace

    // To require a feature of the host, add a line such as SLUICE_REQUIRES(retry); see sluice/note.h.
    SLUICE_PLUGIN("\#(name)", "0.1.0",
                  SLUICE_SET(summary, "Sets a header of each request."),
                  SLUICE_SET(config_schema, R"({"type": "object", "required": ["value"], "additionalProperties": false,
                                                "properties": {"value": {"type": "string"}}})"),
                  SLUICE_SET(create, create),
                  SLUICE_SET(destroy, destroy),
                  SLUICE_SET(extension, extension));

    """#
  }
}
