//! What do numbers mean together? Exact sums, tables of statistics.
