//! Writes what models see of pictures, for comparison with Pillow by `oracle/pictures.py`: for each file, a line
//! with its mode and size or why it is refused, and beside the given folder's number its pixels as they are, and its
//! squares of 224 pixels in both orders.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::path::Path;

use capeval_picture::{Order, Resize, decode};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_default();
    for (number, path) in arguments.enumerate() {
        match decode(&std::fs::read(&path)?) {
            Ok(picture) => {
                let write = |what: &str, bytes: &[u8]| {
                    std::fs::write(Path::new(&folder).join(format!("{number}.{what}")), bytes)
                };
                write("raw", &picture.to_rgb().bytes)?;
                write("openai", &picture.square(224, Resize::Shorter(224), Order::Openai))?;
                write("hf", &picture.square(224, Resize::Shorter(224), Order::HuggingFace))?;
                println!("{number} {:?} {} {}", picture.mode, picture.width, picture.height);
            }
            Err(refusal) => println!("{number} refused: {refusal}"),
        }
    }
    Ok(())
}
