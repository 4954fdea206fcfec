//! Refuses settings with which the site could not work, before it begins, in the words of the person who set them.

use std::path::Path;

use anyhow::bail;
use lettre::SmtpTransport;
use lettre::message::Mailbox;

use super::Settings;
use crate::accounts::providers;
use crate::web::network;

/// The largest number of a setting.
const MOST: i64 = i32::MAX as i64;

/// The most connections, jobs at once, and threads.
const MOST_AT_ONCE: usize = 1_000;

/// The least address space of a job in MiB: with less, its threads cannot start.
const LEAST_MEMORY: u64 = 256;

impl Settings {
    /// Refuses what cannot be meant.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if !["invitation", "open"].contains(&self.registration.as_str()) {
            bail!("registration is `invitation` or `open`, not `{}`", self.registration);
        }
        self.check_numbers()?;
        self.log_filter()?;
        self.check_folders()?;
        self.check_addresses()?;
        providers::check(&self.providers)?;
        self.check_mail()
    }

    fn check_numbers(&self) -> anyhow::Result<()> {
        let least_one = [
            ("session_days", self.session_days),
            ("lease_seconds", self.lease_seconds),
            ("connections", self.connections.into()),
            ("job_seconds", self.job_seconds.cast_signed()),
            ("job_memory_mib", self.job_memory_mib.cast_signed()),
            ("upload_mib", self.upload_mib.cast_signed()),
            ("unpacked_mib", self.unpacked_mib.cast_signed()),
            ("requests_per_minute", self.requests_per_minute.into()),
            ("sign_ins_per_minute", self.sign_ins_per_minute.into()),
            ("uploads_per_minute", self.uploads_per_minute.into()),
        ];
        let numbers = self.numbers.iter().map(|(name, value)| (*name, *value));
        let least_one: Vec<(&str, i64)> = least_one.into_iter().chain(numbers).collect();
        if let Some((name, value)) = least_one.iter().find(|(_, value)| *value < 1) {
            bail!("{name} is at least 1, not {value}");
        }
        // Beyond, sums of bytes and milliseconds would not fit.
        if let Some((name, value)) = least_one.iter().find(|(_, value)| *value > MOST) {
            bail!("{name} is at most {MOST}, not {value}");
        }
        if self.job_memory_mib < LEAST_MEMORY {
            bail!(
                "job_memory_mib is at least {LEAST_MEMORY}, not {}: jobs could not start",
                self.job_memory_mib
            );
        }
        let counts = [
            ("connections", self.connections as usize),
            ("workers", self.workers),
            ("threads", self.threads),
        ];
        if let Some((name, value)) = counts.into_iter().find(|(_, value)| *value > MOST_AT_ONCE) {
            bail!("{name} is at most {MOST_AT_ONCE}, not {value}");
        }
        if !(-1..24).contains(&self.backup_hour) {
            bail!("backup_hour is 0 to 23, or -1 for no nightly backups, not {}", self.backup_hour);
        }
        Ok(())
    }

    fn check_folders(&self) -> anyhow::Result<()> {
        if !self.capeval_data.is_empty() && !Path::new(&self.capeval_data).is_dir() {
            bail!("capeval_data names a folder, and `{}` is none", self.capeval_data);
        }
        let is_fit = |folder: &&String| Path::new(folder).parent().is_some() && Path::new(folder).is_dir();
        if let Some(folder) = self.program_folders.iter().find(|folder| !is_fit(folder)) {
            bail!("program_folders names folders below `/`, such as /usr, and `{folder}` is none");
        }
        // The folder itself is created with the first backup.
        let parent = Path::new(&self.backup_folder).parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            bail!("backup_folder lies in `{}`, which is no folder", parent.display());
        }
        Ok(())
    }

    fn check_addresses(&self) -> anyhow::Result<()> {
        if let Some(proxy) = self.proxies.iter().find(|proxy| network::Range::parse(proxy).is_none()) {
            bail!("proxies are IP addresses or networks such as 10.0.0.0/8, and `{proxy}` is neither");
        }
        for (name, address) in [("listen", &self.listen), ("metrics_listen", &self.metrics_listen)] {
            let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port);
            let is_address = port.is_some_and(|port| port.parse::<u16>().is_ok());
            if !address.is_empty() && !is_address {
                bail!("{name} is an address with a port such as 127.0.0.1:9090, not `{address}`");
            }
        }
        let host = ["http://", "https://"].iter().find_map(|scheme| self.public_url.strip_prefix(scheme));
        let is_host = |host: &str| {
            !host.is_empty() && !host.contains(|c: char| "/?#@".contains(c) || c.is_whitespace())
        };
        if !self.public_url.is_empty() && !host.is_some_and(|host| is_host(host.trim_end_matches('/'))) {
            bail!(
                "public_url is http:// or https:// with the name of the site and no path, not `{}`",
                self.public_url
            );
        }
        Ok(())
    }

    fn check_mail(&self) -> anyhow::Result<()> {
        if self.sends_mail() && self.mail_from.is_empty() {
            bail!("smtp needs mail_from, the address that mail comes from");
        }
        // The address holds a password.
        if self.sends_mail() && SmtpTransport::from_url(&self.smtp).is_err() {
            bail!("smtp is smtps://name:secret@host or smtp://name:secret@host:587?tls=required");
        }
        if !self.mail_from.is_empty() && self.mail_from.parse::<Mailbox>().is_err() {
            bail!(
                "mail_from is an address such as `Captions <no-reply@example.org>`, not `{}`",
                self.mail_from
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_to_listen_on_have_a_port() {
        let checked = |listen: &str, metrics: &str| {
            Settings { listen: listen.to_owned(), metrics_listen: metrics.to_owned(), ..Settings::default() }
                .check()
        };
        for good in ["127.0.0.1:0", "[::1]:9090", "localhost:80"] {
            checked(good, "").unwrap();
            checked("127.0.0.1:80", good).unwrap();
        }
        for wrong in ["xyz", ":80", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000"] {
            assert!(checked("127.0.0.1:80", wrong).unwrap_err().to_string().contains("metrics_listen"));
            assert!(checked(wrong, "").is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_that_cannot_be_meant_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (wrong, words) in [
            ("titel = 'Ours'", "titel"),
            ("backup_hour = 24", "backup_hour is 0 to 23"),
            ("backup_hour = -2", "backup_hour is 0 to 23"),
            ("proxies = ['localhost']", "`localhost` is neither"),
            ("proxies = ['10.0.0.0/33']", "`10.0.0.0/33` is neither"),
            ("upload_mib = 0", "upload_mib is at least 1, not 0"),
            ("requests_per_minute = 0", "requests_per_minute is at least 1, not 0"),
            ("upload_mib = 9007199254740991", "upload_mib is at most 2147483647"),
            ("public_url = 'https://'", "public_url is http:// or https:// with the name of the site"),
            ("public_url = 'httpx'", "not `httpx`"),
            ("public_url = 'https://example.org/captions'", "no path, not `https://example.org/captions`"),
            ("proxies = ['2001:db8::/129']", "`2001:db8::/129` is neither"),
            ("proxies = ['fe80::1%eth0']", "`fe80::1%eth0` is neither"),
            ("lease_seconds = -5", "lease_seconds is at least 1, not -5"),
            ("capeval_data = '/nowhere/at/all'", "`/nowhere/at/all` is none"),
            ("program_folders = ['/usr', '/']", "`/` is none"),
            ("program_folders = ['/nowhere/at/all']", "`/nowhere/at/all` is none"),
            ("backup_folder = '/nowhere/at/all'", "`/nowhere/at`, which is no folder"),
            ("log = 'inof'", "`inof` is neither"),
            ("log = 'warn,capeval_server'", "`capeval_server` is neither"),
            ("log = ''", "log is a level (error, warn, info, debug, trace, off)"),
            ("log = 'capeval=inof'", "the setting `log`"),
            ("job_memory_mib = 1", "job_memory_mib is at least 256, not 1"),
            ("connections = 100000000", "connections is at most 1000"),
            ("threads = 999999999", "threads is at most 1000"),
            ("workers = 5000", "workers is at most 1000"),
            ("mail_from = 'Captions'", "mail_from is an address such as"),
            ("mail_from = 'a@b.org'\nsmtp = 'nonsense'", "smtp is smtps://"),
            ("mail_from = 'a@b.org'\nsmtp = 'http://a:word@b.org'", "smtp is smtps://"),
        ] {
            std::fs::write(folder.path().join("server.toml"), wrong).unwrap();
            let error = Settings::load(folder.path(), None, |_| None).unwrap_err();
            assert!(format!("{error:#}").contains(words), "{wrong}: {error:#}");
        }
        let right = "workers = 0\nthreads = 0\nproxies = ['10.0.0.0/8', '::1', '2001:db8::/32']\nbackup_folder = 'backups'\n\
                     public_url = 'https://example.org:8443/'\nlog = 'WARN,capeval=debug'\n\
                     mail_from = 'Captions <no-reply@example.org>'\nsmtp = 'smtp://a:b@example.org:587?tls=required'\n";
        std::fs::write(folder.path().join("server.toml"), right).unwrap();
        Settings::load(folder.path(), None, |_| None).unwrap();
    }
}
