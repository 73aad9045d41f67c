// A plugin in C++: a virtual call, a static object, an exception that stays inside; each of its functions has a case.
#include <memory>
#include <stdexcept>
#include <string>

#include <sluice/sluice.h>

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

static const sluice_interceptor interceptor = SLUICE_TABLE(sluice_interceptor, SLUICE_SET(on_request, on_request));
static const sluice_selftest_case paints =
    SLUICE_TABLE(sluice_selftest_case, SLUICE_SET(name, "paints"), SLUICE_SET(description, "A request gets the color."),
                 SLUICE_SET(expected_request, "{\"headers\": {\"x-color\": \"blue\"}}"));
static const sluice_selftest_case *const cases[] = {&paints};
static const sluice_selftest selftest = SLUICE_TABLE(sluice_selftest, SLUICE_SET(count, 1), SLUICE_SET(cases, cases));

SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &interceptor}, {SLUICE_SELFTEST_ID, &selftest});
SLUICE_REQUIRES(rewrite);
SLUICE_PLUGIN("in-cxx", "1.0.0", SLUICE_SET(summary, "A fixture."), SLUICE_SET(create, create),
              SLUICE_SET(destroy, destroy), SLUICE_SET(extension, extension));
