//! METEOR's resources: arbitrary bytes as a compiled file and as each source, and a valid file with changes
//! and correct checksums.
#![no_main]

use std::io::Cursor;
use std::sync::{Arc, OnceLock};

use capeval_arrays::reseal;
use capeval_fuzz::tiny_meteor;
use capeval_meteor::{Compiler, Language, Meteor, Options, Resources, Task, TextForm, Workspace};
use libfuzzer_sys::fuzz_target;

fn use_it(file: Vec<u8>) {
    let Ok(resources) = Resources::open(Arc::new(file)) else { return };
    let resources = Arc::new(resources);
    let _ = (resources.notice(), resources.fingerprint());
    for language in [Language::English, Language::German, Language::Arabic] {
        let Ok(mut options) = Options::new(language, Task::LanguageIndependent) else { continue };
        options.text = if language == Language::English { TextForm::Normalized } else { TextForm::Lowercase };
        let Ok(meteor) = Meteor::new(options, Arc::clone(&resources)) else { continue };
        let hypothesis = "Mr. big dog in front of the crimson car went wAlktAb, No. 5.";
        let references = ["the hound before a red car", "animal walks go for a walk ktb", hypothesis];
        let segment = meteor.segment(&mut Workspace::default(), hypothesis, references);
        assert!((0.0..=1.0).contains(&segment.score));
    }
}

fuzz_target!(|data: &[u8]| {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    use_it(data.to_vec());
    // Five bytes per change: position and value.
    let mut file = GOOD.get_or_init(tiny_meteor).clone();
    for change in data.chunks_exact(5) {
        let at = u32::from_le_bytes([change[0], change[1], change[2], change[3]]) as usize % file.len();
        file[at] = change[4];
    }
    reseal(&mut file);
    use_it(file);
    let mut compiler = Compiler::new();
    let _ = compiler.jar(Cursor::new(data));
    let _ = compiler.wheel(Cursor::new(data), &mut |_| ());
    let _ = compiler.paraphrases(Language::English, data, None, &mut |_| ());
});
