import CBareLoop
import Glibc
import Sluice

/// The memory of transactions in flight while the server does not answer, and of the connections that are idle after it
/// has answered. Socket buffers belong to the kernel and are not included.
struct MemoryCost {
  static let name = "memory"

  private let plan: Plan

  init(_ plan: Plan) throws {
    self.plan = plan
    // Each connection has two ends in this process.
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_cur >= plan.inFlight * 2 + 256 else {
      throw BenchmarkError("--in-flight \(plan.inFlight) needs \(plan.inFlight * 2 + 256) descriptors; see ulimit -Hn")
    }
  }

  func report() async throws {
    if plan.isSecure { return try await measureConnections() }
    print("\(plan.inFlight) transactions in flight, HTTP/1.1, \(plan.headers.count) headers")
    try await measure("empty", .empty(plan))
    try await measure("engine", .full(plan))
  }

  /// The memory of the process in bytes.
  private struct Usage {
    let heap = Double(bench_heap_bytes())
    let resident = Double(bench_resident_bytes())
  }

  private func measure(_ name: String, _ pipeline: BenchmarkPipeline) async throws {
    var configuration = pipeline.configuration
    configuration.transport.httpVersion = .http11
    configuration.transport.decodesContent = false
    configuration.limits.transactions = plan.inFlight
    guard let server = silent_server_create(Int32(plan.inFlight)) else {
      throw BenchmarkError("the silent server could not be made")
    }
    defer { silent_server_destroy(server) }
    let engine = try Engine(configuration)
    var headers = HeaderFields()
    for (name, value) in pipeline.callerHeaders { headers.append(name, value) }
    let url = try HTTPURL("http://127.0.0.1:\(silent_server_port(server))/")
    let request = Request(url: url, headers: headers)
    let before = Usage()
    let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
    for _ in 0..<plan.inFlight { engine.submit(request) { continuation.yield($0.error == nil) } }
    guard silent_server_wait(server, Int32(plan.inFlight)) != 0 else {
      throw BenchmarkError("not all \(plan.inFlight) requests reached the server within a minute")
    }
    let during = Usage()
    silent_server_answer(server)
    var count = 0
    for await hasSucceeded in results {
      guard hasSucceeded else { throw BenchmarkError("\(name): a request failed") }
      count += 1
      if count == plan.inFlight { break }
    }
    let after = Usage()
    let idle = max(1, Int(silent_server_open_count(server)))
    let perTransaction = Double(plan.inFlight)
    print(
      "\(name): a transaction in flight has \(Self.bytes((during.heap - before.heap) / perTransaction)) of heap,"
        + " \(Self.bytes((during.resident - before.resident) / perTransaction)) resident")
    print(
      "\(name): \(idle) connections are idle afterwards, with \(Self.bytes((after.heap - before.heap) / Double(idle)))"
        + " of heap each, including what the loop keeps for the next requests")
    await engine.shutdown(drain: .zero)
  }

  /// The memory of idle connections over TLS, which includes the memory that OpenSSL keeps for each connection.
  private func measureConnections() async throws {
    // The number of idle connections that a transport keeps.
    let wanted = 256
    var configuration = try BenchmarkPipeline.empty(plan).configuration
    configuration.transport.tls.ca = plan.certificateAuthority
    configuration.transport.httpVersion = .http11
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(plan.url))
    // The first connection also allocates what all connections share.
    _ = try await engine.perform(request)
    let (before, first) = (Usage(), Self.descriptors)
    let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
    for _ in 0..<wanted * 4 { engine.submit(request) { continuation.yield($0.error == nil) } }
    var count = 0
    for await hasSucceeded in results {
      guard hasSucceeded else { throw BenchmarkError("a request over TLS failed") }
      count += 1
      if count == wanted * 4 { break }
    }
    // Some connections were begun for requests that other connections have carried. They are idle when their handshake
    // has ended.
    var last = -1
    for _ in 0..<100 where last != Self.descriptors {
      last = Self.descriptors
      usleep(100_000)
    }
    let idle = max(1, last - first)
    let heap = (Usage().heap - before.heap) / Double(idle)
    print("\(idle) connections over TLS are idle, with \(Self.bytes(heap)) of heap each")
    await engine.shutdown(drain: .zero)
  }

  /// The open descriptors of this process.
  private static var descriptors: Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
  }

  private static func bytes(_ number: Double) -> String { "\(Spread.round(number, 0)) bytes" }
}
