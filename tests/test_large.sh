#!/bin/sh
# SPDX-License-Identifier: MIT
# A text column of more than 4 GiB, through a pipe: no length or offset may stop at 32 bits. It takes 5 GB of memory and
# half a minute, so it runs only where AGB_LARGE=1 asks for it: AGB_LARGE=1 make test T=large
. "$(dirname "$0")/command.sh"

if [ "${AGB_LARGE:-}" != 1 ]; then
    skip a_column_of_more_than_4_GiB 'AGB_LARGE=1 make test T=large runs it'
    exit 0
fi

# 4,400 rows of 1 MiB; the first, one in the middle and the last begin with a word of their own.
rows() {
    awk 'BEGIN { for (text = "x"; length(text) < 1048576; text = text text); print "URL"
                 for (i = 1; i <= 4400; i++)
                     print (i == 1 ? "a first" : i == 4200 ? "a later" : i == 4400 ? "a last" : "b" i) text }'
}

rows | "$aggbench" run - --group-by URL --where "URL < 'b'" --aggregator naive $quick --warmup 0 --no-twin \
    --counters off --groups "$work/groups" --output "$work/report" 2>"$work/err"
cut -c 1-12 "$work/groups" >"$work/got"
golden keys_beyond_4_GiB_keep_their_beginnings <<EOF
key,count
a firstxxxxx
a lastxxxxxx
a laterxxxxx
EOF
awk 'NR > 1 { print length($0) }' "$work/groups" >"$work/got"
golden and_their_ends <<EOF
1048585
1048584
1048585
EOF
exit $failed
