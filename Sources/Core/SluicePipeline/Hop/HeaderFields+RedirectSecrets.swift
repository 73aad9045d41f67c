import SluiceMessages

extension HeaderFields {
  private static let secretFields = Redactor.credentialFields + ["cookie2", "proxy-authorization"]

  /// Removes what must not be sent to another origin: credentials, cookies, fields marked as secret, fields that a
  /// stage added, and `Host`; `redirects.keep` names exceptions.
  mutating func dropSecrets(_ settings: RedirectSettings) {
    remove("host")
    for index in indices.reversed() {
      let isMarked = !marks(at: index).isDisjoint(with: [.sensitive, .addedByStage])
      let isSecret = isMarked || isNamed(at: index, Self.secretFields) || isNamed(at: index, settings.secret)
      if isSecret, !isNamed(at: index, settings.kept) { remove(at: index) }
    }
  }

  private func isNamed(at index: Int, _ names: [String]) -> Bool {
    names.contains { FieldSyntax.equals(buffer.span.extracting(nameRange(at: index)), text: $0) }
  }
}
