module sluice-peers/net-http

go 1.19
