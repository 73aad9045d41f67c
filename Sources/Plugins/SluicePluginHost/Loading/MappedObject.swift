import CLinux
import SluiceMessages

/// A library as the dynamic loader has mapped it.
struct MappedObject {
  /// The offset that the loader added to the library's own addresses (`l_addr`).
  let loadAddress: UInt
  /// The build id in hexadecimal. It is read from memory, not from a file.
  let buildID: String?

  /// The library that has the address in one of its segments.
  static func containing(_ address: UnsafeRawPointer) -> MappedObject? {
    var library = sluice_mapped_library()
    guard sluice_mapped_library_at(address, &library) != 0 else { return nil }
    let buildID = UnsafeBufferPointer(start: library.build_id, count: library.build_id_size)
    return MappedObject(
      loadAddress: UInt(library.load_address), buildID: buildID.isEmpty ? nil : buildID.hexadecimal)
  }

  static func buildID(ofHandle handle: UnsafeMutableRawPointer) -> String? {
    var section: UnsafeRawPointer?
    guard sluice_handle_dynamic_section(handle, &section) != 0, let section else { return nil }
    return containing(section)?.buildID
  }

  /// The load address of a library that `dlopen` returned.
  static func loadAddress(ofHandle handle: UnsafeMutableRawPointer) -> UInt? {
    var address: UInt = 0
    return sluice_handle_load_address(handle, &address) != 0 ? address : nil
  }
}
