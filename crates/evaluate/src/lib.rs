//! What shall be run? The registry of metrics, suites and the driver.
