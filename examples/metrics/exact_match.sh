# Answers 1 for a caption that is one of its references, whatever the case, and otherwise 0.
exec jq --unbuffered --compact-output '
  (.candidate | ascii_downcase) as $candidate
  | { id, scores: { "exact-match": (if any(.references[]; ascii_downcase == $candidate) then 1 else 0 end) } }'
