import Glibc
import Sluice
import SluiceAssembly
import SluiceGateway
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceServer
import SluiceSupport

/// `sluice serve`.
enum ServeCommand {
  static let description = CommandDescription(
    "serve", summary: "Serve clients with the pipeline, in front of a service",
    operandAdvice: "name the service with --to, and the configuration with -c",
    details: """
      Each request of a client runs through the pipeline and goes to the service at --to; the client gets its response. Bodies
      stream in both directions. Runs until SIGINT or SIGTERM, then finishes the requests in flight; a second signal ends it
      at once. With -c, SIGHUP reads the configuration and the certificates again: requests in flight continue, new ones run
      through the new pipeline. The ports and the service stay those of the start.

        sluice serve --listen 8080 --to http://127.0.0.1:9000 --plugin ./libtenant.so
      """,
    options: [
      Option(
        "config", "c", "FILE", "The configuration of the pipeline, with the ports and the service under \"serve\""),
      Option(
        "listen", "l", "[HOST:]PORT",
        "Listen here (default host 127.0.0.1; port 0 takes any free port), or at a socket of systemd (systemd[:NAME]); may be repeated"
      ),
      Option("to", nil, "URL", "The service: a URL, whose path is put before each path, or unix:PATH"),
      Option("drain", nil, "DURATION", "When interrupted, time for requests in flight to finish (default 30s)"),
    ] + SideOutputs.options + [
      Option("access-log", nil, "FILE", "Append a line of JSON for each request here; - is standard error"),
      PluginArguments.option,
    ] + EngineServices.options + LogOutput.options + [
      Option("no-progress", nil, nil, "Show no line with the traffic on a terminal"),
      Option("quiet", "q", nil, "Show neither the line with the traffic nor the ports"),
    ], run: { arguments throws(CommandError) in try run(arguments) })

  private static func run(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    LogOutput.adopt(try LogOutput.Settings(arguments))
    var sockets = ServiceManager.takeSockets()
    let plan = try ServePlan(arguments)
    let signals = try ProcessSignals(takesHangUp: plan.engine.file != nil, drain: plan.settings.drain)
    try TaskPool.start()
    try plan.places.check()
    let sides = try SideOutputs(arguments, besides: nil)
    let hasFailed = Locked(false)
    sides.listen(
      ByteOutput.Listener(
        onRoom: {},
        onFailure: { _ in
          let isFirst = hasFailed.withLock { hasFailed in
            defer { hasFailed = true }
            return !hasFailed
          }
          // A second signal would end the command without a drain.
          if isFirst, signals.received == nil { kill(getpid(), SIGTERM) }
        }))
    var configuration = plan.configuration
    sides.append(to: &configuration)
    let engine = try EngineStart.engine(configuration, updates: .followed, wrap: sides.wrapper)
    var settings = plan.settings
    raiseDescriptorLimit(&settings, loops: engine.loops.count)
    let gateways = try gateways(engine, settings, sides, &sockets)
    if let unused = sockets.unused { StandardError.say(unused) }
    let reload = EngineReload(of: plan.engine.file, engine, complete: plan.complete, add: sides.append)
    signals.onHangUp {
      reloadCertificates(gateways)
      reload.reload()
    }
    let isQuiet = arguments.has("quiet")
    let services = try EngineServices(engine, plan.places, reload, isQuiet: isQuiet)
    for plugin in plan.credentialsForStrangers {
      StandardError.say(
        "the plugin \"\(plugin)\" adds credentials to the requests of everybody who reaches this gateway; if that is not"
          + " meant, give \"clients\" address ranges or \"certificate\"")
    }
    if !isQuiet { sayPorts(gateways, plan.settings) }
    ServiceManager.notify("READY=1")
    let line = try LiveLine(arguments) { ServeProgress(engine, $0) }
    var signalled = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    while signals.received == nil { poll(&signalled, 1, -1) }
    ServiceManager.notify("STOPPING=1")
    engine.endIsNear()
    let deadline = MonotonicClock.now + plan.settings.drain
    let isInTime = Gateway.drain(gateways, within: plan.settings.drain)
    WaitingThread.run { await engine.shutdown(drain: max(.zero, deadline - MonotonicClock.now)) }
    services.stop()
    line?.finish()
    if let failure = sides.finish() { throw failure }
    guard isInTime else {
      throw CommandError(
        .failed,
        "not all requests were answered within the drain time of "
          + "\(Figures.time(nanoseconds: plan.settings.drain.nanoseconds)); raise it with --drain")
    }
    return .succeeded
  }

  /// The descriptors for files, loops and plugins.
  private static let otherDescriptors = 256

  /// Each client needs a descriptor, and its request another one. Where there are not enough for the usual number of
  /// clients, fewer are served at a time, and the others wait.
  private static func raiseDescriptorLimit(_ settings: inout ServeSettings, loops: Int) {
    let clients = settings.listeners.count * (settings.limits.connections ?? loops * ServerLimits().connections)
    let needed = 2 * clients + otherDescriptors
    let limit = DescriptorLimit.raise(to: needed)
    guard limit.soft < needed else { return }
    guard settings.limits.connections != nil else {
      settings.limits.connections = max(loops, (limit.soft - otherDescriptors) / 2 / settings.listeners.count)
      return
    }
    StandardError.say(
      "\"limits.connections\" can need \(needed) descriptors, but only \(limit.soft) are allowed; raise the hard limit"
        + " (ulimit -Hn), or lower \"limits.connections\"", .warning)
  }

  private static func gateways(
    _ engine: Engine, _ settings: ServeSettings, _ sides: SideOutputs, _ sockets: inout InheritedSockets
  ) throws(CommandError) -> [Gateway] {
    var gateways: [Gateway] = []
    do throws(CommandError) {
      for listener in settings.listeners {
        gateways.append(try gateway(engine, on: listener, settings, sides, &sockets))
      }
    } catch {
      WaitingThread.run { await engine.shutdown(drain: .zero) }
      throw error
    }
    return gateways
  }

  private static func gateway(
    _ engine: Engine, on listener: ServeSettings.Listener, _ settings: ServeSettings, _ sides: SideOutputs,
    _ sockets: inout InheritedSockets
  ) throws(CommandError) -> Gateway {
    let socket: SharedListener? =
      if case .inherited(let name) = listener.place { try sockets.take(name) } else { nil }
    do {
      return try Gateway(engine, on: listener, settings, socket: socket, observer: sides.isEmpty ? nil : sides)
    } catch {
      throw CommandError(
        .usage,
        error.code == .certificateUnfit ? "serve: TLS on \(error.subject): \(error.underlying)" : "--listen: \(error)")
    }
  }

  /// Returns at once, because reading files may be slow, and the thread that waits for signals must not block.
  private static func reloadCertificates(_ gateways: [Gateway]) {
    Task.detached {
      for gateway in gateways {
        guard gateway.isSecure else { continue }
        do throws(ServerError) {
          try gateway.reloadCertificates()
          StandardError.say("\(gateway.endpoint): its certificates were read again", .info)
        } catch {
          StandardError.say("\(gateway.endpoint): \(error.underlying); its certificates stay as they are")
        }
      }
    }
  }

  private static func sayPorts(_ gateways: [Gateway], _ settings: ServeSettings) {
    let upstream = settings.unixSocket.map { "unix:\($0)" } ?? settings.upstream?.string ?? ""
    for gateway in gateways {
      StandardError.say("http\(gateway.isSecure ? "s" : "")://\(gateway.endpoint) serves \(upstream)", .info)
    }
  }
}

extension SideOutputs: GatewayObserver {}
