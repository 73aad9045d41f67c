import SluiceMessages

/// Path and query in the form in which they are signed.
package enum CanonicalURL {
  /// The path for a service.
  ///
  /// Empty segments and dot segments are removed, and every byte of the sent path that is not unreserved is encoded, so
  /// percent signs are encoded once more. S3 takes the path as it is, with each byte encoded once.
  package static func path(_ path: String, isS3: Bool) -> String {
    guard !isS3 else {
      let segments = path.split(separator: "/", omittingEmptySubsequences: false)
      return segments.map { PercentCoding.encoded(PercentCoding.decoded($0.utf8.span).span) }.joined(separator: "/")
    }
    var segments: [String] = []
    for segment in path.split(separator: "/") where segment != "." {
      if segment == ".." { _ = segments.popLast() } else { segments.append(PercentCoding.encoded(String(segment))) }
    }
    let end = path.hasSuffix("/") && !segments.isEmpty ? "/" : ""
    return "/" + segments.joined(separator: "/") + end
  }

  /// The parameters, sorted by their encoded names and values. A `+` is a plus sign, not a space.
  package static func query(_ query: String?) -> String {
    let parameters = (query ?? "").split(separator: "&").map { parameter in
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return [parts[0], parts.count > 1 ? parts[1] : ""].map {
        PercentCoding.encoded(PercentCoding.decoded($0.utf8.span).span)
      }
    }
    return parameters.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }.map { "\($0[0])=\($0[1])" }.joined(separator: "&")
  }
}
