#!/bin/sh
# Runs one part of a campaign: part INDEX (from 0) of seeds that are shared out, SEEDS to each,
# beginning with FIRST. The same command goes on after an interruption. It keeps everything in
# RESULTS/part-INDEX.
#
# A broken promise is a result, not a failure of the machine: exit codes 1 and 2 become 0, so that
# no engine repeats the part. What was found is in the folder, and `shardproof merge` tells it.
set -eu
: "${INDEX:?the number of this part, from 0}"
: "${SEEDS:?how many seeds this part has}"
FIRST=${FIRST:-1}
RESULTS=${RESULTS:-results}
first=$((FIRST + INDEX * SEEDS))

code=0
"${SHARDPROOF:-shardproof}" run --first-seed "$first" --seeds "$SEEDS" --keep-going \
	--max-failures 0 --memory "$RESULTS/part-$INDEX" --continue "$@" || code=$?
case $code in
1 | 2) exit 0 ;;
*) exit $code ;;
esac
