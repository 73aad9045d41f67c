import SluiceClient
import Sluice

/// Downloads a file and prints the progress.
func followProgress(_ client: Client, _ url: HTTPURL, to path: String) async throws {
  struct Progress: TransactionDelegate {
    func transaction(_ id: TransactionID, didReceive progress: TransferProgress) {
      print("client: \(progress.bytes) of \(progress.total.map(String.init) ?? "?") bytes")
    }
  }
  _ = try await client.download(from: url, to: path, delegate: Progress())
}
