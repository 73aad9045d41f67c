import SluiceMessages
import SluicePipeline
import Testing

@testable import SluiceTransport

@Suite struct TrustApprovalsTests {
  private let scope = HandshakePolicy.Scope(client: 1, isOfCall: false)

  @Test func `an approval is for one origin and one key`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    approvals.insert(origin, [1, 2], scope, isAccepted: true)
    #expect(approvals.contains(origin, [1, 2], scope, isValid: false))
    #expect(!approvals.contains(origin, [1, 3], scope, isValid: false))
    #expect(!approvals.contains(Origin(scheme: .https, host: "a.example", port: 444), [1, 2], scope, isValid: false))
    #expect(!approvals.contains(Origin(scheme: .https, host: "b.example"), [1, 2], scope, isValid: false))
  }

  @Test func `an approval is for one client, and the approvals of a call's delegate and the client's are separate`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    let ofCall = HandshakePolicy.Scope(client: 1, isOfCall: true)
    approvals.insert(origin, [1], ofCall, isAccepted: true)
    #expect(approvals.contains(origin, [1], ofCall, isValid: false))
    #expect(!approvals.contains(origin, [1], scope, isValid: true))
    #expect(!approvals.contains(origin, [1], HandshakePolicy.Scope(client: 2, isOfCall: true), isValid: true))
  }

  @Test func `if a delegate left the decision to the authorities, it holds only while the certificate is valid`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    approvals.insert(origin, [1], scope, isAccepted: false)
    #expect(approvals.contains(origin, [1], scope, isValid: true))
    #expect(!approvals.contains(origin, [1], scope, isValid: false))
  }

  @Test func `the number of approvals is bounded`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    for key in 0...4096 { approvals.insert(origin, [UInt8(key & 255), UInt8(key >> 8)], scope, isAccepted: true) }
    #expect(!approvals.contains(origin, [0, 0], scope, isValid: false))
    #expect(approvals.contains(origin, [0, 16], scope, isValid: false))
  }
}
