//! The settings of features are read, checked and listed as those of the base are.

use capeval_benchmarks::CAPTIONS_MAX;
use capeval_server::FEATURES;
use capeval_site::feature;
use capeval_site::settings::Settings;

#[test]
fn settings_of_features_are_settings() {
    feature::join(FEATURES);
    let folder = tempfile::tempdir().unwrap();
    let load = |file: &str, variable: Option<&str>| {
        std::fs::write(folder.path().join("server.toml"), file).unwrap();
        let variable =
            |name: &str| variable.filter(|_| name == "CAPEVAL_SERVER_CAPTIONS_MAX").map(str::to_owned);
        Settings::load(folder.path(), None, variable).map_err(|error| format!("{error:#}"))
    };
    assert_eq!(load("", None).unwrap().number(&CAPTIONS_MAX), 1_000_000);
    assert_eq!(load("captions_max = 7", None).unwrap().number(&CAPTIONS_MAX), 7);
    let settings = load("captions_max = 7", Some("8")).unwrap();
    assert_eq!(settings.number(&CAPTIONS_MAX), 8);
    let described = settings.described();
    assert!(described.iter().any(|(name, value, _)| (*name, value.as_str()) == ("captions_max", "8")));
    assert!(Settings::variables().contains(&"CAPEVAL_SERVER_CAPTIONS_MAX".to_owned()));
    for (file, variable, words) in [
        ("captions_max = 0", None, "captions_max is at least 1, not 0"),
        ("captions_max = 99999999999", None, "captions_max is at most 2147483647"),
        ("captions_max = 'many'", None, "invalid type"),
        ("", Some("many"), "CAPEVAL_SERVER_CAPTIONS_MAX is not valid"),
        ("captions_maximum = 1", None, "captions_maximum"),
    ] {
        let error = load(file, variable).unwrap_err();
        assert!(error.contains(words), "{file}: {error}");
    }
}
