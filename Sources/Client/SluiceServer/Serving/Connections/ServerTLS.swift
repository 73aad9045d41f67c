import SluiceSupport
package import SluiceTransport

/// The settings of TLS of a server, which can be replaced while it runs. Connections that are open keep theirs.
package final class ServerTLS: Sendable {
  private let current: Locked<TLSServerContext>

  package init(_ context: TLSServerContext) { current = Locked(context) }

  /// What new connections use. Can be set on any thread.
  package var context: TLSServerContext {
    get { current.withLock { $0 } }
    set { current.withLock { $0 = newValue } }
  }
}
