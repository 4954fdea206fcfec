#!/usr/bin/env bash
# Compares a system with a baseline, adds the table to the summary of the job, and ends with 1 if the system is worse.
# REFERENCES, BASELINE, CANDIDATE and MEASURES are set by action.yml; REQUIRE is not-worse or better.
set -euo pipefail
summary="${GITHUB_STEP_SUMMARY:-/dev/stdout}"
metrics="${METRICS:-cider-d}"
code=0
table=$(capeval compare -q -r "$REFERENCES" "base=$BASELINE" "new=$CANDIDATE" -m "$metrics" --require "${REQUIRE:-not-worse}" \
  --on "${MEASURES:-$metrics}" -f markdown) || code=$?
{
  echo "### Captions compared with the baseline"
  echo
  echo "$table"
} >> "$summary"
exit "$code"
