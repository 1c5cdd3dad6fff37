#!/bin/sh
# aggbench lab: what it refuses, what it prints, and how it ends when it is interrupted. In full: test_labs.sh.
. "$(dirname "$0")/command.sh"
. "$(dirname "$0")/lab.sh"

run lab
has list_names_each_lab_and_what_it_heeds "$work/out" chase bandwidth contention sharing calibrate pages numa 'heeds --seconds'
refused 2 "lab: chse: no such lab: did you mean chase" lab chse
refused 2 "lab: --pages: contention does not heed it" lab contention --pages 4k
refused 2 "--seconds: 0|1..3600" lab chase --seconds 0
refused 2 "--working-set: 7|65536" lab chase --working-set 7
refused 2 "--pin: 99999|allowed are" lab chase --pin 99999 --quiet
case $BUILD in
*address* | *thread*) skip bandwidth_without_memory 'a sanitizer needs more address space than that' ;;
*)  (
        ulimit -v 200000
        refused 1 "lab: bandwidth: 256 MiB: Cannot allocate memory|ulimit -v" lab bandwidth --quiet --format json
        exit $failed
    ) || failed=1 ;;
esac
refused 1 "lab: bandwidth|are needed" lab bandwidth --working-set 1000G --quiet --format json
refused 2 "--pin: 1 processor for 2 threads" lab sharing --threads 2 --pin 0 --quiet

run lab chase $short --hops 1000 --working-set 256K --pages 4k
has a_lab_says_what_to_expect_what_it_showed_and_its_limits "$work/out" 'predict ' '256 KiB' 'random, 4 KiB' 'L1d' 'chains at once' 'found ' 'limits ' 'machine '
run lab chase --hops 1 --working-set 64K --quiet
[ "$code" = 0 ] || grep -q 'no time that the clock can see' "$work/err"
report one_hop_is_measured_or_refused_by_name "$([ $? = 0 ] || cat "$work/err")"

run lab runq $short
has the_window_of_runq_is_as_long_as_asked "$work/out" 'within 1.' 'Coverage' 'never read'

taskset -c "$(taskset -pc $$ | sed 's/.*[:,-] *//')" "$aggbench" lab contention $short --format csv --output "$work/one.csv"
has csv_goes_to_a_file "$work/one.csv" 'lab,part,title,series,x' 'contention,chart,"counting together","sharded",1,'
report one_allowed_processor_means_one_thread "$(grep '^contention,chart' "$work/one.csv" | cut -d, -f5 | grep -v '^1$')"
interrupt INT chase
interrupt TERM bandwidth
exit $failed
