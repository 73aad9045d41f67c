package import SluiceMessages

/// The parts of a request that a ``StageMatch`` is compared with.
package struct RequestTarget: Sendable, Hashable {
  package var method: String
  package var url: HTTPURL

  package init(method: String, url: HTTPURL) {
    self.method = method
    self.url = url
  }
}
