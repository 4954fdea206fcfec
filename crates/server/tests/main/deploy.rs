//! The files in `deploy` start this program: their commands, settings, paths and ports are its own.

use capeval_server::commands::Arguments;
use capeval_site::settings::Settings;
use clap::Parser;

const DOCKERFILE: &str = include_str!("../../../../deploy/Dockerfile");
const COMPOSE: &str = include_str!("../../../../deploy/compose.yaml");
const UNIT: &str = include_str!("../../../../deploy/capeval-server.service");
const SOCKET: &str = include_str!("../../../../deploy/capeval-server.socket");
const BASE: &str = include_str!("../../../../deploy/kubernetes/base/kustomization.yaml");
/// Pods with the command that each of them runs.
const PODS: [(&str, &str); 3] = [
    (include_str!("../../../../deploy/kubernetes/sqlite/site.yaml"), "serve"),
    (include_str!("../../../../deploy/kubernetes/postgresql/site.yaml"), "serve"),
    (include_str!("../../../../deploy/kubernetes/postgresql/worker.yaml"), "worker"),
];

fn parses(arguments: impl IntoIterator<Item = impl AsRef<str>>) {
    let given: Vec<String> = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
    let parsed = Arguments::try_parse_from([&["capeval-server".to_owned()], &given[..]].concat());
    assert!(parsed.is_ok(), "{given:?}: {}", parsed.err().unwrap());
}

/// The text after `begin` in its line.
fn after<'t>(text: &'t str, begin: &str) -> &'t str {
    text.lines().find_map(|line| line.trim().strip_prefix(begin)).unwrap_or_else(|| panic!("no {begin}"))
}

/// A list of JSON.
fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_variable_is_a_setting() {
    let known: Vec<String> = Settings::default()
        .described()
        .iter()
        .map(|(name, _, _)| format!("CAPEVAL_SERVER_{}", name.to_uppercase()))
        .collect();
    let mut count = 0;
    for text in [DOCKERFILE, COMPOSE, UNIT, BASE].into_iter().chain(PODS.map(|(text, _)| text)) {
        for rest in text.split("CAPEVAL_SERVER_").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            let name = format!("CAPEVAL_SERVER_{name}");
            assert!(known.contains(&name), "{name} is not a setting");
            count += 1;
        }
    }
    assert!(count > 4, "{count}");
}

#[test]
fn the_image_starts_the_program_that_it_builds() {
    let entry = list(after(DOCKERFILE, "ENTRYPOINT "));
    parses(&entry[1..]);
    let copied = after(DOCKERFILE, "COPY --from=build /out/capeval-server ");
    assert_eq!(entry[0], copied);
    assert!(entry.contains(&after(DOCKERFILE, "VOLUME ").to_owned()), "{entry:?}");
    let listen = after(DOCKERFILE, "ENV CAPEVAL_SERVER_LISTEN=");
    assert_eq!(listen.rsplit(':').next(), Some(after(DOCKERFILE, "EXPOSE ")));
    // The user of the image owns the volume, and is not root.
    assert!(DOCKERFILE.contains(":nonroot\n") && DOCKERFILE.contains("-o 65532 -g 65532 /out/data"));
    let toolchain = env!("CARGO_PKG_RUST_VERSION");
    assert!(DOCKERFILE.contains(&format!("FROM docker.io/library/rust:{toolchain}-")), "{toolchain}");
}

#[test]
fn the_services_are_commands_of_the_program() {
    for service in ["serve", "worker"] {
        assert!(COMPOSE.contains(&format!("command: [\"{service}\"]")), "{service}");
        parses([service]);
    }
    let port = after(DOCKERFILE, "EXPOSE ");
    let ports = list(after(COMPOSE, "ports: "));
    assert!(ports.iter().all(|one| one.starts_with("127.0.0.1:") && one.ends_with(port)), "{ports:?}");
    assert!(
        COMPOSE.contains("dockerfile: deploy/Dockerfile") && COMPOSE.contains("volumes: [\"data:/data\"]")
    );
    // The gateway is the proxy that the site believes.
    let gateway = COMPOSE.split("gateway: ").nth(1).unwrap().split([' ', '}']).next().unwrap();
    let proxies = after(COMPOSE, "CAPEVAL_SERVER_PROXIES: ").trim_matches('\'');
    assert_eq!(list(proxies), [gateway]);
}

#[test]
fn the_unit_starts_the_program() {
    let mut words = after(UNIT, "ExecStart=").split(' ');
    assert_eq!(words.next(), Some("/usr/local/bin/capeval-server"));
    let arguments: Vec<&str> = words.collect();
    parses(&arguments);
    let folder = after(UNIT, "StateDirectory=");
    assert_eq!(arguments, ["--data", &format!("/var/lib/{folder}")]);
}

#[test]
fn the_socket_is_where_the_server_listens() {
    assert_eq!(after(SOCKET, "ListenStream="), Settings::default().listen);
}

#[test]
fn pods_run_commands_of_the_program_without_rights() {
    let volume = after(DOCKERFILE, "VOLUME ");
    let metrics = after(BASE, "- CAPEVAL_SERVER_METRICS_LISTEN=0.0.0.0:");
    let user = "65532";
    for (pod, command) in PODS {
        assert_eq!(list(after(pod, "args: ")), [command]);
        parses([command]);
        let port = |name: &str| {
            let rest = pod.split_once(&format!("- name: {name}\n"))?.1;
            Some(after(rest, "containerPort: ").to_owned())
        };
        assert_eq!(port("metrics").as_deref(), Some(metrics));
        let http = (command == "serve").then(|| after(DOCKERFILE, "EXPOSE ").to_owned());
        assert_eq!(port("http"), http);
        assert_eq!(after(pod, "mountPath: "), volume);
        for line in [
            "runAsNonRoot: true",
            "readOnlyRootFilesystem: true",
            "allowPrivilegeEscalation: false",
            "drop: [\"ALL\"]",
            "type: RuntimeDefault",
            "automountServiceAccountToken: false",
            "path: /healthz",
            "path: /readyz",
        ] {
            assert!(pod.lines().any(|known| known.trim() == line), "{line}");
        }
        for name in ["runAsUser: ", "runAsGroup: ", "fsGroup: "] {
            assert_eq!(after(pod, name), user);
        }
        // Passwords come from a secret and stand in no file.
        assert!(pod.contains("- secretRef:\n") && !pod.contains("postgres://"));
    }
    // SQLite has one server.
    assert_eq!(after(PODS[0].0, "replicas: "), "1");
}
