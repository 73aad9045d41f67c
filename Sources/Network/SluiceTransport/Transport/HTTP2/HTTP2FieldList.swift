package import CNGHTTP2
package import SluiceMessages

/// A list of fields in the form that nghttp2 takes. Because nghttp2 copies the bytes, one list serves many messages, one
/// after the other.
package struct HTTP2FieldList {
  private struct Place {
    let name: Range<Int>
    let value: Range<Int>
    let isSecret: Bool
  }

  private var bytes: [UInt8] = []
  private var places: [Place] = []

  /// The list's memory is kept for the next message if it is not larger than this.
  private static let keptBytes = 65_536

  package init() {}

  package mutating func removeAll() {
    let keeps = bytes.capacity <= Self.keptBytes
    bytes.removeAll(keepingCapacity: keeps)
    places.removeAll(keepingCapacity: keeps)
  }

  /// - Parameter name: in lower case.
  package mutating func append(_ name: StaticString, _ value: Span<UInt8>, prefix: [UInt8] = []) {
    let start = bytes.count
    bytes.append(name)
    let end = bytes.count
    bytes.append(contentsOf: prefix)
    bytes.append(copying: value)
    places.append(Place(name: start..<end, value: end..<bytes.count, isSecret: false))
  }

  /// Appends a number that is not negative.
  package mutating func append(_ name: StaticString, decimal number: Int) {
    let start = bytes.count
    bytes.append(name)
    let end = bytes.count
    bytes.append(decimal: number)
    places.append(Place(name: start..<end, value: end..<bytes.count, isSecret: false))
  }

  /// Appends the fields whose name is not left out. HTTP/2 has names in lower case (RFC 9113 §8.2.1).
  package mutating func append(_ fields: borrowing HeaderFields, except isLeftOut: (Span<UInt8>) -> Bool) {
    for index in fields.indices {
      let name = fields.buffer.span.extracting(fields.nameRange(at: index))
      if isLeftOut(name) { continue }
      append(
        name, fields.buffer.span.extracting(fields.valueRange(at: index)),
        isSecret: fields.marks(at: index).contains(.sensitive))
    }
  }

  private mutating func append(_ name: Span<UInt8>, _ value: Span<UInt8>, isSecret: Bool) {
    let start = bytes.count
    bytes.append(addingCapacity: name.count + value.count) { output in
      for index in name.indices { output.append(name[index].asciiLowercased) }
      output.append(copying: value)
    }
    let end = start + name.count
    places.append(Place(name: start..<end, value: end..<bytes.count, isSecret: isSecret))
  }

  /// Passes the list to a function of nghttp2 that copies it.
  package mutating func withFields<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
    bytes.withUnsafeMutableBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: places.count) { list in
        for (index, place) in places.enumerated() {
          let flags = place.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
          list.initializeElement(
            at: index,
            to: nghttp2_nv(
              name: bytes.baseAddress.map { $0 + place.name.lowerBound },
              value: bytes.baseAddress.map { $0 + place.value.lowerBound }, namelen: place.name.count,
              valuelen: place.value.count, flags: UInt8(flags.rawValue)))
        }
        return body(list.baseAddress, places.count)
      }
    }
  }

  /// The names and the values, in their order.
  var lines: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
    places.map { (bytes[$0.name], bytes[$0.value]) }
  }
}
