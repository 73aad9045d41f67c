import CSluice

/// The host's further tables; nil if the host lacks a table, or if the table is shorter than in revision 1.
extension UnsafePointer<sluice_host> {
  var attributes: UnsafePointer<sluice_attributes>? { table(SLUICE_ATTRIBUTES_ID, least: SLUICE_ATTRIBUTES_SIZE_1) }
  var callOuts: UnsafePointer<sluice_callout>? { table(SLUICE_CALLOUT_ID, least: SLUICE_CALLOUT_SIZE_1) }
  var clients: UnsafePointer<sluice_client>? { table(SLUICE_CLIENT_ID, least: SLUICE_CLIENT_SIZE_1) }
  var completions: UnsafePointer<sluice_completions>? { table(SLUICE_COMPLETIONS_ID, least: SLUICE_COMPLETIONS_SIZE_1) }
  var connections: UnsafePointer<sluice_connection>? { table(SLUICE_CONNECTION_ID, least: SLUICE_CONNECTION_SIZE_1) }
  var logger: UnsafePointer<sluice_logger>? { table(SLUICE_LOG_ID, least: SLUICE_LOGGER_SIZE_1) }
  var metrics: UnsafePointer<sluice_metrics>? { table(SLUICE_METRICS_ID, least: SLUICE_METRICS_SIZE_1) }
  var origins: UnsafePointer<sluice_origins>? { table(SLUICE_ORIGINS_ID, least: SLUICE_ORIGINS_SIZE_1) }
  var places: UnsafePointer<sluice_places>? { table(SLUICE_PLACES_ID, least: SLUICE_PLACES_SIZE_1) }
  var reports: UnsafePointer<sluice_reports>? { table(SLUICE_REPORTS_ID, least: SLUICE_REPORTS_SIZE_1) }
  var responseStreams: UnsafePointer<sluice_response_stream>? {
    table(SLUICE_RESPONSE_STREAM_ID, least: SLUICE_RESPONSE_STREAM_SIZE_1)
  }
  var shared: UnsafePointer<sluice_shared>? { table(SLUICE_SHARED_ID, least: SLUICE_SHARED_SIZE_1) }
  var spans: UnsafePointer<sluice_spans>? { table(SLUICE_SPANS_ID, least: SLUICE_SPANS_SIZE_1) }
  var threads: UnsafePointer<sluice_threads>? { table(SLUICE_THREADS_ID, least: SLUICE_THREADS_SIZE_1) }
  var timers: UnsafePointer<sluice_timers>? { table(SLUICE_TIMERS_ID, least: SLUICE_TIMERS_SIZE_1) }
  var wantBody: UnsafePointer<sluice_want_body>? { table(SLUICE_WANT_BODY_ID, least: SLUICE_WANT_BODY_SIZE_1) }
  var work: UnsafePointer<sluice_work>? { table(SLUICE_WORK_ID, least: SLUICE_WORK_SIZE_1) }
  var values: UnsafePointer<sluice_values>? { table(SLUICE_VALUES_ID, least: SLUICE_VALUES_SIZE_1) }

  private func table<Table>(_ id: String, least: UInt32) -> UnsafePointer<Table>? {
    guard let found = pointee.extension(self, id), found.load(as: UInt32.self) >= least else { return nil }
    return found.assumingMemoryBound(to: Table.self)
  }
}
