package import SluiceHTTP1

/// What a server allows its clients. Each time that it waits for a client has a limit.
package struct ServerLimits: Sendable, Hashable {
  /// The limits of the heads of requests, and of trailers.
  package var messages: MessageLimits = {
    var limits = MessageLimits()
    limits.headBytes = 64 << 10
    limits.targetBytes = 16 << 10
    limits.fields = 200
    return limits
  }()
  /// The number of connections on one loop. Those beyond it wait in the kernel until one ends.
  package var connections = 10_000
  /// The requests of one connection of HTTP/2 at a time.
  package var streams = 100
  /// The number of requests on one connection, after which it is closed.
  package var requestsPerConnection = 100_000
  /// From the first byte of a head to its end.
  package var headTimeout = Duration.seconds(10)
  /// The time between two requests.
  package var idle = Duration.seconds(75)
  /// The time between two pieces of a body, and the time in which the client takes no byte of a response.
  package var bodyIdle = Duration.seconds(60)
  /// How long a server that closes a connection waits until the client has closed its side.
  package var linger = Duration.seconds(2)
  /// Bytes of a response that wait until the client takes them. A handler that produces more is paused.
  package var bufferBytes = 1 << 20

  package init() {}
}
