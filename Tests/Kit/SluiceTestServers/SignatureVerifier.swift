package import SluiceServer
import SluiceTestKit

/// Checks signatures of received requests with a program in Python, which shares no code with Sluice.
package enum SignatureVerifier {
  /// Returns `valid`, or what is wrong with the signature.
  package static func verdict(on request: ServerRequest, secret: String) async throws -> String {
    func quoted(_ text: String) -> String {
      "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\t", with: "\\t"))\""
    }
    let digits = Array("0123456789abcdef")
    let body = String(request.body.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    let headers = request.headers.map { "[\(quoted($0.name)), \(quoted($0.value))]" }.joined(separator: ", ")
    let text = """
      {"method": \(quoted(request.method)), "target": \(quoted(request.target)), "headers": [\(headers)],
       "body": \(quoted(body)), "secret": \(quoted(secret))}
      """
    let script = RepositoryRoot.path("Tests/Fixtures/Programs/verify_sigv4.py")
    let result = try await Command.run("/usr/bin/python3", [script], standardInput: Array(text.utf8))
    guard result.status == 0 else { throw TestKitError("verify_sigv4.py: \(result.errorText)") }
    return String(result.outputText.dropLast())
  }
}
