#!/bin/bash -eu
# The native fuzz targets of Go, each as a program for libFuzzer; ci/fleet has a test that none is
# missing. The package that rewrites them for libFuzzer must be in the module's graph.
go get github.com/AdamKorcz/go-118-fuzz-build/testing

module=github.com/shardproof/shardproof
compile_native_go_fuzzer $module/faults/terms FuzzTerms fuzz_terms
compile_native_go_fuzzer $module/harness/search FuzzScenario fuzz_search_scenario
compile_native_go_fuzzer $module/histories FuzzRead fuzz_histories_read
compile_native_go_fuzzer $module/histories FuzzReadEvents fuzz_histories_read_events
compile_native_go_fuzzer $module/histories/formats FuzzCheck fuzz_formats_check
compile_native_go_fuzzer $module/histories/scenario FuzzParse fuzz_scenario_parse
compile_native_go_fuzzer $module/system/live/tcp FuzzConnection fuzz_tcp_connection
compile_native_go_fuzzer $module/system/live/tcp FuzzFrame fuzz_tcp_frame
compile_native_go_fuzzer $module/system/wire/frame FuzzRead fuzz_wire_read
