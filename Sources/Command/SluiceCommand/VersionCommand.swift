import Sluice
import SluiceCurl
import SluiceJSON
import SluicePluginHost
import SluicePluginImage
import SluiceServer

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
      libcurl \(TransportLibraries.curl)
      jansson \(JSONLibrary.version)
      libmicrohttpd \(ServerLibrary.version)

      """)
    return .succeeded
  }
}
