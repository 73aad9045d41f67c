import CTestKit

/// Compressed bodies, as servers send them.
package enum EncodedBody {
  package enum Coding: Sendable, CaseIterable {
    case gzip
    case deflate
    /// Deflate data without the zlib format around it, which many servers send under the name `deflate`.
    case bareDeflate
    case brotli
    case zstd
    /// Zstandard with a window of 16 MB.
    case wideZstd

    /// The name of the coding in `Content-Encoding`.
    package var name: String {
      switch self {
      case .gzip: "gzip"
      case .deflate, .bareDeflate: "deflate"
      case .brotli: "br"
      case .zstd, .wideZstd: "zstd"
      }
    }

    fileprivate var number: sluice_test_coding {
      switch self {
      case .gzip: SLUICE_TEST_GZIP
      case .deflate: SLUICE_TEST_DEFLATE
      case .bareDeflate: SLUICE_TEST_BARE_DEFLATE
      case .brotli: SLUICE_TEST_BROTLI
      case .zstd: SLUICE_TEST_ZSTD
      case .wideZstd: SLUICE_TEST_WIDE_ZSTD
      }
    }
  }

  package static func bytes(_ coding: Coding, _ content: [UInt8]) -> [UInt8] {
    // The buffer is large enough even for content that cannot be compressed and to which the coding only adds bytes.
    [UInt8](unsafeUninitializedCapacity: content.count + content.count / 8 + 1024) { buffer, count in
      count = sluice_test_encode(coding.number, content, content.count, buffer.baseAddress, buffer.count)
    }
  }

  /// Makes a text that compresses well although all its lines differ.
  package static func text(lines: Int) -> String {
    (0..<lines).map { "line \($0) of a text that repeats itself\n" }.joined()
  }
}
