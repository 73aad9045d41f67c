public import Foundation
public import SluiceAssembly
public import SluiceClient
public import SluiceCookies
public import Sluice
public import SluiceMessages
public import SluicePipeline

// With these conformances, `localizedDescription` of an `any Error` is the description of the error.

extension LocalizedError where Self: DescribedError {
  /// The description of the error.
  public var errorDescription: String? { description }
}

extension ConfigurationError: LocalizedError {}
extension CookieJarError: LocalizedError {}
extension DownloadFailure: LocalizedError {}
extension EngineError: LocalizedError {}
extension MessageError: LocalizedError {}
extension RetryRequestError: LocalizedError {}
extension StageFailure: LocalizedError {}
extension SwapError: LocalizedError {}
extension TransactionError: LocalizedError {}
extension TransactionFailure: LocalizedError {}
extension TransportError: LocalizedError {}
