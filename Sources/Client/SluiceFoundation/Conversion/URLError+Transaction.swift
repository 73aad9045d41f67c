import Foundation
import FoundationNetworking
import SluiceClient
import SluiceMessages
import SluicePipeline

extension URLError {
  /// The error that URLSession would throw. Its `NSUnderlyingErrorKey` is the engine's error. The URL is left out
  /// because it can contain secrets.
  init(_ error: TransactionError) { self.init(error.code, error.description, underlying: error) }

  init(_ failure: DownloadFailure) {
    self.init(failure.error.code, failure.description, underlying: failure, writesFile: true)
  }

  init(_ error: MessageError) { self.init(error.code, error.description, underlying: error) }

  private init(_ code: ErrorCode, _ text: String, underlying: any Error, writesFile: Bool = false) {
    let known = code == .bodyFile && writesFile ? Code.cannotWriteToFile : Self.codes[code] ?? .unknown
    self.init(known, userInfo: [NSLocalizedDescriptionKey: text, NSUnderlyingErrorKey: underlying])
  }

  /// All other codes become `unknown`, because URLSession has no codes for stages, retries and bodies of the wrong
  /// form.
  private static let codes: [ErrorCode: Code] = [
    .cancelled: .cancelled,
    .timeout: .timedOut, .connectTimeout: .timedOut, .deadline: .timedOut, .stageTimeout: .timedOut,
    .nameLookup: .cannotFindHost, .connect: .cannotConnectToHost, .proxy: .cannotConnectToHost,
    .tls: .secureConnectionFailed, .connectionLost: .networkConnectionLost, .notProcessed: .networkConnectionLost,
    .invalidResponse: .badServerResponse, .status: .badServerResponse, .tooManyRedirects: .httpTooManyRedirects,
    .redirectLoop: .httpTooManyRedirects, .invalidURL: .badURL, .unsupportedScheme: .unsupportedURL,
    .responseTooLarge: .dataLengthExceedsMaximum, .decoding: .cannotDecodeContentData,
    .bodyFile: .cannotOpenFile, .diskFull: .cannotWriteToFile, .bodyNotReplayable: .requestBodyStreamExhausted,
  ]
}
