import CJansson

/// Releases references. `json_decref` recurses without a limit into everything that is released with a value. So this
/// code empties a deeply nested value level by level, before it releases the value.
enum JSONRelease {
  /// A value with more levels than this is released level by level. Messages have few levels.
  private static let levelsAtOnce = 32

  @inline(__always)
  static func release(_ json: UnsafeMutablePointer<json_t>) {
    if json.isContainer, sluice_json_references(json) == 1, !isFlat(json, levels: levelsAtOnce) {
      return takeApart(json)
    }
    json_decref(json)
  }

  /// Whether everything that is released with a container has at most `levels` levels, the container included. No other
  /// thread can reach these values, so it is safe to inspect them. A nested container that has further references is
  /// not inspected. It makes the result false, because its other references may be dropped first, and this release then
  /// drops the last one.
  private static func isFlat(_ container: UnsafeMutablePointer<json_t>, levels: Int) -> Bool {
    if container.pointee.type == JSON_ARRAY {
      for index in 0..<json_array_size(container) {
        if let child = json_array_get(container, index), !isFlat(child: child, levels) { return false }
      }
      return true
    }
    var position = json_object_iter(container)
    while let at = position {
      if let child = json_object_iter_value(at), !isFlat(child: child, levels) { return false }
      position = json_object_iter_next(container, at)
    }
    return true
  }

  @inline(__always)
  private static func isFlat(child: UnsafeMutablePointer<json_t>, _ levels: Int) -> Bool {
    guard child.isContainer else { return true }
    return levels > 1 && sluice_json_references(child) == 1 && isFlat(child, levels: levels - 1)
  }

  /// Empties each container before its last reference is dropped, so that no container is released with another inside.
  private static func takeApart(_ json: UnsafeMutablePointer<json_t>) {
    var pending = [json]
    while let container = pending.popLast() {
      if sluice_json_references(container) == 1 {
        moveContainers(of: container, to: &pending)
        _ = container.pointee.type == JSON_ARRAY ? json_array_clear(container) : json_object_clear(container)
      }
      json_decref(container)
    }
  }

  /// Takes a reference to each nested container, so that it survives when the outer container is emptied.
  private static func moveContainers(
    of container: UnsafeMutablePointer<json_t>, to pending: inout [UnsafeMutablePointer<json_t>]
  ) {
    if container.pointee.type == JSON_ARRAY {
      for index in 0..<json_array_size(container) {
        if let child = json_array_get(container, index), child.isContainer { pending.append(json_incref(child)) }
      }
      return
    }
    var position = json_object_iter(container)
    while let at = position {
      if let child = json_object_iter_value(at), child.isContainer { pending.append(json_incref(child)) }
      position = json_object_iter_next(container, at)
    }
  }
}
