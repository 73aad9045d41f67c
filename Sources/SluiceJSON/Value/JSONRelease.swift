import CJansson

/// Releasing a reference. `json_decref` recurses into what goes with a value, without a limit; a value that is nested too
/// deep for that is taken apart level by level.
enum JSONRelease {
  @inline(__always)
  static func release(_ json: UnsafeMutablePointer<json_t>) {
    if json.isContainer, sluice_json_references(json) == 1, !isFlat(json) { return takeApart(json) }
    json_decref(json)
  }

  /// Whether what goes with the value is nested within the limit. Nobody else can reach that, so looking at it is safe;
  /// what others hold too is not looked at, and makes the answer no, because it may go with its second reference here.
  @inline(never)
  private static func isFlat(_ json: UnsafeMutablePointer<json_t>) -> Bool {
    var walk = JSONWalk(json, entersShared: false)
    while walk.next() != nil {
      if walk.depth > JSONValue.depthLimit || walk.isShared { return false }
    }
    return true
  }

  /// Empties each container before its last reference goes, so that none goes with another inside.
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

  /// With a reference each, so that emptying their container leaves them.
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
