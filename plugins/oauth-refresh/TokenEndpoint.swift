import SluicePlugin

/// Requests tokens from the token endpoint. Errors name the endpoint and the status, but no secrets.
struct TokenEndpoint: Sendable {
  private let request: GrantRequest

  init(_ request: GrantRequest) { self.request = request }

  var shown: String { request.url.shown }

  /// - Throws: ``StageFailure`` with the code `token_refresh_failed`.
  func grant(_ refreshToken: String?, through host: PluginHost) async throws(StageFailure) -> TokenGrant {
    let answer: CallResponse
    do {
      answer = try await host.send(request.call(refreshToken))
    } catch let failure as StageFailure {
      throw self.failure("\(failure.code): \(failure.message)")
    } catch {
      throw self.failure("cancelled")
    }
    return try read(answer, hiding: [refreshToken, request.clientSecret].compactMap(\.self))
  }

  private func read(_ answer: CallResponse, hiding secrets: [String]) throws(StageFailure) -> TokenGrant {
    guard answer.status == 200 else { throw failure(refusal(answer, secrets)) }
    do throws(TokenGrant.Malformed) {
      return try TokenGrant(answer)
    } catch {
      // Some servers answer with an error and the status 200.
      throw failure(namedError(answer, secrets) ?? "200, but \(error.reason)")
    }
  }

  private func refusal(_ answer: CallResponse, _ secrets: [String]) -> String {
    if let error = namedError(answer, secrets) { return error }
    let isRedirect = (300...399).contains(answer.status)
    return "\(answer.status)"
      + (isRedirect ? "; redirects are not followed: configure the URL that the redirect leads to" : "")
  }

  /// The status and the error of an answer (RFC 6749 §5.2); nil if the answer has no error that can be shown.
  private func namedError(_ answer: CallResponse, _ secrets: [String]) -> String? {
    let shown = words(answer).map { $0.flatMap { Self.isShowable($0, secrets) ? $0 : nil } }
    switch (shown[0], shown[1]) {
    case (let word?, let text?): return "\(answer.status) \(word) (\(text))"
    case (let word?, nil): return "\(answer.status) \(word)"
    case (nil, let text?): return "\(answer.status) (\(text))"
    case (nil, nil): return nil
    }
  }

  /// The word and the text of the error; each nil if the answer does not have it.
  private func words(_ answer: CallResponse) -> [String?] {
    guard let document = try? answer.document() else {
      let form = answer.form
      return [form["error"], form["error"].flatMap { _ in form["error_description"] }]
    }
    // Some servers put an object in the place of the word.
    let error = document["error"]
    return [
      error?.string ?? error?["code"]?.string ?? error?["type"]?.string ?? error?["status"]?.string,
      document["error_description"]?.string ?? error?["message"]?.string,
    ]
  }

  /// Whether a text can be shown: it is short, has only the characters of RFC 6749 §5.2, and contains no secret that
  /// was sent.
  private static func isShowable(_ text: String, _ secrets: [String]) -> Bool {
    (1...200).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7e).contains($0) }
      && !secrets.contains { text.contains($0) }
  }

  private func failure(_ reason: String) -> StageFailure {
    StageFailure(code: TokenBook.failedCode, message: "no token from \(shown): \(reason)")
  }
}
