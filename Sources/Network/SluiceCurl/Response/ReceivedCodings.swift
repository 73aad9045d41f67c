import SluiceContentCoding

/// The codings of a body, in separate lists for `Content-Encoding` and `Transfer-Encoding`.
final class ReceivedCodings {
  /// Content codings, which are part of the requested representation.
  var content = ContentCodings()
  /// Transfer codings (RFC 9112 §7) without `chunked`. Sluice does not ask for them. A server applies them after the
  /// content codings.
  var transfer = ContentCodings()

  /// The codings that must be decoded. Libcurl has not asked for a content coding that is unknown, so such a body stays
  /// as it is.
  func all(includingContent: Bool) -> ContentCodings {
    var codings = includingContent && !content.hasUnknown ? content : ContentCodings()
    codings.append(transfer)
    codings.hasTransferCodings = !transfer.isEmpty
    return codings
  }
}
