import CBareLoop
import Glibc

/// The bare libcurl loop, on the calling thread.
final class BareSubject: BenchmarkSubject {
  let name = "bare"
  private let loop: OpaquePointer

  init(_ plan: Plan) throws {
    let lines: [UnsafePointer<CChar>?] = plan.headers.map { UnsafePointer(strdup("\($0.name): \($0.value)")) }
    defer { for line in lines { free(UnsafeMutablePointer(mutating: line)) } }
    let made = plan.url.withCString { url in
      lines.compactMap { $0 }.withUnsafeBufferPointer { lines -> OpaquePointer? in
        // Only an empty array can have no base address.
        guard let start = lines.baseAddress else { return nil }
        let ca = plan.certificateAuthority.map { UnsafePointer<CChar>(strdup($0)) } ?? nil
        defer { free(UnsafeMutablePointer(mutating: ca)) }
        var options = bare_loop_options(
          url: url, ca: ca, http2: plan.usesHTTP2, connections: Int32(plan.connections), headers: start,
          header_count: Int32(lines.count))
        return bare_loop_create(&options)
      }
    }
    guard let made else { throw BenchmarkError("the bare loop could not be made") }
    loop = made
  }

  deinit { bare_loop_destroy(loop) }

  func run(requests: Int) -> Int { bare_loop_run(loop, requests) }
}

struct BenchmarkError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
