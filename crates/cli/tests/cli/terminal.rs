//! Tests the output on a terminal of 80 columns.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Command;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::program::{fixtures, quickstart};

/// Runs `capeval` on a terminal of 80 columns, and returns what it shows there.
fn shown(args: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_row: 40, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = Command::new(crate::program::path());
    command.args(args).current_dir(fixtures()).env("CAPEVAL_DATA", fixtures().join("no-data"));
    command.env("TERM", "xterm").env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    let mut child = command.stdout(terminal.try_clone().unwrap()).stderr(terminal).spawn().unwrap();
    drop(command);
    let mut text = Vec::new();
    let mut block = [0; 4096];
    // Reading fails once the program has closed the terminal.
    let mut master = File::from(master);
    while let Ok(n @ 1..) = master.read(&mut block) {
        text.extend_from_slice(&block[..n]);
    }
    child.wait().unwrap();
    let text = String::from_utf8(text).unwrap().replace("\r\n", "\n");
    // A slow machine shows a bar, and clears its line before it is drawn again.
    let last = |line: &str| line.rsplit("\u{1b}[2K").next().unwrap_or_default().to_owned();
    text.lines().map(last).collect::<Vec<_>>().join("\n")
}

#[test]
fn lines_fit_a_terminal_of_80_columns() {
    let [references, good, weak] = ["references.json", "good.json", "weak.json"].map(quickstart);
    let named: Vec<String> = ["a", "b", "c", "d"].iter().map(|name| format!("{name}={weak}")).collect();
    let many: Vec<&str> = named.iter().map(String::as_str).chain([good.as_str()]).collect();
    let compare = [&["compare", "-r", &references, "-m", "bleu,rouge-l,cider-d,ter"], &many[..]].concat();
    let score = ["score", "-r", &references, &good, "-m", "bleu,rouge155,cider-d,chrf"];
    for args in [
        compare.clone(),
        [&compare[..], &["--all-pairs", "--sort", "cider-d"]].concat(),
        [&score[..], &["--ci"]].concat(),
        [&score[..], &["--explain", "101"]].concat(),
        ["human", "-r", &references, "-m", "bleu,cider-d", "--ci"].to_vec(),
        ["metrics"].to_vec(),
        ["metrics", "meteor", "bleu", "rouge155", "div", "self-cider"].to_vec(),
        ["score", "-r", &references, &good, "-m", "bleu", "--images", &good].to_vec(),
        ["score", "-r", &references, &good, "-m", "bleu,cider-r,sentence-bleu,rouge155", "--sort", "x"]
            .to_vec(),
    ] {
        // On a slow machine, bars of progress are drawn over each other before the text.
        let text = shown(&args).replace(['\r', '\u{1b}'], "\n");
        // The specification of a suite is one word, to be copied.
        let wide =
            text.lines().find(|line| line.chars().count() > 80 && !line.trim().starts_with("rouge155:"));
        assert!(
            !text.is_empty() && wide.is_none(),
            "capeval {}: {}",
            args.join(" "),
            wide.unwrap_or_default()
        );
    }
}
