// The protocols of delegates and of readers of bodies, and what their methods take and return.
@_exported public import protocol SluiceEngine.ClientCertificateDelegate
@_exported public import protocol SluiceEngine.ServerTrustDelegate
@_exported public import protocol SluiceEngine.TransactionDelegate
@_exported public import struct SluiceMessages.Challenge
@_exported public import enum SluiceMessages.ChallengeDecision
@_exported public import struct SluiceMessages.ChallengeOffer
@_exported public import struct SluiceMessages.Origin
@_exported public import struct SluiceMessages.Redirect
@_exported public import enum SluiceMessages.RedirectDecision
@_exported public import enum SluicePipeline.BodyProgress
@_exported public import protocol SluicePipeline.BodySink
@_exported public import enum SluicePipeline.ClientCertificateDecision
@_exported public import struct SluicePipeline.ClientCertificateRequest
@_exported public import struct SluicePipeline.ServerTrust
@_exported public import enum SluicePipeline.ServerTrustDecision
@_exported public import struct SluicePipeline.TransferProgress
