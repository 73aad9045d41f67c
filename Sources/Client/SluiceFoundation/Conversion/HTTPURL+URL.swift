public import Foundation
import SluiceIDNA
public import SluiceMessages

extension HTTPURL {
  /// Converts a Foundation URL by the strict rules of ``HTTPURL``. A host that is not ASCII is converted to A-labels
  /// (RFC 5891).
  ///
  /// - Throws: an error if the URL is not an absolute `http` or `https` URL, or if two programs could read it
  ///   differently.
  public init(_ url: URL) throws(MessageError) { try self.init(url.absoluteString, hosts: .idna) }
}
