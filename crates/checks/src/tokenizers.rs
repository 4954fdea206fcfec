//! No text makes a tokenizer panic; sacreBLEU's tokenizers return no empty pieces and no white space.

use capeval_text::tokenizers::{ALL, plain::is_python_space};
use capeval_text::{Looks, Scratch, Tokenizer};

pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut scratch = Scratch::default();
    for (tokenizer, ..) in ALL {
        let splits = matches!(tokenizer, Tokenizer::V13a | Tokenizer::Intl | Tokenizer::Zh | Tokenizer::Char);
        tokenizer.tokenize(text, &mut scratch, |piece| {
            assert!(!splits || !piece.is_empty() && !piece.contains(is_python_space));
        });
    }
    let looks = Looks::of([text]);
    assert!((0.0..=1.0).contains(&looks.non_ascii_share()));
}
