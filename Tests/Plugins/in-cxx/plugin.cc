// A plugin in C++: a virtual call, a static object, an exception that stays inside; each of its functions has a case.
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <sluice/sluice.h>

SLUICE_PLUGIN_NOTE(0, 1, 0, 0);

namespace {

struct Color {
  virtual ~Color() = default;
  virtual std::string name() const = 0;
};

struct Blue : Color {
  std::string name() const override { return "blue"; }
};

const std::string header = std::string("x-") + "color";

struct Stage {
  const sluice_host *host;
  std::unique_ptr<Color> color;
};

std::string checked(const Color &color) {
  try {
    throw std::runtime_error(color.name());
  } catch (const std::exception &error) {
    return error.what();
  }
}

}  // namespace

extern "C" {

static sluice_status create(const sluice_host *host, json_t *, void **instance, sluice_error *) {
  *instance = new Stage{host, std::make_unique<Blue>()};
  return SLUICE_STATUS_OK;
}

static void destroy(void *instance) { delete static_cast<Stage *>(instance); }

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
  auto *stage = static_cast<Stage *>(instance);
  sluice_set_request_header(stage->host, exchange, header.c_str(), checked(*stage->color).c_str());
  return SLUICE_VERDICT_CONTINUE;
}

static const void *extension(const char *id) {
  static const sluice_interceptor interceptor = [] {
    sluice_interceptor table{};
    table.size = sizeof table;
    table.on_request = on_request;
    return table;
  }();
  static const sluice_selftest_case paints = [] {
    sluice_selftest_case paints{};
    paints.size = sizeof paints;
    paints.name = "paints";
    paints.description = "A request gets the color.";
    paints.expected_request = "{\"headers\": {\"x-color\": \"blue\"}}";
    return paints;
  }();
  static const sluice_selftest_case *const cases[] = {&paints};
  static const sluice_selftest selftest = {sizeof selftest, 1, cases, nullptr};
  if (std::strcmp(id, SLUICE_INTERCEPTOR_ID) == 0) return &interceptor;
  return std::strcmp(id, SLUICE_SELFTEST_ID) == 0 ? static_cast<const void *>(&selftest) : nullptr;
}

SLUICE_EXPORT const sluice_plugin *sluice_plugin_entry(const sluice_host *, uint32_t, sluice_error *) {
  static const sluice_plugin plugin = [] {
    sluice_plugin plugin{};
    plugin.size = sizeof plugin;
    plugin.abi = SLUICE_ABI_VERSION;
    plugin.id = "in-cxx";
    plugin.version = "1.0.0";
    plugin.summary = "A fixture.";
    plugin.create = create;
    plugin.destroy = destroy;
    plugin.extension = extension;
    return plugin;
  }();
  return &plugin;
}
}
