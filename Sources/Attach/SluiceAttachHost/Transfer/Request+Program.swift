import CAttachABI
import Glibc
import SluiceAttachRules
import SluiceForeign
import SluiceMessages
import SluicePipeline

extension Request {
  /// The request that a program makes with libcurl; nil if it cannot go through a pipeline.
  init?(_ form: sluice_attach_request, urls: LastURL) {
    guard let url = urls.read(form.url.borrowed) else { return nil }
    self.init(method: form.method.method, url: url, headers: HeaderLines(form).fields, body: Self.body(form))
    // The fields were already checked line by line.
    guard (try? Self.check(method: method.utf8.span)) != nil, (try? headers.validateHost()) != nil else { return nil }
  }

  private static func body(_ form: sluice_attach_request) -> Body {
    switch form.body {
    case SLUICE_ATTACH_BODY_MEMORY: form.content.length == 0 ? .empty : .bytes(form.content.copied)
    case SLUICE_ATTACH_BODY_STREAM: .stream(Self.hidden)
    default: .empty
    }
  }

  /// A body that the host cannot read. Only a stage that wants the body reads it. Then the request fails, because that
  /// stage must not be skipped.
  private static let hidden = BodyStream { _ in
    throw TransportError(
      .bodyFile,
      "the program produces the body while libcurl sends it, but a stage wants to see it first; give the stage a "
        + "\"match\" that leaves such requests out")
  }
}

extension sluice_attach_text {
  /// The text as a method. GET is a special case, because most requests use it, and creating a string costs more than
  /// comparing three bytes.
  fileprivate var method: String { length == 3 && memcmp(bytes, "GET", 3) == 0 ? "GET" : string }
}

extension HeaderLines {
  /// - Parameter withoutCredentials: whether the hop goes to another origin than the first hop; libcurl sends no
  ///   `Authorization` there.
  init(_ form: sluice_attach_request, withoutCredentials: Bool = false) {
    self.init()
    for line in UnsafeBufferPointer(start: form.lines, count: form.line_count) { append(line: line.characters.span) }
    for line in UnsafeBufferPointer(start: form.made, count: form.made_count) {
      if withoutCredentials, line.characters.starts(with: "Authorization:".utf8) { continue }
      append(made: line.characters.span)
    }
  }
}
