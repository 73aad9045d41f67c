package import SluiceMessages

/// The JSON document of a message. This module does not know JSON, so another module creates the document for a stage.
package protocol MessageDocument: AnyObject {
  /// Turns the document back into a request. Parts that a document cannot hold come from `original`.
  func request(from original: Request) throws(MessageError) -> Request
  /// Turns the document back into a response.
  func response(from original: Response) throws(MessageError) -> Response
  /// Reads only the method and the URL of the document; the other members are not converted.
  func target(from original: Request) throws(MessageError) -> RequestTarget
  /// Why the document could not be converted back or read; nil while no failure is known.
  var failure: MessageError? { get }
}

/// The document of a message that also has a native form (method, URL, fields, body). Records which of the two forms is
/// current.
///
/// The host makes the document when a stage asks for it, once for all stages of the phase. When a stage asks to write
/// it, the document becomes current, and the native form is made again once, when something needs it: a native stage,
/// the wire, the end of the response stages. If no stage asks, nothing is converted. This module knows that a document
/// can exist, and nothing about JSON.
///
/// It is a class, because few exchanges have a document: the others keep only an empty reference.
package final class DocumentForm {
  package let document: any MessageDocument
  /// True once a stage has asked for the document in order to write it; from then on the native form is out of date
  /// until the phase ends.
  package var isCurrent: Bool
  /// The stage that last asked to write, which is at fault if the document turns out to be invalid.
  package var lastWriter: String

  package init(document: any MessageDocument, isCurrent: Bool, lastWriter: String) {
    self.document = document
    self.isCurrent = isCurrent
    self.lastWriter = lastWriter
  }

  func request(from original: Request) throws(TransactionError) -> Request {
    do { return try document.request(from: original) } catch { throw blame(error) }
  }

  func response(from original: Response) throws(TransactionError) -> Response {
    do { return try document.response(from: original) } catch { throw blame(error) }
  }

  func target(from original: Request) throws(TransactionError) -> RequestTarget {
    do { return try document.target(from: original) } catch { throw blame(error) }
  }

  /// The error of a written document that is known to be invalid; otherwise nil.
  var failure: TransactionError? { isCurrent ? document.failure.map { blame($0) } : nil }

  private func blame(_ error: MessageError) -> TransactionError {
    TransactionError(code: .stageFault, message: "it left an invalid document: \(error)", stage: lastWriter)
  }
}
