// A program that imports the bridge can also name the types of the client, its configuration and Foundation.
@_exported public import Foundation
@_exported public import FoundationNetworking
@_exported public import SluiceClient
