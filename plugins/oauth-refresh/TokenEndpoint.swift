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
    } catch { throw failure("200, but \(error.reason)") }
  }

  /// The error from the answer (RFC 6749 §5.2), if there is one.
  private func refusal(_ answer: CallResponse, _ secrets: [String]) -> String {
    guard let document = try? answer.json(), let word = document["error"]?.string, Self.isShowable(word, secrets) else {
      let isRedirect = (300...399).contains(answer.status)
      return "\(answer.status)"
        + (isRedirect ? "; redirects are not followed: configure the URL that the redirect leads to" : "")
    }
    guard let text = document["error_description"]?.string, Self.isShowable(text, secrets) else {
      return "\(answer.status) \(word)"
    }
    return "\(answer.status) \(word) (\(text))"
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
