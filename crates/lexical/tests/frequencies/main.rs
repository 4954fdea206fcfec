//! Tables of document frequencies: counting, searching, merging, saving, and pickles from other programs.

mod golden;
mod pickles;
mod tables;
