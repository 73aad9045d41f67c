package import SluiceMessages
package import SluicePipeline
package import SluiceServer

/// What a program does with the transactions of a gateway besides serving them, such as recording them. The functions are
/// called on loops, and must not block.
package protocol GatewayObserver: Sendable {
  /// Whether the results of further transactions can be taken. While it is false, requests are answered with 503.
  var hasRoom: Bool { get }

  /// A request has arrived. Nothing was done with it. Returns false if the observer has ended the stream.
  func received(_ stream: ServerStream) -> Bool

  /// The given request, with the settings that the observer needs.
  func asked(_ request: Request) -> Request

  /// Takes the result of a request.
  func note(_ result: TransactionResult)
}

extension GatewayObserver {
  package func received(_ stream: ServerStream) -> Bool { true }
}
