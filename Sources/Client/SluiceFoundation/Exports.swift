// A program that imports this module can also use the types of the client, its configuration and Foundation.
@_exported public import Foundation
@_exported public import FoundationNetworking
@_exported public import SluiceClient
