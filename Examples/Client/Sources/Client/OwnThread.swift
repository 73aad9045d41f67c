import Glibc
import Sluice
import SluiceLoop

/// An engine without its own threads for transactions: the thread that calls this function runs them while it waits.
/// This function runs on the main thread, because a thread of Swift's pool must not block.
@MainActor func ownThread(_ url: HTTPURL) throws {
  let loop = try HostedLoop()
  let engine = try Engine(Configuration(), on: loop)
  engine.submit(Request(url: url)) { result in
    print("ownThread: \(result.status ?? 0)")
    Task { await engine.shutdown() }
  }
  var waited = pollfd(fd: loop.descriptor, events: Int16(POLLIN), revents: 0)
  repeat { poll(&waited, 1, -1) } while try loop.turn()
}
