//! The look that all pages share, reports and sites alike: palette, style, mark, and drawings as SVG.
//!
//! A drawing takes its colours from classes of [`STYLE`], so it fits a light page, a dark one and paper, and needs no
//! style of its own, which the policies of pages forbid. It is hidden from screen readers: [`Figure`] says what it
//! shows.
//!
//! The server draws with this module without importing `pages`, whose script and data blocks a site does not need. The
//! 400 lines and two templates of charts replace plotters and its 24 packages, whose colours had to be replaced in
//! finished SVG.

mod chart;
mod escape;
mod figure;
mod forest;

pub use chart::{Axis, COLOURS, Chart, Colour, Dot, Group, Mean, SQUARES, Series};
pub use escape::Text;
pub use figure::Figure;
pub use forest::{Estimate, Forest};

/// The style of all pages: colours, letters, tables, forms and drawings. A page adds its own after it.
pub const STYLE: &str = concat!(
    ":root {\n",
    include_str!("../../assets/light.css"),
    "}\n@media (prefers-color-scheme: dark) {\n:root:not([data-theme=\"light\"]) {\n",
    include_str!("../../assets/dark.css"),
    "}\n}\n:root[data-theme=\"dark\"] {\n",
    include_str!("../../assets/dark.css"),
    "}\n",
    include_str!("../../assets/look.css"),
    // Paper is white, whatever the theme.
    "@media print {\n:root:root:root {\ncolor-scheme: light;\n",
    include_str!("../../assets/light.css"),
    "}\n}\n",
);

/// The mark of capeval, a drawing of its own for a dark and a light background.
pub const MARK: &str = include_str!("../../assets/mark.svg");
