// Package containers attacks a cluster of the store in Docker containers: kills, pauses and network
// partitions by the container engine instead of signals and proxies. The cluster and the attack are
// in the tests, which `make test-containers` runs; it is a module of its own, so that nobody who
// uses shardproof takes in what containers need.
//
// Promise: without Docker the test fails with a sentence that says what is missing. Everything that
// it starts ends with it: containers, networks and the image's containers carry its label.
//
// Refusal: it needs no registry and no network beyond the container engine, and judges only what
// clients saw.
package containers
