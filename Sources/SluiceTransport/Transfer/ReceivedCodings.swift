import SluiceContentCoding

/// The codings of a body, by the field that names them.
final class ReceivedCodings {
  /// Those of the content, which are part of what was asked for.
  var content = ContentCodings()
  /// Those of the way (RFC 9112 §7), which nobody was asked for, and which were applied last; without `chunked`.
  var transfer = ContentCodings()

  /// What is to be undone.
  func all(includingContent: Bool) -> ContentCodings {
    var codings = includingContent ? content : ContentCodings()
    codings.append(transfer)
    return codings
  }
}
