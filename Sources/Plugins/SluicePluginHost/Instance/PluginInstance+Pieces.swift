import CSluice
import SluiceMessages
package import SluicePipeline

// Calls the plugin's table `sluice.body/1`, which handles bodies piece by piece.
extension PluginInstance {
  package func interceptPiece(
    _ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8]
  ) -> PieceVerdict {
    guard let function = bodyCalls.on_chunk else { return .pass }
    return pieceCall(exchange, side, &output) { name in
      piece.withUnsafeBufferPointer { function(handle, name, side.number, sluice_bytes($0)) }
    }
  }

  package func interceptBodyEnd(
    _ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]
  ) -> PieceVerdict {
    if let failure = passTrailers(exchange, side, &output) { return .fail(failure) }
    guard let function = bodyCalls.on_end else { return .pass }
    return pieceCall(exchange, side, &output) { function(handle, $0, side.number) }
  }

  /// Passes each trailer field to the plugin, and removes those that the plugin takes.
  private func passTrailers(_ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]) -> StageFailure? {
    guard let function = bodyCalls.on_trailer, let trailers = exchange.trailers(of: side) else { return nil }
    var taken: [Int] = []
    for index in trailers.indices {
      let verdict = pieceCall(exchange, side, &output, isTrailer: true) { name in
        trailers.buffer.withUnsafeBufferPointer { bytes in
          function(
            handle, name, side.number, sluice_text(UnsafeBufferPointer(rebasing: bytes[trailers.nameRange(at: index)])),
            sluice_text(UnsafeBufferPointer(rebasing: bytes[trailers.valueRange(at: index)])))
        }
      }
      switch verdict {
      case .pass: break
      case .taken: taken.append(index)
      case .suspended: return .fault("on_trailer must not suspend")
      case .fail(let failure), .fault(let failure): return failure
      }
    }
    // The calls can have added fields only at the end of the list, so the indices in `taken` are still valid.
    for index in taken.reversed() { exchange.removeTrailer(at: index, of: side) }
    return nil
  }

  private func pieceCall(
    _ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8], isTrailer: Bool = false,
    _ body: (OpaquePointer?) -> sluice_body_verdict
  ) -> PieceVerdict {
    withTurn {
      var context = CallContext(self, exchange, side == .request ? .requestPiece : .responsePiece)
      context.isTrailer = isTrailer
      let verdict = withUnsafeMutablePointer(to: &output) { output in
        context.output = output
        return CallContext.push(&context) { body(OpaquePointer(bitPattern: $0.pointee.name)) }
      }
      return settlePiece(verdict, context, exchange)
    } ?? .fault(.noTurn)
  }

  private func settlePiece(
    _ verdict: sluice_body_verdict, _ context: borrowing CallContext, _ exchange: Exchange
  ) -> PieceVerdict {
    let details = context.hasDetails ? existingRecord(exchange)?.takeDetails() : nil
    switch Int(verdict) {
    case Int(SLUICE_BODY_VERDICT_PASS): return .pass
    case Int(SLUICE_BODY_VERDICT_TAKEN): return .taken
    case Int(SLUICE_BODY_VERDICT_FAIL): return .fail(details?.failure ?? .withoutReason)
    case Int(SLUICE_BODY_VERDICT_SUSPENDED):
      if context.token != nil { return .suspended }
      hostHandle.report(.suspendedWithoutToken)
      return .fault(.fault("it answered SUSPENDED without having taken a token with suspend"))
    default:
      hostHandle.report(.unknownVerdict, "\(verdict)")
      return .fault(.fault("it answered \(verdict) to a piece, which is not a verdict"))
    }
  }
}

extension Exchange {
  /// Returns nil if the message has no trailers.
  fileprivate func trailers(of side: MessageSide) -> HeaderFields? {
    if side == .response { return responseForms.native?.trailers }
    return requestForms.native.hasTrailers ? requestForms.native.trailers : nil
  }

  fileprivate func removeTrailer(at index: Int, of side: MessageSide) {
    if side == .request {
      requestForms.native.trailers.remove(at: index)
      requestForms.dropView()
    } else {
      responseForms.native?.trailers.remove(at: index)
    }
  }
}

extension MessageSide {
  fileprivate var number: sluice_side {
    self == .request ? sluice_side(SLUICE_SIDE_REQUEST) : sluice_side(SLUICE_SIDE_RESPONSE)
  }
}
