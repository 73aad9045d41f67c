import CSluice

/// The engine, as an instance sees it. Can be used from any thread; after the instance has ended, it does nothing.
public struct PluginHost: Sendable {
  let link: HostLink

  /// The name of the instance in the configuration.
  public let instanceName: String
  /// Name and version of the program, for messages.
  public let programName: String
  /// The version of the program, for messages; not the ABI revision.
  public let programVersion: String
  /// Whether the plugin runs in a trial, in a child process: it must then change nothing outside of that process.
  public let isTrial: Bool
  /// Whether requests come from several clients, as in a gateway: what the plugin keeps of the responses to one client
  /// must not go to another, unless HTTP allows it.
  public let isShared: Bool
  /// Whether the host can make another attempt. Otherwise ``RetryRequestError`` fails the request; a plugin that
  /// depends on retries must require `SLUICE_FEATURE_RETRY`.
  public let canRetry: Bool

  init(_ host: UnsafePointer<sluice_host>) {
    link = HostLink(host)
    instanceName = String(host.pointee.instance_name)
    programName = String(host.pointee.name)
    programVersion = String(host.pointee.version)
    isTrial = host.pointee.flags & UInt32(SLUICE_HOST_TRIAL) != 0
    isShared = host.pointee.flags & UInt32(SLUICE_HOST_SHARED) != 0
    canRetry = host.pointee.features & UInt32(SLUICE_FEATURE_RETRY) != 0
  }

  /// The time on the wall clock, since 1970-01-01T00:00:00Z: for dates in messages. In a self-test case it is the time of
  /// the case, if the case has one; in a replay it is the time of the recording.
  public var wallClock: Duration {
    .nanoseconds(Int64(clamping: link.withHost { sluice_wall_clock_ns($0) } ?? sluice_wall_clock_ns(nil)))
  }
}
