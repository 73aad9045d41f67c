import Sluice
import SluiceAssembly
import SluiceGateway
import SluiceMessages
import SluicePipeline
import SluiceServer

/// The port of `sluice dev --listen` in the process of the engine: a gateway to the service of `serve.to`, or to
/// `transport.baseURL`.
final class DevListener: Sendable {
  private let gateway: Gateway

  /// - Parameter place: `HOST:PORT` of the supervisor's socket.
  init(
    _ place: String, _ engine: Engine, _ reporter: EngineReporter, _ recordings: EngineRecordings
  ) throws(CommandError) {
    let notices = ClientNotices(owning: ClientNotices.inheritedDescriptor)
    guard let named = ServeSettings.Listener(place), let socket = notices.takeListener() else {
      throw CommandError(
        .failed, "--listen: the supervisor has passed no socket for \"\(place)\"")
    }
    let settings = engine.configuration.serve
    let listener = settings.listeners.first { $0.place == named.place } ?? named
    do {
      gateway = try Gateway(
        engine, on: listener, settings, socket: socket,
        observer: DevObserver(reporter, recordings, notices))
    } catch { throw CommandError(.usage, "--listen: \(error)") }
  }

  /// Adds what the gateway needs to a configuration. A later change of it starts the engine again.
  static func complete(_ configuration: inout Configuration) throws(CommandError) {
    defer { configuration.serveClients(of: configuration.serve.upstream) }
    guard configuration.serve.upstream == nil else { return }
    guard let base = configuration.baseURL, let upstream = try? HTTPURL("\(base.origin)/") else {
      throw CommandError(
        .usage, "--listen needs \"transport.baseURL\" or \"serve.to\" in the configuration: that is where requests go")
    }
    configuration.serve.upstream = upstream
    // The service is not one that knows of a gateway before it.
    configuration.serve.host = .upstream
    configuration.serve.forwarded = .none
  }

  /// Clients that connect after this call wait for the next process.
  func drain(within limit: Duration) { gateway.drain(within: limit) }
}

/// Tells the supervisor about the clients, and keeps recordings of their requests.
private struct DevObserver: GatewayObserver {
  private let reporter: EngineReporter
  private let recordings: EngineRecordings
  private let notices: ClientNotices
  private let clients = WaitingClients()

  init(_ reporter: EngineReporter, _ recordings: EngineRecordings, _ notices: ClientNotices) {
    (self.reporter, self.recordings, self.notices) = (reporter, recordings, notices)
  }

  let hasRoom = true

  func received(_ stream: ServerStream) -> Bool {
    // The supervisor cannot answer on a connection that carries other requests.
    guard let descriptor = stream.descriptor else { return true }
    guard !clients.isAbandoned(descriptor) else {
      reporter.reportUnsent(stream.head.method, stream.head.target)
      stream.fail()
      return false
    }
    let id = notices.began(descriptor, isHead: stream.head.method == "HEAD")
    stream.onAnswer = { [notices] in notices.answered(id) }
    return true
  }

  func asked(_ request: Request) -> Request {
    var request = request
    request.wantsRecording = true
    return request
  }

  func note(_ result: TransactionResult) {
    recordings.note(result.recording, isOfSet: false)
    reporter.report(result, of: nil)
  }
}
