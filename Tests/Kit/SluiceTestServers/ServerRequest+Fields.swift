package import SluiceServer

extension ServerRequest {
  /// The first value of a header, whose name is in lower case.
  package func value(of name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
}
