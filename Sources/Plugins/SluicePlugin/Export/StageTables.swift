package import CSluice

/// The tables through which a host calls a stage; nil for tables that the stage does not need.
package struct StageTables: @unchecked Sendable {
  // Sendable: the tables hold functions and numbers.
  package let interceptor: sluice_interceptor?
  package let body: sluice_body?
  package let tracer: sluice_tracer?
  package let notifications: sluice_notifications?
  package let state: sluice_state?

  /// - Parameter type: the type of the stage; provides the static members of the protocols.
  init(_ kinds: StageKinds, _ options: PluginOptions, of type: Any.Type) {
    interceptor = makeInterceptorTable(kinds, options)
    body = makeBodyTable(type)
    tracer = makeTracerTable(kinds, of: type)
    notifications = makeNotificationTable(kinds)
    state = makeStateTable(type)
  }
}
