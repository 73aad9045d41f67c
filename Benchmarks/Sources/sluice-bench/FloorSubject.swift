import CBareLoop

/// A raw epoll loop in C, on the calling thread: the cost of a client that does little more than send and receive. With
/// TLS, the loop uses OpenSSL.
final class FloorSubject: BenchmarkSubject {
  let name: String
  private let loop: OpaquePointer

  init(_ name: String, _ plan: Plan) throws {
    self.name = name
    let host = plan.isSecure ? "localhost" : "127.0.0.1"
    var request = "GET / HTTP/1.1\r\nHost: \(host):\(plan.port)\r\nAccept: */*\r\n"
    for (name, value) in plan.headers { request += "\(name): \(value)\r\n" }
    request += "\r\n"
    guard
      let made = floor_loop_create(Int32(plan.port), Int32(plan.connections), request, plan.certificateAuthority)
    else { throw BenchmarkError("the raw loop cannot connect to port \(plan.port)") }
    loop = made
  }

  deinit { floor_loop_destroy(loop) }

  func run(requests: Int) -> Int { floor_loop_run(loop, requests) }
}
