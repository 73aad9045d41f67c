public import SluiceAssembly
public import SluiceLoop
package import SluiceMessages
package import SluicePipeline
import SluiceTransport
public import SluiceTrial

/// Wraps the transport of a loop. Called on any thread, before the loop's first transaction.
package typealias TransportWrapper = @Sendable (Loop, any Transport) -> any Transport

extension Engine {
  /// Loads the plugins, starts the loops and activates the instances. If a step fails, the earlier steps are undone.
  ///
  /// - Parameters:
  ///   - loop: a loop that a thread of the program runs, in place of threads of the engine; `transport.loops` is then
  ///     1. The loop ends with the engine, or when this initializer throws.
  ///   - delegate: decides about redirects and challenges if neither a stage nor the transaction's own delegate does.
  ///   - trial: tries out libraries before they are loaded; nil loads every library that passes the preflight.
  ///   - minimumLogLevel: log lines of plugins below this level are dropped; plugins can query the level.
  ///   - log: gets the log lines of the engine and its plugins; called from any thread.
  public convenience init(
    _ configuration: Configuration, on loop: HostedLoop? = nil, delegate: (any TransactionDelegate)? = nil,
    trial: (any LibraryTrial)? = nil, minimumLogLevel: LogLine.Level = .debug,
    log: @escaping @Sendable (LogLine) -> Void = { _ in }
  ) throws(EngineError) {
    try self.init(
      configuration, sources: [:], on: loop, delegate: delegate, trial: trial, minimumLogLevel: minimumLogLevel,
      log: log)
  }

  /// Why no request to the URL can be sent with the settings of the configuration; nil if the settings do not exclude it.
  /// Looks up no name, and connects to nothing.
  package static func obstacle(to url: HTTPURL, _ configuration: Configuration) -> TransportError? {
    HTTPTransport.obstacle(to: url.origin, configuration.transport)
  }

  /// Reads the files of `transport.tls`, as the first https connection of an engine would.
  ///
  /// - Throws: an error if a file or a list of ciphers cannot be used, or if certificate and key do not belong together.
  package static func checkTLS(_ configuration: Configuration) throws(TransportError) {
    try HTTPTransport.checkTLS(configuration.transport)
  }
}
