//! Texts of people: what is cleaned is clean, rules for captions and names do not panic, and dates are those of the
//! calendar.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use capeval_collections::rules::{lint, text as captions};
use capeval_site::web::language::Language;
use capeval_site::web::network::Range;
use capeval_site::{clean_text, clock, feature};

use crate::backups::FEATURES;

pub fn check(bytes: &[u8]) {
    feature::join(FEATURES);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for clean in [clean_text::line, clean_text::lines, captions::clean] {
        let once = clean(text);
        assert_eq!(clean(&once), once, "cleaned twice");
    }
    let line = captions::clean(text);
    assert!(line.chars().all(|c| c == ' ' || !c.is_whitespace() && !c.is_control()), "{line:?}");
    for language in ["en", "zh", "de"] {
        lint::broken(&line, language, &lint::Shortest::from([(language.to_owned(), 7)]));
    }
    let counts = captions::counts(&line);
    assert!(counts.han <= counts.characters && counts.words <= counts.characters);
    let _ = (captions::script(&line), captions::norm(text), clean_text::without_folders(text, &[]));
    let _ = Language::Chinese.reason(text);
    if let Some(time) = clock::parse(text) {
        assert_eq!(clock::parse(&clock::exact(time)), Some(time));
    }
    if let Some(range) = Range::parse(text) {
        let addresses = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let _ = addresses.map(|address| range.has(address));
    }
}
