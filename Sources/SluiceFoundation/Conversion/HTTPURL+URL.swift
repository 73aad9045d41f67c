public import Foundation
import SluiceIDNA
public import SluiceMessages

extension HTTPURL {
  /// Converts a Foundation URL by the strict rules of ``HTTPURL``. A host beyond ASCII becomes A-labels (RFC 5891).
  ///
  /// - Throws: why it is not an absolute `http` or `https` URL, or why two programs could read it differently.
  public init(_ url: URL) throws(MessageError) { try self.init(url.absoluteString, hosts: .idna) }
}
