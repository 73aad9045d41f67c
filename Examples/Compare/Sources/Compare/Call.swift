import Foundation

/// A call that both clients can make.
struct Call: Sendable {
  let name: String
  /// Throws if the call does not do what it should.
  let sluice: @Sendable (Site) async throws -> Void
  /// Nil if URLSession has no such call on Linux.
  let urlSession: (@Sendable (Site) async throws -> Void)?
}

/// What a call did wrong.
struct Wrong: Error, CustomStringConvertible {
  let description: String
}

func check(_ condition: Bool, _ message: @autoclosure () -> String) throws {
  guard condition else { throw Wrong(description: message()) }
}

/// The addresses of the servers.
struct Site: Sendable {
  /// `http://127.0.0.1:PORT`.
  let base: String
  /// The same server under another name.
  let other: String
  /// A server that cuts off its first response to each path, and never answers `/silent`.
  let cut: String

  var environment: [String: String] { ["COMPARE_BASE": base, "COMPARE_OTHER": other, "COMPARE_CUT": cut] }
}

extension Site {
  init?(_ environment: [String: String]) {
    guard let base = environment["COMPARE_BASE"], let other = environment["COMPARE_OTHER"],
      let cut = environment["COMPARE_CUT"]
    else { return nil }
    self.init(base: base, other: other, cut: cut)
  }
}

/// The calls, in the order of the table.
let calls: [Call] = [
  Call(name: "get bytes", sluice: SluiceCalls.get, urlSession: SessionCalls.get),
  Call(name: "an error status is a response", sluice: SluiceCalls.missing, urlSession: SessionCalls.missing),
  Call(name: "upload bytes", sluice: SluiceCalls.upload, urlSession: SessionCalls.upload),
  Call(name: "upload an async sequence", sluice: SluiceCalls.uploadSequence, urlSession: nil),
  Call(name: "repeated header values", sluice: SluiceCalls.repeated, urlSession: SessionCalls.repeated),
  Call(name: "stream bytes", sluice: SluiceCalls.stream, urlSession: nil),
  Call(name: "download a file", sluice: SluiceCalls.download, urlSession: SessionCalls.download),
  Call(name: "resume a download", sluice: SluiceCalls.resume, urlSession: nil),
  Call(name: "follow a redirect", sluice: SluiceCalls.redirect, urlSession: SessionCalls.redirect),
  Call(name: "a relative Location", sluice: SluiceCalls.relative, urlSession: SessionCalls.relative),
  Call(name: "a delegate of the task refuses a redirect", sluice: SluiceCalls.refuse, urlSession: SessionCalls.refuse),
  Call(name: "a delegate of the task answers a challenge", sluice: SluiceCalls.answer, urlSession: SessionCalls.answer),
  Call(name: "401 without a delegate", sluice: SluiceCalls.denied, urlSession: SessionCalls.denied),
  Call(name: "metrics", sluice: SluiceCalls.metrics, urlSession: SessionCalls.metrics),
  Call(name: "secrets stay at their origin", sluice: SluiceCalls.secrets, urlSession: SessionCalls.secrets),
  Call(name: "cookies over a redirect", sluice: SluiceCalls.cookies, urlSession: SessionCalls.cookies),
  Call(name: "1,000 quick cancels", sluice: SluiceCalls.cancels, urlSession: SessionCalls.cancels),
  Call(name: "an already cancelled task", sluice: SluiceCalls.cancelled, urlSession: SessionCalls.cancelled),
  Call(name: "a body that is cut off is an error", sluice: SluiceCalls.short, urlSession: SessionCalls.short),
  Call(name: "a silent server", sluice: SluiceCalls.silent, urlSession: SessionCalls.silent),
]
