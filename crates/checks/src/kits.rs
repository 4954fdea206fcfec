//! No text makes the reader of kits panic, and a kit that is read can be written and read again.

use capeval::Kit;

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(kit) = Kit::read(text) else { return };
    let written = toml::to_string(&kit).expect("a kit is TOML");
    assert_eq!(Kit::read(&written).expect("the written kit can be read"), kit);
    let _ = (kit.to_json(), kit.settings());
}
