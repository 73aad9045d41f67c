import Sluice

/// Shows each way to use the engine, with the server whose URL is the argument: `Client http://127.0.0.1:8080`.
@main
struct Program {
  static func main() async {
    guard CommandLine.arguments.count == 2 else { return print("usage: Client URL") }
    do {
      let url = try HTTPURL(CommandLine.arguments[1])
      try await fetch(url)
      try await fetchTyped(url)
      try await postJSON(url)
      try await observe(url)
      try await collect(url)
      try await receivePieces(url)
      // The echo server delays this answer, so that the request is still running when it is cancelled.
      try await giveUp(HTTPURL("\(url.origin)/delay/10s"))
      try await stayOnLoop(url)
      try ownThread(url)
      try await report(url)
      try await notify()
      try await explain(url)
      try await forwardLog(url)
      try await forwardResults(url)
      try await joinTrace(url)
      try await route(url)
      try await useClient(url)
      try await keepCookies(url)
      try await fromURLSession(url)
      try await fromAsyncHTTPClient(url)
      try await middleware(url)
      try await useFoundation(url.string)
    } catch { print("failed: \(error)") }
  }
}
