import Sluice
import SluiceJSON
import SluicePluginHost
import SluiceServer
import SluiceTransport

/// `sluice version`.
enum VersionCommand {
  static let version = Engine.version

  static let description = CommandDescription(
    "version", summary: "Show the version, the plugin ABI and the libraries in use"
  ) { _ throws(CommandError) in
    let abi = HostOffer.abi
    try StandardOutput.write(
      """
      sluice \(version)
      plugin ABI \(abi.count == 1 ? "\(abi.lowerBound)" : "\(abi.lowerBound) to \(abi.upperBound)")
      OpenSSL \(TransportLibraries.tls)
      nghttp2 \(TransportLibraries.http2)
      jansson \(JSONLibrary.version)
      libmicrohttpd \(ServerLibrary.version)

      """)
    return .succeeded
  }
}
