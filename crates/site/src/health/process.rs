//! Figures of the system about this process, under the names that all programs use.

use prometheus_client::registry::Registry;

/// Adds what the system says to what is shown.
#[cfg(target_os = "linux")]
pub fn register(registry: &mut Registry) {
    use prometheus_client::metrics::counter::ConstCounter;
    use prometheus_client::metrics::gauge::ConstGauge;
    use prometheus_client::registry::Unit;

    let Some(found) = linux::look() else { return };
    let cpu = ConstCounter::new(found.cpu_seconds);
    registry.register_with_unit("process_cpu", "Processor time used", Unit::Seconds, cpu);
    for (name, unit, help, value) in [
        ("process_resident_memory", Some(Unit::Bytes), "Memory in use", found.resident),
        ("process_virtual_memory", Some(Unit::Bytes), "Address space in use", found.virtual_memory),
        ("process_start_time", Some(Unit::Seconds), "Start of the process, since 1970", found.start_time),
        ("process_open_fds", None, "Open files and connections", found.open_files),
        ("process_max_fds", None, "The most open files and connections", found.most_files),
        ("process_threads", None, "Threads", found.threads),
    ] {
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, ConstGauge::new(value)),
            None => registry.register(name, help, ConstGauge::new(value)),
        }
    }
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub fn register(_: &mut Registry) {}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    /// The ticks of a second in which the system tells times, on every machine that Rust's standard library runs on.
    const TICKS: f64 = 100.0;

    /// The figures of the system.
    pub struct ProcessUsage {
        pub cpu_seconds: f64,
        pub resident: f64,
        pub virtual_memory: f64,
        pub start_time: f64,
        pub open_files: f64,
        pub most_files: f64,
        pub threads: f64,
    }

    /// Asks the system; `None` if it does not answer as proc(5) says.
    pub fn look() -> Option<ProcessUsage> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in parentheses, may hold anything. State, the third field, follows it.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        let [status, limits, system] = ["self/status", "self/limits", "stat"]
            .map(|name| fs::read_to_string(format!("/proc/{name}")).unwrap_or_default());
        Some(ProcessUsage {
            cpu_seconds: (ticks(14)? + ticks(15)?) / TICKS,
            start_time: number(&system, "btime ")? + ticks(22)? / TICKS,
            threads: number(&status, "Threads:")?,
            virtual_memory: number(&status, "VmSize:")? * 1024.0,
            resident: number(&status, "VmRSS:")? * 1024.0,
            open_files: fs::read_dir("/proc/self/fd").ok()?.count() as f64,
            most_files: number(&limits, "Max open files").unwrap_or(f64::INFINITY),
        })
    }

    /// The first number of the line that begins like this.
    fn number(text: &str, begin: &str) -> Option<f64> {
        text.lines().find_map(|line| line.strip_prefix(begin))?.split_whitespace().next()?.parse().ok()
    }
}
