//! Settings: one TOML file, the environment over it, and options of the command line over both.

mod check;

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use capeval_files::Home;
use serde::de::{self, DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::accounts::providers::Provider;
use crate::feature;

/// The prefix of the names of all variables that stand for settings.
const PREFIX: &str = "CAPEVAL_SERVER_";

/// A setting of a feature: a number, which is at least 1.
#[derive(Debug)]
pub struct NumberSetting {
    pub name: &'static str,
    pub default: u32,
    pub about: &'static str,
}

/// The settings of the program's features.
fn numbers() -> impl Iterator<Item = &'static NumberSetting> {
    feature::joined().iter().flat_map(|feature| feature.settings.iter().copied())
}

struct SettingsVisitor;

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SettingsVisitor)
    }
}

fn variable_of(setting: &str) -> String {
    format!("{PREFIX}{}", setting.to_uppercase())
}

macro_rules! settings {
    ($($(#[secret $secret:tt])? $name:ident: $type:ty = $default:expr, $doc:literal;)*) => {
        /// The settings, each of which has a default.
        #[derive(Clone, Debug)]
        pub struct Settings {
            $(#[doc = $doc] pub $name: $type,)*
            /// Those of features that are set.
            pub numbers: BTreeMap<&'static str, i64>,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)* numbers: BTreeMap::new() }
            }
        }

        impl Settings {
            /// The name, the value and the description of each setting; passwords are not shown.
            pub fn described(&self) -> Vec<(&'static str, String, &'static str)> {
                let own = vec![$((stringify!($name), display_value(&self.$name, false $(|| $secret)?), $doc)),*];
                let numbers = numbers().map(|of| (of.name, self.number(of).to_string(), of.about));
                own.into_iter().chain(numbers).collect()
            }

            /// The variables of the environment that stand for settings.
            pub fn variables() -> Vec<String> {
                let own = [$(stringify!($name)),*].into_iter();
                own.chain(numbers().map(|number| number.name)).map(variable_of).collect()
            }

            /// Replaces settings by the variables of the environment that `variable` knows.
            fn apply(&mut self, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<()> {
                $(
                    let name = variable_of(stringify!($name));
                    if let Some(text) = variable(&name) {
                        self.$name = parse(&text).with_context(|| {
                            format!("{name} is not valid: {}", display_value(&text, false $(|| $secret)?))
                        })?;
                    }
                )*
                for number in numbers() {
                    let name = variable_of(number.name);
                    if let Some(text) = variable(&name) {
                        let value = parse(&text).with_context(|| format!("{name} is not valid: {text:?}"))?;
                        self.numbers.insert(number.name, value);
                    }
                }
                Ok(())
            }
        }

        impl<'de> Visitor<'de> for SettingsVisitor {
            type Value = Settings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("settings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings, A::Error> {
                let mut settings = Settings::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        $(stringify!($name) => settings.$name = map.next_value()?,)*
                        other => match numbers().find(|number| number.name == other) {
                            Some(number) => drop(settings.numbers.insert(number.name, map.next_value()?)),
                            None => return Err(de::Error::unknown_field(other, &[$(stringify!($name)),*])),
                        },
                    }
                }
                Ok(settings)
            }
        }
    };
}

settings! {
    listen: String = "127.0.0.1:8080".to_owned(), "address and port to listen on";
    metrics_listen: String = String::new(), "address and port for `/metrics`, `/healthz` and `/readyz` alone, also of workers; empty for `/metrics` on the site, for this machine only";
    public_url: String = String::new(), "public address of the server; with https, cookies are secure";
    title: String = "capeval".to_owned(), "name of the site";
    contact: String = String::new(), "whom people write to, an email address or a page; `/help` and `/privacy` show it";
    documentation: String = String::new(), "address of documentation for those who take part (https://…); empty for none";
    terms: String = String::new(), "terms of use of the site, in Markdown; empty for none";
    #[secret true] database: String = String::new(), "address of a PostgreSQL database (postgres://…); empty for SQLite in the data folder";
    bucket: String = String::new(), "object store for uploaded files (s3://bucket/prefix), with the feature `s3`; empty for the data folder";
    connections: u32 = 8, "maximum number of database connections; for SQLite, of concurrent readers";
    shared_folder: bool = false, "whether several servers may serve one data folder with SQLite";
    registration: String = "invitation".to_owned(), "who may create an account: invitation (with a link), open (anyone)";
    #[secret true] providers: Vec<Provider> = Vec::new(), "other sites with whose accounts people sign in";
    session_days: i64 = 30, "days until a session expires";
    workers: usize = 1, "submissions that this process scores at once, plus one that someone waits for; jobs of other kinds have workers of their own; 0 leaves all jobs to `worker` processes";
    threads: usize = 0, "threads of a job; 0 for all processors";
    lease_seconds: i64 = 60, "job lease in seconds; after that, another worker takes over";
    job_seconds: u64 = 900, "time limit of a job in seconds";
    job_memory_mib: u64 = 6144, "address space of a job in MiB";
    program_folders: Vec<String> = Vec::new(), "folders of interpreters and libraries that metrics of hosts which are programs may use in their sandbox, such as `/usr`; empty for no such metrics; Linux only";
    upload_mib: u64 = 64, "largest upload in MiB";
    unpacked_mib: u64 = 256, "largest unpacked size of an upload in MiB";
    requests_per_minute: u32 = 600, "requests per minute from one network address (IPv4 /24, IPv6 /64) or person";
    sign_ins_per_minute: u32 = 10, "attempts per minute to sign in, create an account or change a password from one network address; ten times as many to sign in to one account from all others than known browsers";
    uploads_per_minute: u32 = 20, "files uploaded or checked per person per minute";
    proxies: Vec<String> = Vec::new(), "addresses or networks (`10.0.0.0/8`) of reverse proxies whose X-Forwarded-For is trusted";
    capeval_data: String = String::new(), "folder with the data of METEOR and SPICE, and with models; empty for the user's own";
    #[secret true] smtp: String = String::new(), "mail server (smtps://name:secret@host, or smtp://name:secret@host:587?tls=required); empty for no email";
    mail_from: String = String::new(), "sender of email, such as `Captions <no-reply@example.org>`";
    webhooks_private: bool = false, "whether webhooks may call private networks and this machine";
    backup_hour: i64 = 2, "hour of the nightly backup, in UTC; -1 for none";
    backup_folder: String = String::new(), "folder of nightly backups; empty for `backups` in the data folder";
    log: String = "info".to_owned(), "log level, such as `warn` or `debug`; at `trace`, libraries log addresses with their secrets";
    log_json: bool = false, "whether the log is JSON";
    traces: String = String::new(), "collector of OpenTelemetry (http://host:4318) for traces of requests and jobs, with the feature `otel`; empty for none";
}

fn display_value<T: fmt::Debug>(value: &T, is_secret: bool) -> String {
    let shown = format!("{value:?}");
    if is_secret && !["\"\"", "[]"].contains(&shown.as_str()) { "(set)".to_owned() } else { shown }
}

/// A value as TOML has it, or plain text, which for a list has its values between commas.
fn parse<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    #[derive(Deserialize)]
    struct Only<T> {
        value: T,
    }
    let as_toml = toml::from_str::<Only<T>>(&format!("value = {text}"));
    let plain =
        |value: toml::Value| toml::Table::from_iter([("value".to_owned(), value)]).try_into::<Only<T>>().ok();
    let as_text = || plain(toml::Value::String(text.to_owned()));
    let parts = text.split(',').map(|part| toml::Value::String(part.trim().to_owned()));
    let as_list = || plain(toml::Value::Array(parts.collect()));
    match as_toml {
        Ok(read) => Ok(read.value),
        Err(error) => Ok(as_text().or_else(as_list).ok_or(error)?.value),
    }
}

