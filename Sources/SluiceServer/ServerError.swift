import Glibc

/// Why a server could not start.
public struct ServerError: Error, Sendable, Equatable, CustomStringConvertible {
  public struct Code: Sendable, Equatable, RawRepresentable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Another socket listens there already.
    public static let addressInUse = Code(rawValue: "address-in-use")
    /// The host is no address of this machine, or no address at all.
    public static let addressUnknown = Code(rawValue: "address-unknown")
    /// The port is reserved for privileged users.
    public static let permissionDenied = Code(rawValue: "permission-denied")
    /// Any other refusal of the operating system, named by `underlying`.
    public static let listenFailed = Code(rawValue: "listen-failed")
    /// libmicrohttpd could not start its threads, mostly for want of descriptors or memory.
    public static let startFailed = Code(rawValue: "start-failed")
  }

  public let code: Code
  /// The address asked for.
  public let subject: String
  /// The operating system's words.
  public let underlying: String

  init(_ code: Code, _ endpoint: ServerEndpoint, underlying: String) {
    self.code = code
    self.subject = endpoint.description
    self.underlying = underlying
  }

  init(errorNumber: Int32, _ endpoint: ServerEndpoint) {
    let code: Code =
      switch errorNumber {
      case EADDRINUSE: .addressInUse
      case EADDRNOTAVAIL: .addressUnknown
      case EACCES, EPERM: .permissionDenied
      default: .listenFailed
      }
    self.init(code, endpoint, underlying: String(cString: strerror(errorNumber)))
  }

  public var description: String {
    "cannot listen on \(subject): \(underlying)" + (advice.map { "; \($0)" } ?? "")
  }

  private var advice: String? {
    switch code {
    case .addressInUse: "stop what listens there, or choose another port (0 takes any free one)"
    case .addressUnknown: "give an address of this machine, such as 127.0.0.1 or ::1"
    case .permissionDenied: "choose a port above 1023"
    case .startFailed: "raise the descriptor limit (ulimit -n)"
    default: nil
    }
  }
}
