//! Caption evaluation, equal digit for digit to the reference programs.
