// Go's net/http as a peer of sluice-bench: the same requests, as a program in Go sends them.
//
// usage: net-http [-middleware] [-authority FILE] URL CONNECTIONS [NAME: VALUE]...
//
// Reads numbers from standard input, one on each line. Sends that many requests and prints how many failed.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

type field struct{ name, value string }

// A middleware that sets one header of the request and looks for one in the response. A RoundTripper must not change the
// request (documentation of http.RoundTripper), so it changes a copy.
type middleware struct {
	next  http.RoundTripper
	field field
}

func (m middleware) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set(m.field.name, m.field.value)
	response, err := m.next.RoundTrip(request)
	if err == nil {
		response.Header.Del("X-Absent")
	}
	return response, err
}

func main() {
	hasMiddleware := flag.Bool("middleware", false, "set the headers X-… in RoundTrippers, one in each")
	authority := flag.String("authority", "", "trust the certificates in this file")
	flag.Parse()
	if flag.NArg() < 2 {
		log.Fatal("usage: net-http [-middleware] [-authority FILE] URL CONNECTIONS [NAME: VALUE]...")
	}
	url := flag.Arg(0)
	connections, err := strconv.Atoi(flag.Arg(1))
	if err != nil {
		log.Fatal(err)
	}
	transport := &http.Transport{
		MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true,
	}
	if *authority != "" {
		pem, err := os.ReadFile(*authority)
		if err != nil {
			log.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		// A configuration of TLS means HTTP/1.1, unless ForceAttemptHTTP2 is set.
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	var chain http.RoundTripper = transport
	// An empty User-Agent sends none.
	own := []field{{"Accept", "*/*"}, {"User-Agent", ""}}
	for _, line := range flag.Args()[2:] {
		name, value, _ := strings.Cut(line, ": ")
		if *hasMiddleware && strings.HasPrefix(name, "X-Benchmark-") {
			chain = middleware{chain, field{name, value}}
		} else {
			own = append(own, field{name, value})
		}
	}
	client := &http.Client{Transport: chain}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		count, err := strconv.ParseInt(input.Text(), 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(run(client, url, own, connections, count))
	}
}

// Sends requests, one at a time on each connection. Returns how many failed.
func run(client *http.Client, url string, own []field, connections int, count int64) int64 {
	left, failed := count, int64(0)
	var group sync.WaitGroup
	for i := 0; i < connections; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for atomic.AddInt64(&left, -1) >= 0 {
				if !send(client, url, own) {
					atomic.AddInt64(&failed, 1)
				}
			}
		}()
	}
	group.Wait()
	return failed
}

func send(client *http.Client, url string, own []field) bool {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return false
	}
	for _, field := range own {
		request.Header.Set(field.name, field.value)
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == 200
}
