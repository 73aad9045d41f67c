import CAttachABI
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The functions that the preloaded library in the program offers to the host.
///
/// Unchecked: the functions can be called on any thread, and exist as long as the process.
struct ProgramFunctions: @unchecked Sendable {
  private let table: sluice_attach_program

  init(_ table: sluice_attach_program) { self.table = table }

  /// Makes the threads of the host call the functions for threads.
  func watchThreads() {
    guard let begin = table.begin_thread, let pause = table.pause, let resume = table.resume else { return }
    ThreadWatcher.install(ThreadWatcher(begin: begin, pause: pause, resume: resume))
  }

  /// Makes an exchange, and blocks until it has ended. Call it on a thread of the host.
  func exchange(_ form: inout sluice_attach_exchange) -> Exchanged {
    var exchanged = sluice_attach_exchanged()
    table.exchange?(&form, &exchanged)
    return Exchanged(form: exchanged, release: table.release)
  }

  /// How an exchange ended. This value owns the memory to which `form` points.
  struct Exchanged: ~Copyable {
    fileprivate var form: sluice_attach_exchanged
    fileprivate let release: (@convention(c) (UnsafeMutablePointer<sluice_attach_exchanged>?) -> Void)?

    deinit {
      var form = form
      release?(&form)
    }

    /// The response with its body, or why there is none.
    borrowing func outcome() -> Result<Response, TransportError> {
      let facts = sluice_attach_facts(version: form.http_version)
      var response = form.code == 0 ? Response(form.response, facts) : nil
      response?.body = form.content.length == 0 ? .empty : .bytes(form.content.copied)
      if let response { return .success(response) }
      let error = TransportError(curlCode: form.code, form.reason.string, hasHead: false)
      return .failure(error ?? TransportError(.invalidResponse, "libcurl reports no response"))
    }
  }
}

extension sluice_attach_facts {
  fileprivate init(version: Int32) {
    self.init()
    http_version = version
  }
}
