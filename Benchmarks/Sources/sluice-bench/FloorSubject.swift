import CBareLoop

/// A raw epoll loop in C, on the calling thread: what is left if a client does nothing but send and receive.
final class FloorSubject: BenchmarkSubject {
  let name = "floor"
  private let loop: OpaquePointer

  init(_ plan: Plan, port: Int) throws {
    var request = "GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: */*\r\n"
    for (name, value) in plan.headers { request += "\(name): \(value)\r\n" }
    guard let made = floor_loop_create(Int32(port), Int32(plan.connections), request + "\r\n") else {
      throw BenchmarkError("the raw loop could not be made")
    }
    loop = made
  }

  deinit { floor_loop_destroy(loop) }

  func run(requests: Int) -> Int { floor_loop_run(loop, requests) }
}