impl Settings {
    /// Reads `server.toml` of the data folder, or the file that is named, and the environment.
    pub fn load(
        folder: &Path,
        file: Option<&Path>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Self> {
        let default = folder.join("server.toml");
        let path = file.unwrap_or(&default);
        let mut settings = match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text).with_context(|| path.display().to_string())?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && file.is_none() => Self::default(),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        settings.apply(variable)?;
        settings.check()?;
        Ok(settings)
    }

    /// The names of those variables that look like settings and are none, but for those that Kubernetes sets for a
    /// service called `capeval-server`.
    pub fn unknown(variables: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
        let known = Self::variables();
        let of_kubernetes = |rest: &str, value: &str| {
            let is_port = |rest: &str| {
                let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                rest.is_empty() || number.starts_with("_TCP") || number.starts_with("_UDP")
            };
            let port = rest.strip_prefix("PORT");
            // Kubernetes sets an address; someone who sets a number wants the server to listen there.
            if rest == "PORT" {
                return value.contains("://");
            }
            rest == "SERVICE_HOST"
                || rest.starts_with("SERVICE_PORT")
                || port.is_some_and(|rest| is_port(rest.strip_prefix('_').unwrap_or(rest)))
        };
        let is_unknown = |(name, value): &(String, String)| {
            // Names are in capitals; Windows apart, no system reads others as the same.
            let upper = name.to_ascii_uppercase();
            let rest = upper.strip_prefix(PREFIX);
            rest.is_some_and(|rest| !known.contains(name) && !of_kubernetes(rest, value))
        };
        variables.into_iter().filter(is_unknown).map(|(name, _)| name).collect()
    }

    /// The folder with the data of metrics.
    pub fn data_home(&self) -> Result<Home, capeval_files::Error> {
        match self.capeval_data.as_str() {
            "" => Home::of_user(),
            folder => Ok(Home::new(PathBuf::from(folder))),
        }
    }

    /// The filter of the log: a level, or several parts with levels of their own, as in `warn,capeval=debug`.
    pub fn log_filter(&self) -> anyhow::Result<EnvFilter> {
        let is_level = |part: &str| !part.is_empty() && part.parse::<LevelFilter>().is_ok();
        // A misspelt level would be taken for a part of the program, and all others would be silent.
        let mut parts = self.log.split(',');
        if let Some(part) = parts.find(|part| !part.contains(['=', '[']) && !is_level(part)) {
            bail!(
                "log is a level (error, warn, info, debug, trace, off) or names one for a part of the program, as in \
                 `warn,capeval=debug`, and `{part}` is neither"
            );
        }
        EnvFilter::try_new(&self.log).context("the setting `log`")
    }

