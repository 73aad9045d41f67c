import CEnvoy
import SluiceForeign
import SluiceLoop

/// What Envoy's hooks call for one filter of a stream. By default, everything passes.
///
/// Unchecked because only the worker of the stream calls it.
class EnvoyFilter: @unchecked Sendable {
  let lane: Lane

  init(_ lane: Lane) { self.lane = lane }

  func headers(isRequest: Bool, isLast: Bool) -> sluice_envoy_headers_status { SLUICE_ENVOY_HEADERS_CONTINUE }
  func body(isRequest: Bool, isLast: Bool) -> sluice_envoy_body_status { SLUICE_ENVOY_BODY_CONTINUE }
  func trailers(isRequest: Bool) -> sluice_envoy_headers_status { SLUICE_ENVOY_HEADERS_CONTINUE }
  func scheduled() {}
  /// The stream has ended.
  func complete() {}
  func end() {}

  /// Envoy can destroy a filter inside of a call from the lane.
  final func inLane<Result>(_ body: () -> Result) -> Result {
    if lane.loop.isCurrent { return body() }
    lane.loop.enter()
    defer { lane.loop.leave() }
    return body()
  }
}
