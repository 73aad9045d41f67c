/// Everything a plugin can use. Each header can be included by itself; see docs/abi.md for the rules and a complete
/// example.
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <sluice/abi.h>
#include <sluice/body.h>
#include <sluice/callout.h>
#include <sluice/context.h>
#include <sluice/convenience.h>
#include <sluice/declaration.h>
#include <sluice/error.h>
#include <sluice/exchange.h>
#include <sluice/fields.h>
#include <sluice/host.h>
#include <sluice/interceptor.h>
#include <sluice/metrics.h>
#include <sluice/note.h>
#include <sluice/notifications.h>
#include <sluice/plugin.h>
#include <sluice/selftest.h>
#include <sluice/state.h>
#include <sluice/status.h>
#include <sluice/table.h>
#include <sluice/text.h>
#include <sluice/timers.h>
#include <sluice/token.h>
#include <sluice/tracer.h>
#include <sluice/values.h>
#include <sluice/verdict.h>

#endif
