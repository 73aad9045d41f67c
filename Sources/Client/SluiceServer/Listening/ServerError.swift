public import SluiceMessages
import Glibc

/// Why a server could not start.
public struct ServerError: DescribedError, Sendable, Equatable {
  /// The kind of failure, for programs. Later versions can add kinds.
  public struct Code: Sendable, Equatable, RawRepresentable {
    /// The code in words joined by dashes.
    public let rawValue: String
    /// Makes a code from any text. A server uses only the codes below.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Another socket already listens on the address.
    public static let addressInUse = Code(rawValue: "address-in-use")
    /// The host is not an address of this machine, or not an address at all.
    public static let addressUnknown = Code(rawValue: "address-unknown")
    /// The port is reserved for privileged users, or this user may not use the folder of the socket.
    public static let permissionDenied = Code(rawValue: "permission-denied")
    /// The path cannot be used for a Unix socket. It is too long, it is already a symbolic link or a file of another
    /// kind, or its folder is open to other users.
    public static let pathUnfit = Code(rawValue: "path-unfit")
    /// Any other refusal of the operating system, named by `underlying`.
    public static let listenFailed = Code(rawValue: "listen-failed")
    /// A certificate, its key, or the file with the authorities of clients cannot be used.
    public static let certificateUnfit = Code(rawValue: "certificate-unfit")
    /// libmicrohttpd could not start its threads, usually because descriptors or memory ran out.
    public static let startFailed = Code(rawValue: "start-failed")
  }

  /// The kind of failure.
  public let code: Code
  /// The address at which the server was to listen.
  public let subject: String
  /// The reason, from the operating system or from this module.
  public let underlying: String
  /// What to do about it, if that is not obvious.
  public let advice: String?

  package init(_ code: Code, _ endpoint: ServerEndpoint, underlying: String, advice: String? = nil) {
    self.code = code
    self.subject = endpoint.description
    self.underlying = underlying
    self.advice = advice ?? Self.advice(code, endpoint)
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

  /// The error as text: `cannot listen on ADDRESS: reason`, then a semicolon and the advice.
  public var description: String { message + (advice.map { "; \($0)" } ?? "") }

  /// The description without the advice.
  public var message: String { "cannot listen on \(subject): \(underlying)" }

  private static func advice(_ code: Code, _ endpoint: ServerEndpoint) -> String? {
    switch (code, endpoint.form) {
    case (.addressInUse, .tcp): "stop the program that listens there, or choose another port (0 takes any free one)"
    case (.addressInUse, .unix): "stop the program that listens there, or name another path"
    case (.addressUnknown, _): "use an address of this machine, such as 127.0.0.1 or ::1"
    case (.permissionDenied, .tcp): "choose a port above 1023"
    case (.permissionDenied, .unix): "name a path in a folder of your own"
    case (.startFailed, _): "raise the descriptor limit (ulimit -n)"
    default: nil
    }
  }
}
