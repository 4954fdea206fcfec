//! How is it shown? Renderers of a report.
