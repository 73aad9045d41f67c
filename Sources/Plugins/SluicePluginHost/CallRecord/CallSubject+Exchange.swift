import CLinux
import SluiceMessages
import SluicePipeline

extension CallSubject {
  /// Records that a call begins, and the transaction of the call if it has an exchange. The caller must call
  /// `sluice_end_call` when the call has ended.
  @inline(__always)
  func begin(_ number: UInt, _ callback: UInt8, _ exchange: Unmanaged<Exchange>?) {
    guard let exchange else { return sluice_begin_call(UInt64(number), pointer, 0, 0, UInt32(callback), 0) }
    exchange._withUnsafeGuaranteedRef {
      sluice_begin_call(
        UInt64(number), pointer, $0.id.high, $0.id.low, UInt32(callback), UInt32(truncatingIfNeeded: $0.attempt))
    }
  }
}
