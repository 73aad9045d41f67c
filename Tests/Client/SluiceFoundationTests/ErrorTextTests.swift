import Foundation
import SluiceClient
import SluiceCookies
import SluiceFoundation
import SluiceMessages
import SluicePipeline
import Testing

/// What Foundation says about the errors of this project.
@Suite struct ErrorTextTests {
  private static let errors: [any DescribedError] = [
    TransactionError(code: .timeout, message: "no byte for 3 s"), RetryRequestError(after: .seconds(1)),
    StageFailure(code: "x", message: "why"), CookieJarError(.damaged, "file", line: 3, "why"),
    TransactionError(TransportError(.connect, "no way", isBeforeSending: true)),
  ]

  @Test(arguments: errors.indices) func `the localized description is the description`(_ index: Int) throws {
    let error = Self.errors[index]
    #expect(error.localizedDescription == error.description && !error.description.isEmpty)
    #expect((error as any Error).localizedDescription == error.description)
  }

  @Test func `errors that calls throw have a text`() async throws {
    let client = try Client()
    do { _ = try await client.data(from: "http://127.0.0.1:1/" as HTTPURL) } catch {
      #expect(error.localizedDescription == error.description && error.description.contains("connect"))
    }
    do throws(DownloadFailure) { _ = try await client.download(from: "http://127.0.0.1:1/", to: "/nowhere/x") } catch {
      #expect(error.localizedDescription == error.description && error.description.contains("/nowhere"))
    }
    await #expect { try await client.perform(Request(url: "http://127.0.0.1:1/")) { _, _ in } } throws: { error in
      error.localizedDescription.contains("connect") && !error.localizedDescription.contains("(null)")
    }
    await client.shutdown()
  }
}
