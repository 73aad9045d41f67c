// A program that imports the bridge names the client, its configuration and Foundation's types too.
@_exported public import Foundation
@_exported public import FoundationNetworking
@_exported public import SluiceClient
