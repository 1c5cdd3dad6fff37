# SPDX-License-Identifier: MIT
# For test scripts to source: lines as the test programs print them, for tests/run to count. The script ends with
# `exit $failed`.
failed=0

report() {    # report NAME PROBLEM: an empty problem is success
    if [ -z "$2" ]; then
        echo "[       OK ] $1"
    else
        echo "[  FAILED  ] $1: $2"
        failed=1
    fi
}

skip() {    # skip NAME REASON
    echo "skipped: $2"
    echo "[  SKIPPED ] $1"
}
