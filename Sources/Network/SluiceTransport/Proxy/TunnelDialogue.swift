import SluiceHTTP1
import SluiceMessages

/// What is said to a proxy until it connects this side with a server, as values: the bytes that arrive go in, and the
/// next step comes out.
protocol TunnelDialogue {
  /// The first bytes to send.
  var opening: [UInt8] { get }

  /// Reads bytes that the proxy has sent.
  ///
  /// - Returns: how many of the bytes belong to the dialogue, and what follows. If ``TunnelStep/more`` follows, all do.
  mutating func receive(_ bytes: Span<UInt8>) -> (count: Int, next: TunnelStep)

  /// The proxy has closed the connection, or time is up. Returns the refusal that is already known.
  func refusalAtEnd() -> TunnelRefusal?
}

enum TunnelStep {
  /// More bytes must arrive.
  case more
  case send([UInt8])
  /// All further bytes are those of the server.
  case open
  case refused(TunnelRefusal)
}

/// Why a proxy does not connect to the server.
struct TunnelRefusal {
  let reason: String
  /// The challenges of a 407 response.
  var challenges: [Challenge] = []
  /// Whether the proxy could not connect to this address, so that it may succeed with another one.
  var isOfTarget = false
}

/// The server to which a tunnel leads.
struct TunnelTarget {
  /// A name, or a numeric address without brackets.
  let host: String
  let port: UInt16
  /// The 4 or 16 bytes of the address; nil for a name.
  let address: [UInt8]?
}
