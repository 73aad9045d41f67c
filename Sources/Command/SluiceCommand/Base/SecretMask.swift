import Sluice
import SluiceAssembly
import SluiceMessages

/// Hides secrets in texts that are shown: credentials, cookies, signed query parameters, and the fields and parameters
/// that `redact` names.
struct SecretMask: Sendable {
  let secrets: Redactor

  init(_ redaction: RedactionSettings) { secrets = Redactor(headers: redaction.headers, query: redaction.query) }

  func lines(_ fields: HeaderFields) -> [String] {
    fields.indices.map { "\(fields.name(at: $0)): \(PrintableText.of(value(fields, at: $0)))" }
  }

  /// The given fields with secrets hidden.
  func fields(_ fields: HeaderFields) -> HeaderFields {
    var shown = HeaderFields()
    for index in fields.indices {
      let (name, value) = (fields.name(at: index), value(fields, at: index))
      shown.append(name, value)
    }
    return shown
  }

  private func value(_ fields: HeaderFields, at index: Int) -> String {
    if fields.marks(at: index).contains(.sensitive) { return Redactor.placeholder }
    return secrets.value(fields.value(at: index), ofHeader: fields.name(at: index))
  }

  func url(_ url: HTTPURL) -> String { secrets.url(url.string) }

  /// The path and query, with secrets hidden.
  func target(_ url: HTTPURL) -> String { target(url.query.map { "\(url.path)?\($0)" } ?? url.path) }

  /// The target of a request line, with secrets hidden: path and query, or a whole URL.
  func target(_ target: String) -> String { secrets.url(target) }

  /// Whether the value of a query parameter is a secret.
  /// - Parameter name: the name without percent-encoding.
  func isSecretParameter(_ name: String) -> Bool {
    let query = "?\(PercentCoding.encoded(name))="
    return secrets.url(query + "x") == query + Redactor.placeholder
  }

  func value(_ value: String, ofHeader name: String) -> String { secrets.value(value, ofHeader: name) }
}
