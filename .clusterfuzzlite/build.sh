#!/bin/bash -eu
# The native fuzz targets of Go, each as a program for libFuzzer; ci/fleet has a test that none is
# missing. The package that rewrites them for libFuzzer must be in the module's graph.
go get github.com/AdamKorcz/go-118-fuzz-build/testing

module=github.com/shardproof/shardproof
compile_native_go_fuzzer $module/faults/terms FuzzTerms fuzz_terms
compile_native_go_fuzzer $module/harness/campaign FuzzParseOutcome fuzz_campaign_parse_outcome
compile_native_go_fuzzer $module/harness/campaign FuzzParsePlan fuzz_campaign_parse_plan
compile_native_go_fuzzer $module/harness/failuredb FuzzOpen fuzz_failuredb_open
compile_native_go_fuzzer $module/harness/rundir FuzzEnvironment fuzz_rundir_environment
compile_native_go_fuzzer $module/harness/search FuzzScenario fuzz_search_scenario
compile_native_go_fuzzer $module/histories FuzzRead fuzz_histories_read
compile_native_go_fuzzer $module/histories FuzzReadEvents fuzz_histories_read_events
compile_native_go_fuzzer $module/histories/formats FuzzCheck fuzz_formats_check
compile_native_go_fuzzer $module/histories/packed FuzzReader fuzz_packed_reader
compile_native_go_fuzzer $module/histories/scenario FuzzParse fuzz_scenario_parse
compile_native_go_fuzzer $module/histories/timeline FuzzRead fuzz_timeline_read
compile_native_go_fuzzer $module/histories/trace FuzzUnmarshalBinary fuzz_trace_unmarshal_binary
compile_native_go_fuzzer $module/system/codec FuzzDecode fuzz_codec_decode
compile_native_go_fuzzer $module/system/live/tcp FuzzConnection fuzz_tcp_connection
compile_native_go_fuzzer $module/system/live/tcp FuzzFrame fuzz_tcp_frame
compile_native_go_fuzzer $module/system/settings FuzzSet fuzz_settings_set
compile_native_go_fuzzer $module/system/wire/frame FuzzRead fuzz_wire_read
