/// A function of a plugin, for records of running calls. Crash records contain the function's number.
package enum PluginCallback: UInt8, Sendable, Hashable, CaseIterable {
  // These cases have the same numbers as in CallPhase.
  case onRequest
  case onIssue
  case onResponse
  case onFailure
  case onRedirect
  case onChallenge
  case requestPiece
  case responsePiece
  case onEvent
  case onInformational
  // Calls outside of exchanges.
  case posted
  case onCancel
  case dataRelease
  case onNotification
  case onSchedule
  case constructor
  case entry
  case lookUp
  case create
  case load
  case activate
  case save
  case deactivate
  case destroy
  case selfTest
  case work
  case createStage
  case destroyStage

  /// Whether the function is called only when a plugin is loaded or an instance begins or ends, so that a few system
  /// calls do not matter.
  var isRare: Bool {
    switch self {
    case .constructor, .entry, .create, .load, .activate, .deactivate, .destroy, .createStage, .destroyStage: true
    default: false
    }
  }

  /// The name in the headers of the ABI.
  package var name: String {
    switch self {
    case .onRequest: "on_request"
    case .onIssue: "on_issue"
    case .onResponse: "on_response"
    case .onFailure: "on_failure"
    case .onRedirect: "on_redirect"
    case .onChallenge: "on_challenge"
    case .requestPiece: "on_chunk, on_trailer, on_end (request)"
    case .responsePiece: "on_chunk, on_trailer, on_end (response)"
    case .onEvent: "on_event"
    case .onInformational: "on_informational"
    case .posted: "a function that it posted"
    case .onCancel: "on_cancel"
    case .dataRelease: "the release of its data"
    case .onNotification: "on_notification"
    case .onSchedule: "on_schedule"
    case .constructor: "a constructor, which ran while the library was loaded"
    case .entry: "sluice_plugin_entry"
    case .lookUp: "extension"
    case .create: "create"
    case .load: "load"
    case .activate: "activate"
    case .save: "save"
    case .deactivate: "deactivate"
    case .destroy: "destroy"
    case .selfTest: "run of sluice.selftest/1"
    case .createStage: "create_stage"
    case .destroyStage: "destroy_stage"
    case .work: "a function that it runs with sluice.work/1"
    }
  }
}
