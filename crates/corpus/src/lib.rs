//! Who said what of which image? Caption files, ids and alignment.
