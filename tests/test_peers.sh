#!/bin/sh
# SPDX-License-Identifier: MIT
# The comparisons with other engines (bench/peers), on little data. What needs the engines themselves is skipped where
# they are not installed and cannot be.
set -u
. "$(dirname "$0")/reporting.sh"
: "${BUILD:?the build folder}"
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

peers() {    # peers PROGRAM ARGUMENTS...: leaves $code, $work/out and $work/err
    program=$1
    shift
    node "bench/peers/$program.mjs" --aggbench "$BUILD/aggbench" --threads 1 --pin none --rounds 2 "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

has() {    # has CODE WORDS...: the problem, if the code or one of the words is not what came out
    [ "$code" = "$1" ] || echo "exit code $code instead of $1: $(cat "$work/err")"
    shift
    for words in "$@"; do
        cat "$work/out" "$work/err" | tr -s ' \n' ' ' | grep -qF -- "$words" ||
            echo "'$words' is not in: $(cat "$work/out" "$work/err")"
    done
}

# ---- The hash maps of C++ libraries keep the contract ----
for source in bench/peers/*.cc; do
    name=$(basename "$source" .cc)
    libs=
    [ "$name" = absl_flat_hash_map ] && libs=$(pkg-config --libs absl_flat_hash_map absl_hash 2>/dev/null)
    # shellcheck disable=SC2086  # a list of words
    if g++ -std=c++17 -O1 -shared -fPIC -Iengine "$source" $libs -o "$work/$name.so" 2>"$work/err"; then
        out=$("$BUILD/aggbench" verify --plugin "$work/$name.so" "$name" 2>&1)
        report "${name}_keeps_the_contract" "$([ $? = 0 ] || echo "$out")"
    else
        skip "${name}_keeps_the_contract" "peers: $name does not compile here: $(head -n1 "$work/err")"
    fi
done

if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
    skip peers 'peers: node and npm are not there'
    exit $failed
fi

# ---- The command lines ----
peers compare --rounds 0
report rounds_have_a_range "$(has 2 'peers: --rounds: 0: allowed range is 1..1000')"
peers compare --nonsense 1
report unknown_options_are_refused "$(has 2 'peers: Unknown option' nonsense)"
peers load --rows many
report rows_are_a_number "$(has 2 'peers: --rows: many: allowed range is')"
peers compare --source "$work/nothing.parquet" --modules "$work"
report a_missing_source_is_one_sentence "$(has 1 nothing.parquet)$([ "$(wc -l <"$work/err")" = 1 ] || cat "$work/err")"

# ---- A peer whose answers are wrong, made of what duckdb.mjs calls ----
fake=$work/node_modules/@duckdb/node-api
mkdir -p "$fake"
cat >"$fake/index.js" <<'EOF'
let rows = 0n;
const chunk = (...columns) => ({ rowCount: columns[0].length,
    getColumnVector: i => ({ items: BigInt64Array.from(columns[i]), flush() {} }) });
const result = () => {
    const chunks = [chunk([7n], [rows])];
    return { fetchChunk: async () => chunks.shift() };
};
module.exports = {
    version: () => 'v0', BIGINT: {},
    DuckDBDataChunk: { create: (types, n) => chunk(new BigInt64Array(n)) },
    DuckDBInstance: { create: async () => ({ connect: async () => ({
        run: async () => result(),
        createAppender: async () => ({ appendDataChunk: part => { rows += BigInt(part.rowCount); }, closeSync() {} }),
    }) }) },
};
EOF
small='--source synth:hits,rows=20000 --aggregators naive,best,nosuch'
# shellcheck disable=SC2086
peers compare $small --modules "$work" --plugins "$work"
report a_wrong_answer_of_a_peer_is_found "$(has 1 'wrong duckdb, threads: 1: 1 groups, 20000 rows')"
report who_is_not_there_is_named_with_the_reason \
    "$(has 1 "not there polars, threads: 1: Cannot find module 'nodejs-polars'" 'not there nosuch: not a strategy')"
report the_column_is_removed "$(ls "$work"/column-* 2>/dev/null)"

printf 'duckdb polars\tnpm ci failed: no network\n' >"$work/missing"
# shellcheck disable=SC2086
peers compare $small --modules "$work" --plugins "$work/none"
report what_could_not_be_installed_is_no_failure \
    "$(has 0 'not there duckdb, threads: 1: npm ci failed: no network' 'not there std_unordered_map: ')"

node bench/peers/compare.mjs --aggbench "$BUILD/aggbench" --source synth:hits,rows=200000 --modules "$work" \
    --rounds 1000 >/dev/null 2>&1 &
child=$!
sleep 2
kill $child
wait $child
code=$?
report a_stopped_comparison_says_so "$(has 143)"
report nothing_is_left_when_it_is_stopped "$(ls "$work"/column-* 2>/dev/null)"

# ---- The real ones ----
[ -d build/peers/node_modules ] || sh bench/peers/install build/peers node >/dev/null 2>&1
if [ ! -d build/peers/node_modules ]; then
    skip peers "peers: $(tail -n1 build/peers/missing)"
    exit $failed
fi
# shellcheck disable=SC2086
peers compare $small --modules build/peers --plugins "$work" --output "$work/compare.json"
report all_peers_give_the_same_answer "$(has 0 'the same from everybody')"
report the_report_has_every_peer "$(node -e '
    const { results, answer } = JSON.parse(require("fs").readFileSync(process.argv[1]));
    for (const name of ["duckdb", "polars", "naive", "best"]) {
        const row = results.find(row => row.contestant === name);
        if (row?.state !== "ok" || row.runs.length !== 2 || !(row.wall_s.median > 0) || !(row.over_naive.ratio > 0))
            console.log(name, JSON.stringify(row));
    }
    if (answer.rows !== 20000 || results.find(row => row.contestant === "naive").over_naive.ratio !== 1)
        console.log(JSON.stringify(answer));' "$work/compare.json" 2>&1)"

peers load --modules build/peers --rows 20000 --samples "${AGB_SAMPLES:-../shared/samples}" --output "$work/load.json"
report loading_is_compared "$(has 0 'Parquet, UserID' '.agb, UserID')"
report both_sides_read_all_rows "$(node -e '
    for (const row of JSON.parse(require("fs").readFileSync(process.argv[1])).results)
        if (!(row.rows > 0 && row.rows === row.duckdb_rows && row.load_s.median > 0 && row.over_duckdb.ratio > 0))
            console.log(JSON.stringify(row));' "$work/load.json" 2>&1)"
exit $failed
