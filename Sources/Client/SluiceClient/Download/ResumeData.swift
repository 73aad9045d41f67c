import SluiceJSON
public import SluiceMessages
public import SluicePipeline

/// The data for continuing a failed download: its URL, a validator that identifies the file on the server, and the
/// local file with the part that has arrived.
///
/// ``document`` is JSON that the caller can store in a file. It contains the URL as it was given, with its query. It
/// contains no headers, so the caller must pass them again.
public struct ResumeData: Sendable, Hashable {
  /// The URL of the request, before redirects.
  public let url: HTTPURL
  /// The path that the whole file will get; absolute.
  public let target: String
  /// The number of bytes that have been downloaded.
  public let offset: Int
  /// The size of the whole file; nil if the server did not say.
  public let totalBytes: Int?
  /// The file with the first ``offset`` bytes, hidden in the folder of the target. Delete it if you do not resume.
  public let partialFile: String
  let validator: StrongValidator

  init(
    url: HTTPURL, target: String, offset: Int, totalBytes: Int?, partialFile: String, validator: StrongValidator
  ) {
    self.url = url
    self.target = target
    self.offset = offset
    self.totalBytes = totalBytes
    self.partialFile = partialFile
    self.validator = validator
  }
}

// The document.
extension ResumeData {
  /// A longer document is refused.
  static let maximumBytes = 1 << 18

  private struct Form: Codable {
    var version = 1
    var url: String
    var target: String
    var offset: Int
    var totalBytes: Int?
    var partialFile: String
    var entityTag: String?
    var lastModified: String?
  }

  /// The document as UTF-8.
  public var document: [UInt8] {
    var form = Form(url: url.string, target: target, offset: offset, totalBytes: totalBytes, partialFile: partialFile)
    switch validator {
    case .entityTag(let tag): form.entityTag = tag
    case .lastModified(let date): form.lastModified = date
    }
    return (try? JSONValue(encoding: form).serialized()) ?? []
  }

  /// Reads a document that ``document`` returned. The partial file is checked only when the download resumes.
  ///
  /// - Throws: `invalid_document` if it is not such a document.
  public init(document: [UInt8]) throws(TransactionError) {
    guard document.count <= Self.maximumBytes else {
      throw Self.failure("it is longer than \(Self.maximumBytes) bytes")
    }
    let form: Form
    do { form = try JSONValue(parsing: document, options: .rejectDuplicates).decode(Form.self) } catch {
      throw Self.failure("\(error)")
    }
    guard form.version == 1 else {
      throw Self.failure("its version is \(form.version), and this version of Sluice reads 1")
    }
    do throws(MessageError) { url = try HTTPURL(form.url) } catch { throw Self.failure("\(error)") }
    switch (form.entityTag, form.lastModified) {
    case (let tag?, nil) where StrongValidator.isStrongTag(tag): validator = .entityTag(tag)
    case (nil, let date?) where HTTPDate(date, now: HTTPDate(secondsSince1970: 0)) != nil:
      validator = .lastModified(date)
    default: throw Self.failure("it has no strong validator")
    }
    guard form.offset >= 0, form.totalBytes.map({ $0 >= form.offset }) ?? true else {
      throw Self.failure("its offset is negative, or larger than the size of the whole file")
    }
    // The document may come from anyone. It must not make a download overwrite another file.
    guard let target = TargetPath(form.target), let partial = TargetPath(form.partialFile), form.target.hasPrefix("/"),
      partial.folder == target.folder, PartialFile.isName(partial.name)
    else { throw Self.failure("its partial file is not one that a download to its target leaves") }
    self.target = form.target
    partialFile = form.partialFile
    offset = form.offset
    totalBytes = form.totalBytes
  }

  private static func failure(_ reason: String) -> TransactionError {
    TransactionError(
      code: .invalidDocument, message: "the document of a download cannot be used: \(reason)", isBeforeSending: true)
  }
}
