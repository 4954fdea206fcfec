//! Metrics for Prometheus: the counts of this process, and gauges that are read when it asks.

use std::fmt;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::prometheus_text;
pub use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::{process, records};
use crate::app::App;
use crate::backup::nightly;
use crate::counts::Labels;
use crate::{clock, feature, space};

/// All metrics as text. Without a database, those of the process.
pub async fn exposition(app: &App) -> Result<String, fmt::Error> {
    let mut registry = Registry::default();
    process::register(&mut registry);
    let own = registry.sub_registry_with_prefix("capeval");
    let version = labels([("version", env!("CARGO_PKG_VERSION")), ("database", app.store.kind())]);
    gauge(own, "build_info", None, "The program that runs", [(version, 1.0)]);
    app.counts.register(own);
    of_pools(app, own);
    of_disks(app, own);
    let found = tokio::select! {
        found = records::read(&app.store, app.features) => found.ok(),
        () = app.store.away() => None,
    };
    let up = f64::from(u8::from(found.is_some()));
    gauge(own, "database_up", None, "Whether the database answers", [(Labels::new(), up)]);
    if let Some(found) = found {
        of_rows(app, &found, own);
    }
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)?;
    Ok(text)
}

fn of_pools(app: &App, registry: &mut Registry) {
    let pools = app.store.pools();
    let connections = pools.iter().flat_map(|pool| {
        let idle = pool.idle.min(pool.open);
        let of = |state| labels([("pool", pool.name), ("state", state)]);
        [(of("idle"), idle as f64), (of("used"), (pool.open - idle) as f64)]
    });
    gauge(registry, "database_connections", None, "Open connections to the database", connections);
    let most = pools.iter().map(|pool| (labels([("pool", pool.name)]), pool.most as f64));
    gauge(registry, "database_connections_max", None, "The most connections to the database", most);
}

fn of_disks(app: &App, registry: &mut Registry) {
    let folders = [("data", app.folder.clone()), ("backups", nightly::folder(app))];
    let spaces: Vec<_> = folders
        .iter()
        .filter_map(|(name, folder)| Some((labels([("folder", *name)]), space::of(folder)?)))
        .collect();
    let bytes = Some(Unit::Bytes);
    let free = spaces.iter().map(|(labels, space)| (labels.clone(), space.free as f64));
    gauge(registry, "disk_free", bytes.clone(), "Free space on the disk of a folder", free);
    let size = spaces.iter().map(|(labels, space)| (labels.clone(), space.size as f64));
    gauge(registry, "disk_size", bytes, "Size of the disk of a folder", size);
    let newest = nightly::days(&nightly::folder(app)).ok().and_then(|days| days.last().copied());
    let newest = newest.map(|day| (Labels::new(), (day * clock::DAY / 1000) as f64));
    let help = "The day of the newest nightly backup";
    gauge(registry, "backup_newest_timestamp", Some(Unit::Seconds), help, newest);
}

fn of_rows(app: &App, found: &records::StateCounts, registry: &mut Registry) {
    let jobs = feature::works(app.features).into_iter().flat_map(|work| {
        records::OPEN.map(|state| {
            let is_this = |row: &&records::Jobs| row.kind == work.kind() && row.state == state;
            let number = found.jobs.iter().find(is_this).map_or(0, |row| row.number);
            (labels([("kind", work.kind()), ("state", state)]), number as f64)
        })
    });
    gauge(registry, "jobs", None, "Jobs that wait or run, of all processes", jobs);
    let waits = found.waits.iter().map(|(name, ms)| (labels([("priority", *name)]), *ms as f64 / 1000.0));
    let help = "Time for which the next job has been due";
    gauge(registry, "job_wait", Some(Unit::Seconds), help, waits);
    for (of, rows) in &found.rows {
        let rows = rows.iter().map(|(value, number)| (labels([(of.label, value.as_str())]), *number as f64));
        gauge(registry, of.name, None, of.help, rows);
    }
    let unsent = found.unsent.iter().map(|(state, number)| (labels([("state", *state)]), *number as f64));
    gauge(registry, "outbox_messages", None, "Messages that are not sent: waiting, or given up", unsent);
}

fn labels<const N: usize>(labels: [(&'static str, &str); N]) -> Labels {
    labels.map(|(name, value)| (name, value.to_owned())).into()
}

fn gauge(
    registry: &mut Registry,
    name: &str,
    unit: Option<Unit>,
    help: &str,
    values: impl IntoIterator<Item = (Labels, f64)>,
) {
    let family = Family::<Labels, Gauge<f64, AtomicU64>>::default();
    for (labels, value) in values {
        family.get_or_create(&labels).set(value);
    }
    match unit {
        Some(unit) => registry.register_with_unit(name, help, unit, family),
        None => registry.register(name, help, family),
    }
}
