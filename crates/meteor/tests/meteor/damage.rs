//! Damage to resource files is found when they are opened; what a checksum does not show cannot cause a panic.

use std::sync::Arc;

use capeval_arrays::reseal;
use capeval_choice::{Refusal, Remedy};
use capeval_meteor::{Language, Meteor, Options, Resources, Task, TextForm, Workspace};

use crate::support::tiny_file;

fn open(file: &[u8]) -> Result<Resources, Refusal> {
    Resources::open(Arc::new(file.to_vec()))
}

fn verify(file: &[u8]) -> Result<(), Refusal> {
    open(file)?.verify()
}

/// Scores a few sentences in all languages for which the file still works.
fn use_it(resources: Resources) {
    let resources = Arc::new(resources);
    let _ = (resources.notice(), resources.fingerprint());
    for language in [Language::English, Language::German, Language::Arabic] {
        let task = Task::default_for(language);
        let Ok(mut options) = Options::new(language, task) else { continue };
        options.text = TextForm::Verbatim;
        if language == Language::English {
            options.text = TextForm::Normalized;
        }
        let Ok(meteor) = Meteor::new(options, Arc::clone(&resources)) else { continue };
        let hypothesis = "Mr. big dog in front of the crimson car went wAlktAb, No. 5.";
        let references = ["the hound before a red car", "animal walks go for a walk ktb", hypothesis, ""];
        let segment = meteor.segment(&mut Workspace::default(), hypothesis, references);
        assert!((0.0..=1.0).contains(&segment.score), "{language}: {}", segment.score);
    }
}

#[test]
fn a_valid_file_is_accepted() {
    verify(&tiny_file()).unwrap();
    use_it(open(&tiny_file()).unwrap());
}

#[test]
fn the_same_sources_give_the_same_bytes() {
    assert!(tiny_file() == tiny_file());
}

#[test]
fn a_truncated_file_is_refused() {
    let file = tiny_file();
    for len in 0..file.len() {
        let error = open(&file[..len]).err().unwrap();
        assert_eq!(
            error.remedy(),
            Some(&Remedy::run(capeval_choice::Task::Install("meteor"))),
            "{len}: {error}"
        );
    }
    let mut longer = file;
    longer.push(0);
    assert!(open(&longer).is_err());
}

#[test]
fn a_flipped_bit_is_detected() {
    let mut file = tiny_file();
    for bit in 0..8 * file.len() {
        file[bit / 8] ^= 1 << (bit % 8);
        let error = open(&file).err().unwrap();
        assert!(error.remedy().is_some(), "bit {bit}: {error}");
        file[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_file_of_another_version_is_refused_with_the_remedy() {
    for version in [0, Resources::FORMAT_VERSION + 1, u32::MAX] {
        let mut file = tiny_file();
        file[8..12].copy_from_slice(&version.to_le_bytes());
        for sealed in [false, true] {
            if sealed {
                reseal(&mut file);
            }
            let error = open(&file).err().unwrap();
            assert!(error.remedy().is_some());
            assert!(error.to_string().contains(&format!("format version {version}")), "{error}");
        }
    }
}

#[test]
fn damage_under_a_right_checksum_gives_at_worst_wrong_scores() {
    let good = tiny_file();
    let (mut opened, mut refused) = (0, 0);
    let mut try_it = |file: &mut Vec<u8>| {
        reseal(file);
        match open(file) {
            Ok(resources) => {
                opened += 1;
                use_it(resources);
            }
            Err(_) => refused += 1,
        }
    };
    // Each byte is changed in turn: to 0, to 255, and by its lowest and its highest bit.
    for at in 0..good.len() {
        for change in [|_| 0, |_| 0xFF, |byte: u8| byte ^ 1, |byte: u8| byte ^ 0x80] {
            if change(good[at]) == good[at] {
                continue;
            }
            let mut file = good.clone();
            file[at] = change(good[at]);
            try_it(&mut file);
        }
    }
    // Many bytes at once, chosen by a fixed pseudo-random sequence.
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) as usize % below
    };
    for _ in 0..4_000 {
        let mut file = good.clone();
        for _ in 0..=next(40) {
            let at = next(file.len());
            file[at] = next(256) as u8;
        }
        if next(4) == 0 {
            file.truncate(next(file.len()));
        }
        try_it(&mut file);
    }
    eprintln!("{opened} damaged files opened, {refused} refused");
    assert!(opened > 1_000 && refused > 100);
}
