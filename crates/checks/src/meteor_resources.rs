//! METEOR's resources: arbitrary bytes as a compiled file and as each source, and a valid file with changes
//! and correct checksums.

use std::io::Cursor;
use std::sync::{Arc, OnceLock};

use capeval_arrays::reseal;
use capeval_meteor::{Compiler, Language, Meteor, Options, Resources, Task, TextForm, Workspace};

use crate::changed;
use crate::meteor::tiny_meteor;

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

pub fn check(data: &[u8]) {
    static GOOD: OnceLock<Vec<u8>> = OnceLock::new();
    use_it(data.to_vec());
    let mut file = changed(GOOD.get_or_init(tiny_meteor), data);
    reseal(&mut file);
    use_it(file);
    let mut compiler = Compiler::new();
    let _ = compiler.jar(Cursor::new(data));
    let _ = compiler.wheel(Cursor::new(data), &mut |_| ());
    let _ = compiler.paraphrases(Language::English, data, None, &mut |_| ());
}
