public import Foundation
import SluiceIDNA
public import SluiceMessages

extension HTTPURL {
  /// A URL of Foundation, under the strict rules of ``HTTPURL``. A host beyond ASCII is converted into A-labels (RFC 5891).
  ///
  /// - Throws: why it is no absolute `http` or `https` URL, or why two programs could read it differently.
  public init(_ url: URL) throws(MessageError) { try self.init(url.absoluteString, hosts: .idna) }
}
