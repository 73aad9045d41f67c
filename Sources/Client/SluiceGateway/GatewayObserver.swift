package import SluiceMessages
package import SluicePipeline

/// What a program does with the transactions of a gateway besides serving them, such as recording them. The functions are
/// called on loops, and must not block.
package protocol GatewayObserver: Sendable {
  /// Whether the results of further transactions can be taken. While it is false, requests are answered with 503.
  var hasRoom: Bool { get }

  /// The given request, with the settings that the observer needs.
  func asked(_ request: Request) -> Request

  /// Takes the result of a request.
  func note(_ result: TransactionResult)
}
