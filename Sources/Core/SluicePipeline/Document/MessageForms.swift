package import SluiceMessages

/// A message of an attempt in its two forms: native, and as the JSON document that a stage has asked for.
///
/// One of them is current. This is the document after a stage has asked to write it, until the document is settled;
/// otherwise it is the native form. A document that is not current is a view: whoever changes the native form drops it.
package protocol MessageForms {
  associatedtype Native

  /// Out of date while ``currentDocument`` is not nil.
  var native: Native { get set }
  /// Nil unless a stage has asked for it since the message was last replaced.
  var document: DocumentForm? { get set }
}

/// The forms of a request.
///
/// The transaction keeps two more: the request that the caller gave, which never changes and with which each attempt
/// begins (``TransactionResult/originalRequest``), and the headers of the hop (``Exchange/issueHeaders`` while stages
/// change them, ``Exchange/issued`` from then on).
package struct RequestForms: MessageForms {
  package var native: Request
  package var document: DocumentForm?

  @inline(__always)
  init(_ native: consuming Request) { self.native = native }
}

/// The forms of a response, if there is a response.
package struct ResponseForms: MessageForms {
  package var native: Response?
  package var document: DocumentForm?
}

extension MessageForms {
  /// The document if it is current; otherwise nil.
  @inline(__always)
  package var currentDocument: DocumentForm? {
    guard document != nil else { return nil }
    return documentIfCurrent
  }

  @inline(never)
  private var documentIfCurrent: DocumentForm? { document.flatMap { $0.isCurrent ? $0 : nil } }

  /// Drops a document that is not current, because the native form has changed. A stage that has borrowed the document
  /// keeps it until the call of the stage returns.
  package mutating func dropView() {
    guard document != nil, currentDocument == nil else { return }
    document = nil
  }

  /// Another message takes the place of this one, in both forms.
  @inline(__always)
  package mutating func replace(with other: consuming Native) {
    native = other
    document = nil
  }
}

extension RequestForms {
  /// Makes the native form current. A document that was only read stays. An invalid document stays too, because the
  /// transaction must not continue with the earlier request.
  @inline(__always)
  package mutating func settle() throws(TransactionError) {
    if document != nil { try settleDocument() }
  }

  // Not inlined: every transaction checks whether there is a document, but almost none has one.
  @inline(never)
  private mutating func settleDocument() throws(TransactionError) {
    guard let form = currentDocument else { return }
    replace(with: try form.request(from: native))
  }

  /// Another body takes the place of this one, in both forms. The native form must be current.
  mutating func replaceBody(with body: consuming Body) {
    native.body = body
    document = nil
  }

  /// The current request; the forms stay as they are. Nil if the document is invalid.
  var current: Request? {
    guard let form = currentDocument else { return native }
    return try? form.request(from: native)
  }

  /// Whether a match holds for the current request. Converts nothing.
  @inline(__always)
  func satisfies(_ match: StageMatch) throws(TransactionError) -> Bool {
    guard let form = currentDocument else { return match.matches(native) }
    return match.matches(try form.target(from: native))
  }
}

extension ResponseForms {
  /// Makes the native form current, as for a request. Returns whether the response comes from a document.
  @inline(__always)
  package mutating func settle() throws(TransactionError) -> Bool {
    guard document != nil else { return false }
    return try settleDocument()
  }

  @inline(never)
  private mutating func settleDocument() throws(TransactionError) -> Bool {
    guard let form = currentDocument, let response = native else { return false }
    replace(with: try form.response(from: response))
    return true
  }

  /// Another body takes the place of this one, in both forms. The native form must be current.
  mutating func replaceBody(with body: consuming Body) {
    native?.body = body
    document = nil
  }

  /// The current response, or the native one if the document is invalid; the forms stay as they are.
  var current: Response? {
    guard let form = currentDocument, let response = native else { return native }
    return (try? form.response(from: response)) ?? response
  }
}

/// The body of a request, and the trailers that follow it.
struct RequestContent {
  var body: Body
  var trailers: SharedValue<HeaderFields>?
}

extension Request {
  var content: RequestContent {
    get { RequestContent(body: body, trailers: sharedTrailers) }
    set { (body, sharedTrailers) = (newValue.body, newValue.trailers) }
  }
}