    /// A setting of a feature.
    pub fn number(&self, setting: &NumberSetting) -> u32 {
        // Both ends are checked when the settings are read.
        self.numbers
            .get(setting.name)
            .map_or(setting.default, |value| u32::try_from(*value).unwrap_or(u32::MAX))
    }

    /// The same settings with this one of a feature.
    #[must_use]
    pub fn with(mut self, setting: &'static NumberSetting, value: u32) -> Self {
        self.numbers.insert(setting.name, value.into());
        self
    }

    /// Returns true if everyone may register.
    pub fn is_open(&self) -> bool {
        self.registration == "open"
    }

    /// Returns true if the site can send mail.
    pub fn sends_mail(&self) -> bool {
        !self.smtp.is_empty()
    }

    /// Returns true if people reach the server over TLS.
    pub fn is_secure(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// Returns true if only this machine reaches the address to listen on.
    pub fn is_local(&self) -> bool {
        let host = self.listen.rsplit_once(':').map_or(self.listen.as_str(), |(host, _)| host);
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    /// The address of a path of the site for commands, which do not know where a server listens: without the public
    /// address, the path alone.
    pub fn link(&self, path: &str) -> String {
        if self.public_url.is_empty() { path.to_owned() } else { self.url(path) }
    }

    /// The address of a path of the site.
    pub fn url(&self, path: &str) -> String {
        match self.public_url.trim_end_matches('/') {
            "" => format!("http://{}{path}", self.listen),
            base => format!("{base}{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_may_be_plain_text() {
        let proxies = |text: &str| parse::<Vec<String>>(text).unwrap();
        assert_eq!(proxies("10.0.0.5"), ["10.0.0.5"]);
        assert_eq!(proxies("10.0.0.5, 10.1.0.0/16"), ["10.0.0.5", "10.1.0.0/16"]);
        assert_eq!(proxies("['10.0.0.5']"), ["10.0.0.5"]);
        assert_eq!(parse::<u32>("7").unwrap(), 7);
        assert!(parse::<u32>("7 of them").is_err());
        assert_eq!(parse::<String>("127.0.0.1:80").unwrap(), "127.0.0.1:80");
    }

    #[test]
    fn the_environment_replaces_the_file_and_secrets_are_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.toml"), "title = 'Ours'\nworkers = 3\n").unwrap();
        let variable = |name: &str| {
            let known = [
                ("CAPEVAL_SERVER_WORKERS", "2"),
                ("CAPEVAL_SERVER_DATABASE", "postgres://a:word@b/c"),
                ("CAPEVAL_SERVER_PROXIES", "['10.0.0.1']"),
                ("CAPEVAL_SERVER_LOG", "warn"),
            ];
            known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let settings = Settings::load(folder.path(), None, variable).unwrap();
        assert_eq!((settings.title.as_str(), settings.workers, settings.log.as_str()), ("Ours", 2, "warn"));
        assert_eq!(settings.proxies, ["10.0.0.1"]);
        assert!(!format!("{:?}", settings.described()).contains("word@"));
        let wrong = |_: &str| Some("many".to_owned());
        let error = Settings::load(folder.path(), None, wrong).unwrap_err().to_string();
        assert!(error.starts_with("CAPEVAL_SERVER_CONNECTIONS is not valid"), "{error}");
    }

    #[test]
    fn misspelt_variables_are_found_and_those_of_kubernetes_are_not() {
        let names = |names: &[&str], value: &str| {
            Settings::unknown(names.iter().map(|name| ((*name).to_owned(), value.to_owned())))
        };
        let wrong = [
            "CAPEVAL_SERVER_DATABSE",
            "CAPEVAL_SERVER_PORTS",
            "CAPEVAL_SERVER_",
            "CAPEVAL_SERVER_PORT",
            "CAPEVAL_SERVER_database",
            "capeval_server_database",
        ];
        assert_eq!(names(&wrong, "8080"), wrong);
        let right = [
            "CAPEVAL_SERVER_DATABASE",
            "CAPEVAL_SERVER_SERVICE_HOST",
            "CAPEVAL_SERVER_SERVICE_PORT_HTTP",
            "CAPEVAL_SERVER_PORT",
            "CAPEVAL_SERVER_PORT_8080_TCP_ADDR",
            "CAPEVAL_DATA",
            "PATH",
        ];
        assert_eq!(names(&right, "tcp://10.0.0.7:8080"), [""; 0]);
    }

    #[test]
    fn only_loopback_is_local() {
        let at = |listen: &str| Settings { listen: listen.to_owned(), ..Settings::default() }.is_local();
        assert!(at("127.0.0.1:8080") && at("localhost:80") && at("[::1]:80") && at("[::ffff:127.0.0.1]:80"));
        assert!(!at("0.0.0.0:8080") && !at("[::]:80") && !at("192.168.1.7:80") && !at(":8080"));
    }
}
