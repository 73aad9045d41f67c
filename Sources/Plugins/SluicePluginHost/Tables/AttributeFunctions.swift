import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.attributes/1`.
enum AttributeFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_attributes> = {
    let table = UnsafeMutablePointer<sluice_attributes>.allocate(capacity: 1)
    table.initialize(
      to: sluice_attributes(
        size: UInt32(MemoryLayout<sluice_attributes>.size), reserved: 0,
        set: { AttributeFunctions.set($0, $1) }, get: { AttributeFunctions.get($0, $1, $2) },
        remove: { AttributeFunctions.remove($0, $1) }, at: { AttributeFunctions.at($0, $1, $2) }))
    return UnsafePointer(table)
  }()

  private static func set(_ handle: OpaquePointer?, _ raw: UnsafePointer<sluice_attribute>?) -> sluice_status {
    CallContext.with(handle) { called in
      guard called.isAllowed(.setAttribute) else { return called.refuse(.refusedWrite, "set of an attribute") }
      guard let raw else { return called.refuse(.invalidArgument, "set without an attribute") }
      do throws(Attribute.Refusal) {
        let attribute = try Attribute(raw.pointee, texts: .refuse)
        if called.exchange.attributes.set(attribute) { return Status.ok }
        called.call.pointee.instance.hostHandle.reportLimit(
          "a transaction has at most \(AttributeList.maximumCount) attributes")
        return Status.limit
      } catch { return called.refuse(.invalidArgument, "attribute: \(error.reason)") }
    }
  }

  private static func get(
    _ handle: OpaquePointer?, _ name: sluice_text, _ place: UnsafeMutablePointer<sluice_attribute>?
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard let place else { return called.refuse(.invalidArgument, "get of an attribute: the pointer for it is NULL") }
      do throws(Attribute.Refusal) {
        let name = try Attribute.name(name)
        guard let found = called.exchange.attributes.first(where: { $0.name == name }) else { return Status.absent }
        place.pointee = sluice_attribute(found) { called.lend($0) }
        return Status.ok
      } catch { return called.refuse(.invalidArgument, "attribute: \(error.reason)") }
    }
  }

  private static func remove(_ handle: OpaquePointer?, _ name: sluice_text) -> sluice_status {
    CallContext.with(handle) { called in
      guard called.isAllowed(.setAttribute) else { return called.refuse(.refusedWrite, "remove of an attribute") }
      do throws(Attribute.Refusal) {
        return called.exchange.attributes.remove(try Attribute.name(name)) ? Status.ok : Status.absent
      } catch { return called.refuse(.invalidArgument, "attribute: \(error.reason)") }
    }
  }

  private static func at(
    _ handle: OpaquePointer?, _ index: Int, _ place: UnsafeMutablePointer<sluice_attribute>?
  ) -> sluice_status {
    CallContext.with(handle) { called in
      guard let place else { return called.refuse(.invalidArgument, "at of an attribute: the pointer for it is NULL") }
      let attributes = called.exchange.attributes
      // Swift reads a `size_t` as an `Int`: an index of more than half of the address space is negative here.
      guard attributes.indices.contains(index) else { return Status.absent }
      place.pointee = sluice_attribute(attributes[index]) { called.lend($0) }
      return Status.ok
    }
  }
}
