/// Freezes the ABI: this file does not compile if a size, an offset or a constant changes, because plugins would break.
///
/// A table that grows gets more lines at the end of its block, and a new size; no other line in this file ever changes.
#include <sluice/draft/attribute.h>
#include <sluice/draft/attributes.h>
#include <sluice/draft/connection.h>
#include <sluice/draft/log.h>
#include <sluice/draft/origins.h>
#include <sluice/draft/reports.h>
#include <sluice/draft/response_stream.h>
#include <sluice/draft/shared.h>
#include <sluice/draft/stage.h>
#include <sluice/draft/spans.h>
#include <sluice/draft/threads.h>
#include <sluice/draft/want_body.h>
#include <sluice/draft/work.h>
#include <sluice/sluice.h>

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8 && sizeof(int) == 4, "the ABI is laid out for LP64");

#define SLUICE_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "the size of " #type " is frozen")
#define SLUICE_OFFSET(type, member, bytes) \
  _Static_assert(offsetof(type, member) == (bytes), #type "." #member " is frozen")
#define SLUICE_VALUE(name, value) _Static_assert((name) == (value), #name " is frozen")

// abi.h
SLUICE_VALUE(SLUICE_ABI_VERSION, 1u);

// status.h
SLUICE_VALUE(SLUICE_STATUS_OK, 0);
SLUICE_VALUE(SLUICE_STATUS_ABSENT, 1);
SLUICE_VALUE(SLUICE_STATUS_ALREADY, 2);
SLUICE_VALUE(SLUICE_STATUS_STALE, 3);
SLUICE_VALUE(SLUICE_STATUS_UNSUPPORTED, 4);
SLUICE_VALUE(SLUICE_STATUS_LIMIT, 5);
SLUICE_VALUE(SLUICE_STATUS_CLOSING, 6);
SLUICE_VALUE(SLUICE_STATUS_INVALID, -1);
SLUICE_VALUE(SLUICE_STATUS_REFUSED, -2);
SLUICE_VALUE(SLUICE_STATUS_WRONG_THREAD, -3);
SLUICE_VALUE(SLUICE_STATUS_FAILED, -4);
SLUICE_VALUE(SLUICE_STATUS_NO_MEMORY, -5);

// verdict.h
SLUICE_VALUE(SLUICE_VERDICT_CONTINUE, 0);
SLUICE_VALUE(SLUICE_VERDICT_RESPOND, 1);
SLUICE_VALUE(SLUICE_VERDICT_RETRY, 2);
SLUICE_VALUE(SLUICE_VERDICT_FAIL, 3);
SLUICE_VALUE(SLUICE_VERDICT_SUSPENDED, 4);

// text.h
SLUICE_OFFSET(sluice_text, data, 0);
SLUICE_OFFSET(sluice_text, size, 8);
SLUICE_SIZE(sluice_text, 16);
SLUICE_OFFSET(sluice_field, name, 0);
SLUICE_OFFSET(sluice_field, value, 16);
SLUICE_SIZE(sluice_field, 32);
SLUICE_OFFSET(sluice_bytes, data, 0);
SLUICE_OFFSET(sluice_bytes, size, 8);
SLUICE_SIZE(sluice_bytes, 16);

// error.h
SLUICE_OFFSET(sluice_error, size, 0);
SLUICE_OFFSET(sluice_error, capacity, 4);
SLUICE_OFFSET(sluice_error, message, 8);
SLUICE_SIZE(sluice_error, 16);

// token.h
SLUICE_OFFSET(sluice_token, slot, 0);
SLUICE_OFFSET(sluice_token, generation, 4);
SLUICE_OFFSET(sluice_token, nonce, 8);
SLUICE_SIZE(sluice_token, 16);

// context.h
SLUICE_OFFSET(sluice_context, size, 0);
SLUICE_OFFSET(sluice_context, attempt, 4);
SLUICE_OFFSET(sluice_context, hop, 8);
SLUICE_OFFSET(sluice_context, loop, 12);
SLUICE_OFFSET(sluice_context, transaction_id, 16);
SLUICE_OFFSET(sluice_context, request_id, 32);
SLUICE_OFFSET(sluice_context, method, 48);
SLUICE_OFFSET(sluice_context, path, 64);
SLUICE_OFFSET(sluice_context, elapsed_ns, 80);
SLUICE_OFFSET(sluice_context, remaining_ns, 88);
SLUICE_OFFSET(sluice_context, parent_traceparent, 96);
SLUICE_OFFSET(sluice_context, parent_tracestate, 112);
SLUICE_OFFSET(sluice_context, parent_baggage, 128);
SLUICE_SIZE(sluice_context, 144);
SLUICE_VALUE(SLUICE_CONTEXT_SIZE_1, 144u);

// exchange.h
SLUICE_VALUE(SLUICE_SIDE_REQUEST, 0);
SLUICE_VALUE(SLUICE_SIDE_RESPONSE, 1);
SLUICE_VALUE(SLUICE_JSON_READ, 1);
SLUICE_VALUE(SLUICE_JSON_WRITE, 2);
SLUICE_VALUE(SLUICE_JSON_BODY, 4);
SLUICE_VALUE(SLUICE_HEADER_SENSITIVE, 1);
SLUICE_VALUE(SLUICE_LIMIT_TIMEOUT_NS, 1);
SLUICE_VALUE(SLUICE_LIMIT_ATTEMPT_TIMEOUT_NS, 2);
SLUICE_VALUE(SLUICE_LIMIT_RESPONSE_BYTES, 3);
SLUICE_VALUE(SLUICE_LIMIT_ATTEMPTS, 4);
SLUICE_VALUE(SLUICE_FILE_REMOVE, 1);
SLUICE_VALUE(SLUICE_CALL_WRITE_REQUEST_HEADERS, 1);
SLUICE_VALUE(SLUICE_CALL_WRITE_REQUEST_LINE, 2);
SLUICE_VALUE(SLUICE_CALL_WRITE_REQUEST_BODY, 3);
SLUICE_VALUE(SLUICE_CALL_WRITE_RESPONSE, 4);
SLUICE_VALUE(SLUICE_CALL_WRITE_RESPONSE_BODY, 5);
SLUICE_VALUE(SLUICE_CALL_READ_DOCUMENT, 6);
SLUICE_VALUE(SLUICE_CALL_WRITE_PIECE, 7);
SLUICE_VALUE(SLUICE_CALL_RESPOND, 8);
SLUICE_VALUE(SLUICE_CALL_RETRY, 9);
SLUICE_VALUE(SLUICE_CALL_FAIL, 10);
SLUICE_VALUE(SLUICE_CALL_SUSPEND, 11);
SLUICE_VALUE(SLUICE_CALL_SET_LIMIT, 12);
SLUICE_VALUE(SLUICE_CALL_ANSWER_CHALLENGE, 14);

SLUICE_OFFSET(sluice_exchange_api, size, 0);
SLUICE_OFFSET(sluice_exchange_api, reserved, 4);
SLUICE_OFFSET(sluice_exchange_api, context, 8);
SLUICE_OFFSET(sluice_exchange_api, header_get, 16);
SLUICE_OFFSET(sluice_exchange_api, header_set, 24);
SLUICE_OFFSET(sluice_exchange_api, header_add, 32);
SLUICE_OFFSET(sluice_exchange_api, header_remove, 40);
SLUICE_OFFSET(sluice_exchange_api, header_at, 48);
SLUICE_OFFSET(sluice_exchange_api, header_mark, 56);
SLUICE_OFFSET(sluice_exchange_api, method_get, 64);
SLUICE_OFFSET(sluice_exchange_api, method_set, 72);
SLUICE_OFFSET(sluice_exchange_api, url_get, 80);
SLUICE_OFFSET(sluice_exchange_api, url_set, 88);
SLUICE_OFFSET(sluice_exchange_api, status_get, 96);
SLUICE_OFFSET(sluice_exchange_api, status_set, 104);
SLUICE_OFFSET(sluice_exchange_api, body_get, 112);
SLUICE_OFFSET(sluice_exchange_api, body_set, 120);
SLUICE_OFFSET(sluice_exchange_api, body_file, 128);
SLUICE_OFFSET(sluice_exchange_api, body_write, 136);
SLUICE_OFFSET(sluice_exchange_api, json, 144);
SLUICE_OFFSET(sluice_exchange_api, data_set, 152);
SLUICE_OFFSET(sluice_exchange_api, data_get, 160);
SLUICE_OFFSET(sluice_exchange_api, respond, 168);
SLUICE_OFFSET(sluice_exchange_api, fail, 176);
SLUICE_OFFSET(sluice_exchange_api, retry, 184);
SLUICE_OFFSET(sluice_exchange_api, suspend, 192);
SLUICE_OFFSET(sluice_exchange_api, trailer_add, 200);
SLUICE_OFFSET(sluice_exchange_api, issued_header_get, 208);
SLUICE_OFFSET(sluice_exchange_api, body_set_file, 216);
SLUICE_OFFSET(sluice_exchange_api, limit_set, 224);
SLUICE_OFFSET(sluice_exchange_api, may_call, 232);
SLUICE_OFFSET(sluice_exchange_api, challenge_answer, 240);
SLUICE_SIZE(sluice_exchange_api, 248);
SLUICE_VALUE(SLUICE_EXCHANGE_API_SIZE_1, 248u);

// host.h
SLUICE_VALUE(SLUICE_LOG_DEBUG, 0);
SLUICE_VALUE(SLUICE_LOG_INFO, 1);
SLUICE_VALUE(SLUICE_LOG_WARNING, 2);
SLUICE_VALUE(SLUICE_LOG_ERROR, 3);
SLUICE_VALUE(SLUICE_HOST_TRIAL, 1);
SLUICE_VALUE(SLUICE_HOST_SHARED, 2);
SLUICE_VALUE(SLUICE_FEATURE_SUSPEND, 1);
SLUICE_VALUE(SLUICE_FEATURE_RESPOND, 2);
SLUICE_VALUE(SLUICE_FEATURE_RETRY, 4);
SLUICE_VALUE(SLUICE_FEATURE_REQUEST_BODY, 8);
SLUICE_VALUE(SLUICE_FEATURE_RESPONSE_BODY, 16);
SLUICE_VALUE(SLUICE_FEATURE_STREAMED_BODY, 32);
SLUICE_VALUE(SLUICE_FEATURE_TIMERS, 64);
SLUICE_VALUE(SLUICE_FEATURE_CALLOUT, 128);
SLUICE_VALUE(SLUICE_FEATURE_METRICS, 256);
SLUICE_VALUE(SLUICE_FEATURE_VALUES, 512);
SLUICE_VALUE(SLUICE_FEATURE_HOPS, 1024);
SLUICE_VALUE(SLUICE_FEATURE_REWRITE, 2048);
SLUICE_VALUE(SLUICE_FEATURE_RESPONSE, 4096);
SLUICE_VALUE(SLUICE_FEATURE_DOCUMENT, 8192);
SLUICE_VALUE(SLUICE_FEATURE_NOTIFICATIONS, 16384);

SLUICE_OFFSET(sluice_host, size, 0);
SLUICE_OFFSET(sluice_host, abi, 4);
SLUICE_OFFSET(sluice_host, flags, 8);
SLUICE_OFFSET(sluice_host, features, 12);
SLUICE_OFFSET(sluice_host, name, 16);
SLUICE_OFFSET(sluice_host, version, 32);
SLUICE_OFFSET(sluice_host, instance_name, 48);
SLUICE_OFFSET(sluice_host, handle, 64);
SLUICE_OFFSET(sluice_host, exchange, 72);
SLUICE_OFFSET(sluice_host, resume, 80);
SLUICE_OFFSET(sluice_host, post, 88);
SLUICE_OFFSET(sluice_host, enter, 96);
SLUICE_OFFSET(sluice_host, log, 104);
SLUICE_OFFSET(sluice_host, clock_ns, 112);
SLUICE_OFFSET(sluice_host, extension, 120);
SLUICE_OFFSET(sluice_host, wall_clock_ns, 128);
SLUICE_SIZE(sluice_host, 136);
SLUICE_VALUE(SLUICE_HOST_SIZE_1, 128u);

// interceptor.h
SLUICE_VALUE(SLUICE_FLAG_SERIAL, 1);
SLUICE_VALUE(SLUICE_FLAG_BLOCKING, 2);
SLUICE_VALUE(SLUICE_WANTS_REQUEST_BODY, 1);
SLUICE_VALUE(SLUICE_WANTS_RESPONSE_BODY, 2);

SLUICE_OFFSET(sluice_failure, size, 0);
SLUICE_OFFSET(sluice_failure, is_before_sending, 4);
SLUICE_OFFSET(sluice_failure, code, 8);
SLUICE_OFFSET(sluice_failure, message, 24);
SLUICE_OFFSET(sluice_failure, stage, 40);
SLUICE_SIZE(sluice_failure, 56);
SLUICE_VALUE(SLUICE_FAILURE_SIZE_1, 56u);

SLUICE_OFFSET(sluice_redirect, size, 0);
SLUICE_OFFSET(sluice_redirect, status, 4);
SLUICE_OFFSET(sluice_redirect, url, 8);
SLUICE_OFFSET(sluice_redirect, method, 24);
SLUICE_OFFSET(sluice_redirect, is_cross_origin, 40);
SLUICE_OFFSET(sluice_redirect, keeps_body, 44);
SLUICE_SIZE(sluice_redirect, 48);
SLUICE_VALUE(SLUICE_REDIRECT_SIZE_1, 48u);

SLUICE_OFFSET(sluice_challenge, size, 0);
SLUICE_OFFSET(sluice_challenge, status, 4);
SLUICE_OFFSET(sluice_challenge, scheme, 8);
SLUICE_OFFSET(sluice_challenge, parameters, 24);
SLUICE_OFFSET(sluice_challenge, answered, 40);
SLUICE_OFFSET(sluice_challenge, reserved, 44);
SLUICE_SIZE(sluice_challenge, 48);
SLUICE_VALUE(SLUICE_CHALLENGE_SIZE_1, 48u);

SLUICE_OFFSET(sluice_interceptor, size, 0);
SLUICE_OFFSET(sluice_interceptor, flags, 4);
SLUICE_OFFSET(sluice_interceptor, wants, 8);
SLUICE_OFFSET(sluice_interceptor, reserved, 12);
SLUICE_OFFSET(sluice_interceptor, on_request, 16);
SLUICE_OFFSET(sluice_interceptor, on_issue, 24);
SLUICE_OFFSET(sluice_interceptor, on_redirect, 32);
SLUICE_OFFSET(sluice_interceptor, on_challenge, 40);
SLUICE_OFFSET(sluice_interceptor, on_response, 48);
SLUICE_OFFSET(sluice_interceptor, on_failure, 56);
SLUICE_OFFSET(sluice_interceptor, on_cancel, 64);
SLUICE_OFFSET(sluice_interceptor, on_informational, 72);
SLUICE_SIZE(sluice_interceptor, 80);
SLUICE_VALUE(SLUICE_INTERCEPTOR_SIZE_1, 80u);

SLUICE_OFFSET(sluice_informational, size, 0);
SLUICE_OFFSET(sluice_informational, status, 4);
SLUICE_OFFSET(sluice_informational, fields, 8);
SLUICE_OFFSET(sluice_informational, field_count, 16);
SLUICE_SIZE(sluice_informational, 24);
SLUICE_VALUE(SLUICE_INFORMATIONAL_SIZE_1, 24u);

// body.h
SLUICE_VALUE(SLUICE_BODY_VERDICT_PASS, 0);
SLUICE_VALUE(SLUICE_BODY_VERDICT_TAKEN, 1);
SLUICE_VALUE(SLUICE_BODY_VERDICT_SUSPENDED, 2);
SLUICE_VALUE(SLUICE_BODY_VERDICT_FAIL, 3);
SLUICE_VALUE(SLUICE_BODY_SIDE_REQUEST, 1);
SLUICE_VALUE(SLUICE_BODY_SIDE_RESPONSE, 2);

SLUICE_OFFSET(sluice_body, size, 0);
SLUICE_OFFSET(sluice_body, sides, 4);
SLUICE_OFFSET(sluice_body, on_chunk, 8);
SLUICE_OFFSET(sluice_body, on_end, 16);
SLUICE_OFFSET(sluice_body, on_trailer, 24);
SLUICE_SIZE(sluice_body, 32);
SLUICE_VALUE(SLUICE_BODY_SIZE_1, 32u);

// tracer.h
SLUICE_VALUE(SLUICE_EVENT_WILL_EXECUTE, 1);
SLUICE_VALUE(SLUICE_EVENT_DID_CONFIGURE, 2);
SLUICE_VALUE(SLUICE_EVENT_DID_ISSUE, 3);
SLUICE_VALUE(SLUICE_EVENT_DID_RECEIVE, 4);
SLUICE_VALUE(SLUICE_EVENT_DID_VALIDATE_RESPONSE, 5);
SLUICE_VALUE(SLUICE_EVENT_DID_EXTRACT, 6);
SLUICE_VALUE(SLUICE_EVENT_DID_VALIDATE_PAYLOAD, 7);
SLUICE_VALUE(SLUICE_EVENT_DID_COMPLETE, 8);
SLUICE_VALUE(SLUICE_EVENT_DID_RECEIVE_INFORMATIONAL, 9);
SLUICE_VALUE(SLUICE_EVENT_WILL_RETRY, 10);
SLUICE_VALUE(SLUICE_EVENT_WILL_REDIRECT, 11);
SLUICE_VALUE(SLUICE_EVENT_DID_END_HOP, 12);
SLUICE_VALUE(SLUICE_EVENT_DID_END_SPAN, 13);
SLUICE_VALUE(SLUICE_OUTCOME_PENDING, 0);
SLUICE_VALUE(SLUICE_OUTCOME_SUCCEEDED, 1);
SLUICE_VALUE(SLUICE_OUTCOME_FAILED, 2);
SLUICE_VALUE(SLUICE_OUTCOME_CANCELLED, 3);

SLUICE_OFFSET(sluice_timings, size, 0);
SLUICE_OFFSET(sluice_timings, is_connection_reused, 4);
SLUICE_OFFSET(sluice_timings, queue_ns, 8);
SLUICE_OFFSET(sluice_timings, name_lookup_ns, 16);
SLUICE_OFFSET(sluice_timings, connect_ns, 24);
SLUICE_OFFSET(sluice_timings, tls_handshake_ns, 32);
SLUICE_OFFSET(sluice_timings, send_ns, 40);
SLUICE_OFFSET(sluice_timings, wait_ns, 48);
SLUICE_OFFSET(sluice_timings, receive_ns, 56);
SLUICE_OFFSET(sluice_timings, bytes_sent, 64);
SLUICE_OFFSET(sluice_timings, bytes_received, 72);
SLUICE_SIZE(sluice_timings, 80);
SLUICE_VALUE(SLUICE_TIMINGS_SIZE_1, 80u);

SLUICE_OFFSET(sluice_event, size, 0);
SLUICE_OFFSET(sluice_event, kind, 4);
SLUICE_OFFSET(sluice_event, time_ns, 8);
SLUICE_OFFSET(sluice_event, transaction_id, 16);
SLUICE_OFFSET(sluice_event, trace_id, 32);
SLUICE_OFFSET(sluice_event, span_id, 48);
SLUICE_OFFSET(sluice_event, parent_span_id, 56);
SLUICE_OFFSET(sluice_event, attempt, 64);
SLUICE_OFFSET(sluice_event, hop, 68);
SLUICE_OFFSET(sluice_event, status, 72);
SLUICE_OFFSET(sluice_event, outcome, 76);
SLUICE_OFFSET(sluice_event, trace_flags, 80);
SLUICE_OFFSET(sluice_event, reserved, 84);
SLUICE_OFFSET(sluice_event, error_code, 88);
SLUICE_OFFSET(sluice_event, error_message, 104);
SLUICE_OFFSET(sluice_event, error_stage, 120);
SLUICE_OFFSET(sluice_event, duration_ns, 136);
SLUICE_OFFSET(sluice_event, exchange, 144);
SLUICE_OFFSET(sluice_event, timings, 152);
SLUICE_OFFSET(sluice_event, request_id, 160);
SLUICE_OFFSET(sluice_event, method, 176);
SLUICE_OFFSET(sluice_event, url, 192);
SLUICE_OFFSET(sluice_event, span, 208);
SLUICE_OFFSET(sluice_event, connection, 216);
SLUICE_SIZE(sluice_event, 224);
SLUICE_VALUE(SLUICE_EVENT_SIZE_1, 216u);

SLUICE_OFFSET(sluice_tracer, size, 0);
SLUICE_OFFSET(sluice_tracer, interests, 4);
SLUICE_OFFSET(sluice_tracer, on_event, 8);
SLUICE_SIZE(sluice_tracer, 16);
SLUICE_VALUE(SLUICE_TRACER_SIZE_1, 16u);

// state.h
SLUICE_VALUE(SLUICE_STATE_OPTIONAL, 1);

SLUICE_OFFSET(sluice_state, size, 0);
SLUICE_OFFSET(sluice_state, flags, 4);
SLUICE_OFFSET(sluice_state, version, 8);
SLUICE_OFFSET(sluice_state, reserved, 12);
SLUICE_OFFSET(sluice_state, save, 16);
SLUICE_OFFSET(sluice_state, load, 24);
SLUICE_SIZE(sluice_state, 32);
SLUICE_VALUE(SLUICE_STATE_SIZE_1, 32u);

// notifications.h
SLUICE_VALUE(SLUICE_WORK_NEW_DATA, 1);
SLUICE_VALUE(SLUICE_WORK_NO_DATA, 2);
SLUICE_VALUE(SLUICE_WORK_FAILED, 3);

SLUICE_OFFSET(sluice_completion, slot, 0);
SLUICE_OFFSET(sluice_completion, generation, 4);
SLUICE_OFFSET(sluice_completion, nonce, 8);
SLUICE_SIZE(sluice_completion, 16);

SLUICE_OFFSET(sluice_notifications, size, 0);
SLUICE_OFFSET(sluice_notifications, reserved, 4);
SLUICE_OFFSET(sluice_notifications, on_notification, 8);
SLUICE_OFFSET(sluice_notifications, on_schedule, 16);
SLUICE_SIZE(sluice_notifications, 24);
SLUICE_VALUE(SLUICE_NOTIFICATIONS_SIZE_1, 24u);

SLUICE_OFFSET(sluice_completions, size, 0);
SLUICE_OFFSET(sluice_completions, reserved, 4);
SLUICE_OFFSET(sluice_completions, complete, 8);
SLUICE_SIZE(sluice_completions, 16);
SLUICE_VALUE(SLUICE_COMPLETIONS_SIZE_1, 16u);

// selftest.h
SLUICE_OFFSET(sluice_selftest_case, size, 0);
SLUICE_OFFSET(sluice_selftest_case, reserved, 4);
SLUICE_OFFSET(sluice_selftest_case, name, 8);
SLUICE_OFFSET(sluice_selftest_case, description, 16);
SLUICE_OFFSET(sluice_selftest_case, request, 24);
SLUICE_OFFSET(sluice_selftest_case, expected_request, 32);
SLUICE_OFFSET(sluice_selftest_case, response, 40);
SLUICE_OFFSET(sluice_selftest_case, expected_response, 48);
SLUICE_OFFSET(sluice_selftest_case, config, 56);
SLUICE_OFFSET(sluice_selftest_case, wall_clock_ns, 64);
SLUICE_SIZE(sluice_selftest_case, 72);
SLUICE_VALUE(SLUICE_SELFTEST_CASE_SIZE_1, 64u);

SLUICE_OFFSET(sluice_selftest, size, 0);
SLUICE_OFFSET(sluice_selftest, count, 4);
SLUICE_OFFSET(sluice_selftest, cases, 8);
SLUICE_OFFSET(sluice_selftest, run, 16);
SLUICE_SIZE(sluice_selftest, 24);
SLUICE_VALUE(SLUICE_SELFTEST_SIZE_1, 24u);

// timers.h
SLUICE_OFFSET(sluice_timers, size, 0);
SLUICE_OFFSET(sluice_timers, reserved, 4);
SLUICE_OFFSET(sluice_timers, start, 8);
SLUICE_OFFSET(sluice_timers, schedule, 16);
SLUICE_OFFSET(sluice_timers, cancel, 24);
SLUICE_SIZE(sluice_timers, 32);
SLUICE_VALUE(SLUICE_TIMERS_SIZE_1, 32u);

// callout.h
SLUICE_OFFSET(sluice_call_result, size, 0);
SLUICE_OFFSET(sluice_call_result, has_response, 4);
SLUICE_OFFSET(sluice_call_result, response, 8);
SLUICE_OFFSET(sluice_call_result, error_code, 16);
SLUICE_OFFSET(sluice_call_result, error_message, 32);
SLUICE_SIZE(sluice_call_result, 48);
SLUICE_VALUE(SLUICE_CALL_RESULT_SIZE_1, 48u);

SLUICE_OFFSET(sluice_call_options, size, 0);
SLUICE_OFFSET(sluice_call_options, reserved, 4);
SLUICE_OFFSET(sluice_call_options, timeout_ns, 8);
SLUICE_OFFSET(sluice_call_options, maximum_response_bytes, 16);
SLUICE_OFFSET(sluice_call_options, parent, 24);
SLUICE_SIZE(sluice_call_options, 40);
SLUICE_VALUE(SLUICE_CALL_OPTIONS_SIZE_1, 40u);

SLUICE_OFFSET(sluice_callout, size, 0);
SLUICE_OFFSET(sluice_callout, reserved, 4);
SLUICE_OFFSET(sluice_callout, start, 8);
SLUICE_OFFSET(sluice_callout, cancel, 16);
SLUICE_SIZE(sluice_callout, 24);
SLUICE_VALUE(SLUICE_CALLOUT_SIZE_1, 24u);

// metrics.h
SLUICE_VALUE(SLUICE_METRIC_COUNTER, 1);
SLUICE_VALUE(SLUICE_METRIC_GAUGE, 2);
SLUICE_VALUE(SLUICE_METRIC_HISTOGRAM, 3);

SLUICE_OFFSET(sluice_metric_definition, size, 0);
SLUICE_OFFSET(sluice_metric_definition, kind, 4);
SLUICE_OFFSET(sluice_metric_definition, name, 8);
SLUICE_OFFSET(sluice_metric_definition, description, 16);
SLUICE_OFFSET(sluice_metric_definition, unit, 24);
SLUICE_OFFSET(sluice_metric_definition, labels, 32);
SLUICE_OFFSET(sluice_metric_definition, label_count, 40);
SLUICE_OFFSET(sluice_metric_definition, series_limit, 44);
SLUICE_OFFSET(sluice_metric_definition, bounds, 48);
SLUICE_OFFSET(sluice_metric_definition, bound_count, 56);
SLUICE_OFFSET(sluice_metric_definition, reserved, 60);
SLUICE_SIZE(sluice_metric_definition, 64);
SLUICE_VALUE(SLUICE_METRIC_DEFINITION_SIZE_1, 64u);

SLUICE_OFFSET(sluice_metrics, size, 0);
SLUICE_OFFSET(sluice_metrics, reserved, 4);
SLUICE_OFFSET(sluice_metrics, define, 8);
SLUICE_OFFSET(sluice_metrics, record, 16);
SLUICE_SIZE(sluice_metrics, 24);
SLUICE_VALUE(SLUICE_METRICS_SIZE_1, 24u);

// values.h
SLUICE_OFFSET(sluice_values, size, 0);
SLUICE_OFFSET(sluice_values, reserved, 4);
SLUICE_OFFSET(sluice_values, add, 8);
SLUICE_OFFSET(sluice_values, get, 16);
SLUICE_OFFSET(sluice_values, compare_exchange, 24);
SLUICE_SIZE(sluice_values, 32);
SLUICE_VALUE(SLUICE_VALUES_SIZE_1, 32u);

// note.h
SLUICE_VALUE(SLUICE_NOTE_TYPE, 1);
SLUICE_VALUE(SLUICE_NOTE_VERSION_BYTES, 32);

SLUICE_OFFSET(sluice_note, abi_min, 0);
SLUICE_OFFSET(sluice_note, abi_max, 4);
SLUICE_OFFSET(sluice_note, flags, 8);
SLUICE_OFFSET(sluice_note, version, 12);
SLUICE_SIZE(sluice_note, 44);

// plugin.h
SLUICE_OFFSET(sluice_plugin, size, 0);
SLUICE_OFFSET(sluice_plugin, abi, 4);
SLUICE_OFFSET(sluice_plugin, id, 8);
SLUICE_OFFSET(sluice_plugin, version, 16);
SLUICE_OFFSET(sluice_plugin, summary, 24);
SLUICE_OFFSET(sluice_plugin, config_schema, 32);
SLUICE_OFFSET(sluice_plugin, create, 40);
SLUICE_OFFSET(sluice_plugin, activate, 48);
SLUICE_OFFSET(sluice_plugin, deactivate, 56);
SLUICE_OFFSET(sluice_plugin, destroy, 64);
SLUICE_OFFSET(sluice_plugin, extension, 72);
SLUICE_SIZE(sluice_plugin, 80);
SLUICE_VALUE(SLUICE_PLUGIN_SIZE_1, 80u);

// declaration.h
SLUICE_OFFSET(sluice_extension_entry, id, 0);
SLUICE_OFFSET(sluice_extension_entry, table, 8);
SLUICE_SIZE(sluice_extension_entry, 16);

// draft/attribute.h
SLUICE_VALUE(SLUICE_ATTRIBUTE_TEXT, 1);
SLUICE_VALUE(SLUICE_ATTRIBUTE_INTEGER, 2);
SLUICE_VALUE(SLUICE_ATTRIBUTE_NUMBER, 3);
SLUICE_VALUE(SLUICE_ATTRIBUTE_BOOL, 4);
SLUICE_VALUE(SLUICE_ATTRIBUTE_SENSITIVE, 1);
SLUICE_VALUE(SLUICE_ATTRIBUTE_NAME_BYTES, 128u);
SLUICE_VALUE(SLUICE_ATTRIBUTE_TEXT_BYTES, 4096u);
SLUICE_VALUE(SLUICE_ATTRIBUTE_COUNT, 64u);

SLUICE_OFFSET(sluice_attribute, name, 0);
SLUICE_OFFSET(sluice_attribute, kind, 16);
SLUICE_OFFSET(sluice_attribute, flags, 20);
SLUICE_OFFSET(sluice_attribute, integer, 24);
SLUICE_OFFSET(sluice_attribute, number, 32);
SLUICE_OFFSET(sluice_attribute, text, 40);
SLUICE_SIZE(sluice_attribute, 56);

// draft/attributes.h
SLUICE_VALUE(SLUICE_CALL_SET_ATTRIBUTE, 13);
SLUICE_OFFSET(sluice_attributes, size, 0);
SLUICE_OFFSET(sluice_attributes, reserved, 4);
SLUICE_OFFSET(sluice_attributes, set, 8);
SLUICE_OFFSET(sluice_attributes, get, 16);
SLUICE_OFFSET(sluice_attributes, remove, 24);
SLUICE_OFFSET(sluice_attributes, at, 32);
SLUICE_SIZE(sluice_attributes, 40);
SLUICE_VALUE(SLUICE_ATTRIBUTES_SIZE_1, 40u);

// draft/connection.h
SLUICE_VALUE(SLUICE_KNOWN_NOTHING, 0);
SLUICE_VALUE(SLUICE_KNOWN_NO, 1);
SLUICE_VALUE(SLUICE_KNOWN_YES, 2);

SLUICE_OFFSET(sluice_connection_facts, size, 0);
SLUICE_OFFSET(sluice_connection_facts, http_version, 4);
SLUICE_OFFSET(sluice_connection_facts, id, 8);
SLUICE_OFFSET(sluice_connection_facts, is_reused, 16);
SLUICE_OFFSET(sluice_connection_facts, is_secure, 20);
SLUICE_OFFSET(sluice_connection_facts, peer_address, 24);
SLUICE_OFFSET(sluice_connection_facts, local_address, 40);
SLUICE_OFFSET(sluice_connection_facts, peer_port, 56);
SLUICE_OFFSET(sluice_connection_facts, local_port, 60);
SLUICE_OFFSET(sluice_connection_facts, tls_version, 64);
SLUICE_OFFSET(sluice_connection_facts, tls_cipher, 80);
SLUICE_OFFSET(sluice_connection_facts, certificate, 96);
SLUICE_OFFSET(sluice_connection_facts, server_name, 112);
SLUICE_SIZE(sluice_connection_facts, 128);
SLUICE_VALUE(SLUICE_CONNECTION_FACTS_SIZE_1, 112u);

SLUICE_OFFSET(sluice_connection, size, 0);
SLUICE_OFFSET(sluice_connection, reserved, 4);
SLUICE_OFFSET(sluice_connection, get, 8);
SLUICE_SIZE(sluice_connection, 16);
SLUICE_VALUE(SLUICE_CONNECTION_SIZE_1, 16u);

SLUICE_OFFSET(sluice_client, size, 0);
SLUICE_OFFSET(sluice_client, reserved, 4);
SLUICE_OFFSET(sluice_client, get, 8);
SLUICE_SIZE(sluice_client, 16);
SLUICE_VALUE(SLUICE_CLIENT_SIZE_1, 16u);

// draft/log.h
SLUICE_OFFSET(sluice_log_record, size, 0);
SLUICE_OFFSET(sluice_log_record, level, 4);
SLUICE_OFFSET(sluice_log_record, message, 8);
SLUICE_OFFSET(sluice_log_record, attributes, 24);
SLUICE_OFFSET(sluice_log_record, attribute_count, 32);
SLUICE_OFFSET(sluice_log_record, exchange, 40);
SLUICE_SIZE(sluice_log_record, 48);
SLUICE_VALUE(SLUICE_LOG_RECORD_SIZE_1, 48u);

SLUICE_OFFSET(sluice_logger, size, 0);
SLUICE_OFFSET(sluice_logger, reserved, 4);
SLUICE_OFFSET(sluice_logger, is_enabled, 8);
SLUICE_OFFSET(sluice_logger, write, 16);
SLUICE_SIZE(sluice_logger, 24);
SLUICE_VALUE(SLUICE_LOGGER_SIZE_1, 24u);

// draft/origins.h
SLUICE_OFFSET(sluice_origins, size, 0);
SLUICE_OFFSET(sluice_origins, reserved, 4);
SLUICE_OFFSET(sluice_origins, read, 8);
SLUICE_OFFSET(sluice_origins, match, 16);
SLUICE_OFFSET(sluice_origins, release, 24);
SLUICE_SIZE(sluice_origins, 32);
SLUICE_VALUE(SLUICE_ORIGINS_SIZE_1, 32u);

// draft/response_stream.h
SLUICE_VALUE(SLUICE_STREAM_WRITABLE, 1);
SLUICE_VALUE(SLUICE_STREAM_CLOSED, 2);
SLUICE_OFFSET(sluice_response_stream, size, 0);
SLUICE_OFFSET(sluice_response_stream, reserved, 4);
SLUICE_OFFSET(sluice_response_stream, open, 8);
SLUICE_OFFSET(sluice_response_stream, write, 16);
SLUICE_OFFSET(sluice_response_stream, end, 24);
SLUICE_OFFSET(sluice_response_stream, fail, 32);
SLUICE_SIZE(sluice_response_stream, 40);
SLUICE_VALUE(SLUICE_RESPONSE_STREAM_SIZE_1, 40u);

// draft/shared.h
SLUICE_VALUE(SLUICE_SHARED_NAME_BYTES, 256u);
SLUICE_VALUE(SLUICE_SHARED_VALUE_BYTES, 1048576u);
SLUICE_VALUE(SLUICE_SHARED_COUNT, 4096u);
SLUICE_VALUE(SLUICE_SHARED_TOTAL_BYTES, 16777216u);

SLUICE_OFFSET(sluice_shared, size, 0);
SLUICE_OFFSET(sluice_shared, reserved, 4);
SLUICE_OFFSET(sluice_shared, get, 8);
SLUICE_OFFSET(sluice_shared, put, 16);
SLUICE_OFFSET(sluice_shared, compare_exchange, 24);
SLUICE_OFFSET(sluice_shared, remove, 32);
SLUICE_SIZE(sluice_shared, 40);
SLUICE_VALUE(SLUICE_SHARED_SIZE_1, 40u);

// draft/stage.h
SLUICE_OFFSET(sluice_stage, size, 0);
SLUICE_OFFSET(sluice_stage, reserved, 4);
SLUICE_OFFSET(sluice_stage, config_schema, 8);
SLUICE_OFFSET(sluice_stage, create_stage, 16);
SLUICE_OFFSET(sluice_stage, destroy_stage, 24);
SLUICE_SIZE(sluice_stage, 32);
SLUICE_VALUE(SLUICE_STAGE_SIZE_1, 32u);

SLUICE_OFFSET(sluice_places, size, 0);
SLUICE_OFFSET(sluice_places, reserved, 4);
SLUICE_OFFSET(sluice_places, current, 8);
SLUICE_SIZE(sluice_places, 16);
SLUICE_VALUE(SLUICE_PLACES_SIZE_1, 16u);
// draft/spans.h
SLUICE_VALUE(SLUICE_SPAN_INTERNAL, 1);
SLUICE_VALUE(SLUICE_SPAN_CLIENT, 3);
SLUICE_VALUE(SLUICE_SPAN_UNSET, 0);
SLUICE_VALUE(SLUICE_SPAN_OK, 1);
SLUICE_VALUE(SLUICE_SPAN_ERROR, 2);

SLUICE_OFFSET(sluice_open_span, slot, 0);
SLUICE_OFFSET(sluice_open_span, generation, 4);
SLUICE_SIZE(sluice_open_span, 8);

SLUICE_OFFSET(sluice_span, size, 0);
SLUICE_OFFSET(sluice_span, kind, 4);
SLUICE_OFFSET(sluice_span, name, 8);
SLUICE_OFFSET(sluice_span, trace_id, 24);
SLUICE_OFFSET(sluice_span, span_id, 40);
SLUICE_OFFSET(sluice_span, parent_span_id, 48);
SLUICE_OFFSET(sluice_span, start_ns, 56);
SLUICE_OFFSET(sluice_span, end_ns, 64);
SLUICE_OFFSET(sluice_span, status, 72);
SLUICE_OFFSET(sluice_span, is_unfinished, 76);
SLUICE_OFFSET(sluice_span, status_message, 80);
SLUICE_OFFSET(sluice_span, stage, 96);
SLUICE_OFFSET(sluice_span, attributes, 112);
SLUICE_OFFSET(sluice_span, attribute_count, 120);
SLUICE_OFFSET(sluice_span, dropped_attribute_count, 124);
SLUICE_SIZE(sluice_span, 128);
SLUICE_VALUE(SLUICE_SPAN_SIZE_1, 128u);

SLUICE_OFFSET(sluice_spans, size, 0);
SLUICE_OFFSET(sluice_spans, reserved, 4);
SLUICE_OFFSET(sluice_spans, begin, 8);
SLUICE_OFFSET(sluice_spans, set_attribute, 16);
SLUICE_OFFSET(sluice_spans, set_status, 24);
SLUICE_OFFSET(sluice_spans, end, 32);
SLUICE_SIZE(sluice_spans, 40);
SLUICE_VALUE(SLUICE_SPANS_SIZE_1, 40u);

// draft/reports.h
SLUICE_OFFSET(sluice_reports, size, 0);
SLUICE_OFFSET(sluice_reports, reserved, 4);
SLUICE_OFFSET(sluice_reports, metrics, 8);
SLUICE_SIZE(sluice_reports, 16);
SLUICE_VALUE(SLUICE_REPORTS_SIZE_1, 16u);

// draft/threads.h
SLUICE_OFFSET(sluice_threads, size, 0);
SLUICE_OFFSET(sluice_threads, reserved, 4);
SLUICE_OFFSET(sluice_threads, begin, 8);
SLUICE_OFFSET(sluice_threads, pause, 16);
SLUICE_OFFSET(sluice_threads, resume, 24);
SLUICE_SIZE(sluice_threads, 32);
SLUICE_VALUE(SLUICE_THREADS_SIZE_1, 32u);

// draft/want_body.h
SLUICE_OFFSET(sluice_want_body, size, 0);
SLUICE_OFFSET(sluice_want_body, reserved, 4);
SLUICE_OFFSET(sluice_want_body, want_body, 8);
SLUICE_SIZE(sluice_want_body, 16);
SLUICE_VALUE(SLUICE_WANT_BODY_SIZE_1, 16u);

// draft/work.h
SLUICE_OFFSET(sluice_work, size, 0);
SLUICE_OFFSET(sluice_work, reserved, 4);
SLUICE_OFFSET(sluice_work, run, 8);
SLUICE_SIZE(sluice_work, 16);
SLUICE_VALUE(SLUICE_WORK_SIZE_1, 16u);
