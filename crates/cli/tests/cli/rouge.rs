//! ROUGE-1.5.5's evaluation lists and data from the command line.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::program::{capeval, json, scratch, stdout};

/// Three evaluations of two systems, with a stop list and exceptions small enough to be made up.
fn installation(folder: &tempfile::TempDir) -> (String, String, String) {
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let evaluations: [(&str, [&str; 2], &[&str]); 3] = [
        ("9", ["men running in the streets", "men run"], &["the men ran in a street"]),
        (
            "10",
            ["the cat sat on the mat\nit was happy", "a dog"],
            &["the cats were sitting on a mat\nhappily", "a cat sat on the mat"],
        ),
        (
            "t1",
            ["two dogs play", "two dogs are playing"],
            &["two dogs are playing\non the beach", "dogs playing"],
        ),
    ];
    let (mut xml, mut plain) = (String::from("<ROUGE_EVAL version=\"1.5.5\">\n"), String::new());
    for (id, [first, second], models) in evaluations {
        file(&format!("p.{id}"), first);
        file(&format!("q.{id}"), second);
        write!(plain, "p.{id}").unwrap();
        write!(
            xml,
            "<EVAL ID=\"{id}\"><PEER-ROOT>{0}</PEER-ROOT><MODEL-ROOT>.</MODEL-ROOT><INPUT-FORMAT TYPE=\"SPL\"/>\n\
             <PEERS><P ID=\"1\">p.{id}</P><P ID=\"2\">q.{id}</P></PEERS><MODELS>",
            folder.path().display()
        )
        .unwrap();
        for (k, model) in models.iter().enumerate() {
            file(&format!("m{k}.{id}"), model);
            write!(xml, "<M ID=\"{k}\">m{k}.{id}</M>").unwrap();
            write!(plain, " m{k}.{id}").unwrap();
        }
        xml.push_str("</MODELS></EVAL>\n");
        plain.push('\n');
    }
    file("list.xml", &(xml + "</ROUGE_EVAL>\n"));
    file("list.txt", &plain);
    file("data/smart_common_words.txt", "the\na\non\nin\nwas\nwere\nare\n");
    let exceptions = [("noun", "men man\n"), ("verb", "ran run\nsat sit\n"), ("adj", ""), ("adv", "")];
    for (name, lines) in exceptions {
        file(&format!("data/WordNet-2.0-Exceptions/{name}.exc"), lines);
    }
    (scratch(folder, "list.xml"), scratch(folder, "list.txt"), scratch(folder, ""))
}

fn number(report: &Value, system: usize, key: &str) -> String {
    format!("{:.5}", report["systems"][system]["scores"][key].as_f64().unwrap())
}

/// `ROUGE-1.5.5.pl -e data -a -n 2 -m -s -c 90 -r 100 -f B -2 1 -w 1.2 list.xml`, Perl 5.36.
#[test]
fn a_list_scores_as_in_the_program_intervals_included() {
    let folder = tempfile::tempdir().unwrap();
    let (xml, _, data) = installation(&folder);
    let spec = "rouge155:measures=1+2+l+w1.2+s1:average=resampled:confidence=90:samples=100:formula=best:\
                stem=porter-exceptions:stop=yes";
    let report = json(&["score", "--rouge-list", &xml, "--rouge-data", &data, "-m", spec]);
    for (system, measure, [mean, low, high]) in [
        (0, "1-f", ["0.73856", "0.69445", "0.78333"]),
        (0, "2-r", ["0.66667", "0.33333", "1.00000"]),
        (0, "w1.2-p", ["0.61976", "0.59595", "0.64445"]),
        (0, "s1-f", ["0.47844", "0.38889", "0.56667"]),
        (1, "1-r", ["0.43778", "0.11111", "0.77778"]),
        (1, "l-p", ["0.38445", "0.16667", "0.61111"]),
        (1, "w1.2-f", ["0.36286", "0.11620", "0.61959"]),
        (1, "s1-r", ["0.32667", "0.00000", "0.66667"]),
    ] {
        let key = format!("rouge155-stem-{measure}");
        let found =
            [key.clone(), format!("{key}-low"), format!("{key}-high")].map(|k| number(&report, system, &k));
        assert_eq!(found, [mean, low, high], "{key}");
    }
    assert_eq!((&report["systems"][0]["name"], &report["systems"][1]["name"]), (&"1".into(), &"2".into()));
}

#[test]
fn a_plain_list_has_one_system_and_paths_relative_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let (xml, plain, _) = installation(&folder);
    let metric = "rouge155:measures=1";
    let (a, b) = (
        json(&["score", "--rouge-list", &xml, "-m", metric]),
        json(&["score", "--rouge-list", &plain, "-m", metric]),
    );
    assert_eq!(b["systems"].as_array().unwrap().len(), 1);
    assert_eq!(a["systems"][0]["scores"], b["systems"][0]["scores"]);
    assert!(stdout(&["score", "--rouge-list", &plain, "-s", "rouge-1.5.5"]).contains("ROUGE-SU* F"));
}

#[test]
fn what_a_users_rouge_lacks_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (xml, _, _) = installation(&folder);
    let empty = scratch(&folder, "data/WordNet-2.0-Exceptions");
    let broken = scratch(&folder, "broken.xml");
    std::fs::write(&broken, "<ROUGE_EVAL>\n<EVAL ID='1'>").unwrap();
    for (args, expected) in [
        (&["score", "--rouge-list", &xml, "-m", "rouge155:stop=yes"][..], "--rouge-data"),
        (
            &["score", "--rouge-list", &xml, "-m", "rouge155:stop=yes", "--rouge-data", &empty],
            "neither smart_common_words.txt",
        ),
        (&["score", "--rouge-list", &broken], "broken.xml:2:"),
        (&["score", "--rouge-list", &xml, "-m", "rouge155:confidence=95"], "average=resampled"),
        (&["score", "--rouge-list", &xml, &xml], "cannot be used with"),
    ] {
        let run = capeval(args);
        assert!(run.code == 2 && run.stderr.contains(expected), "{}", run.stderr);
    }
}

#[test]
fn the_signature_that_sacrebleu_prints_is_noted() {
    let report = json(&["score", "-r", "references.json", "results.json", "-m", "sacrebleu,chrf"]);
    let notes: Vec<&str> =
        report["notices"].as_array().unwrap().iter().filter_map(|note| note["message"].as_str()).collect();
    let bleu = "sacreBLEU signs sacrebleu as nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0";
    assert!(notes.contains(&bleu), "{notes:?}");
}
