//! METEOR's stdio protocol as implemented by pycocoevalcap's jar, for comparing the two.
//!
//! ```text
//! meteor_stdio compile <wheel> <file>      write the resource file
//! meteor_stdio <file> [-l LANG] [-t TASK] [-norm] [-noPunct] [-lower] [-m MODULES] [-w WEIGHTS] [-p PARAMETERS]
//!              [-x BEAM] [-ch] [-s LANGUAGE.words] < lines     answer SCORE and EVAL lines
//! ```

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;

use capeval_meteor::{
    Compiler, Language, Meteor, Options, Parameters, Resources, Stats, Task, TextForm, Unit, Workspace,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "meteor_stdio: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Outcome<()> {
    match arguments {
        [command, wheel, file] if command == "compile" => compile(wheel, file),
        [file, options @ ..] => answer(file, options),
        [] => Err("specify a resource file, or \"compile\" with a wheel and a file".into()),
    }
}

fn compile(wheel: &str, file: &str) -> Outcome<()> {
    let mut compiler = Compiler::new();
    compiler.wheel(BufReader::new(File::open(wheel)?), &mut |_| ())?;
    let summary = compiler.write(BufWriter::new(File::create(file)?), &mut |_| ())?;
    writeln!(io::stderr(), "{summary:#?}")?;
    Ok(())
}

fn answer(file: &str, arguments: &[String]) -> Outcome<()> {
    let resources = Resources::open(Arc::new(std::fs::read(file)?))?;
    let meteor = Meteor::new(options(arguments)?, Arc::new(resources))?;
    let mut workspace = Workspace::default();
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut parts: Vec<&str> = line.split("|||").collect();
        while parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
        let trim = |text: &'_ str| text.trim_matches(|c| c <= ' ').to_owned();
        match parts.as_slice() {
            [command, references @ .., hypothesis]
                if command.starts_with("SCORE") && !references.is_empty() =>
            {
                let references: Vec<String> = references.iter().map(|text| trim(text)).collect();
                let segment =
                    meteor.segment(&mut workspace, &trim(hypothesis), references.iter().map(String::as_str));
                writeln!(out, "{}", segment.stats)?;
            }
            [command, lines @ ..] if command.starts_with("EVAL") && !lines.is_empty() => {
                let mut sum = [0.0; Stats::WIDTH];
                for line in lines {
                    let stats = Stats::from_line(line)?;
                    writeln!(out, "{:?}", meteor.score(&stats).score)?;
                    for (total, value) in sum.iter_mut().zip(stats.to_row()) {
                        *total += value;
                    }
                }
                writeln!(out, "{:?}", meteor.score(&Stats::load(&sum)).score)?;
            }
            _ => writeln!(out, "Error: specify SCORE or EVAL")?,
        }
    }
    out.flush()?;
    Ok(())
}

fn options(arguments: &[String]) -> Outcome<Options> {
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let language: Language = value("-l").map_or("en", |text| text).parse()?;
    let task: Task = match value("-t") {
        Some(task) => task.parse()?,
        None => Task::default_for(language),
    };
    let mut options = Options::new(language, task)?;
    options.text = match (has("-norm"), has("-noPunct"), has("-lower")) {
        (true, false, _) => TextForm::Normalized,
        (true, true, _) => TextForm::NormalizedWithoutPunctuation,
        (false, _, true) => TextForm::Lowercase,
        (false, _, false) => TextForm::Verbatim,
    };
    if has("-ch") {
        options.unit = Unit::Characters;
    }
    let numbers = |text: &String| text.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
    if let Some(text) = value("-w") {
        options.weights = numbers(text)?;
    }
    if let Some(text) = value("-m") {
        options.matchers = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        options.weights.resize(options.matchers.len(), 0.0);
    }
    if let Some(text) = value("-p") {
        let [alpha, beta, gamma, delta] = numbers(text)?[..] else {
            return Err("-p takes four numbers".into());
        };
        options.parameters = Parameters { alpha, beta, gamma, delta };
    }
    if let Some(path) = value("-s") {
        let name = std::path::Path::new(path).file_stem().and_then(|name| name.to_str());
        options.function_words = name.unwrap_or_default().parse()?;
    }
    if let Some(text) = value("-x") {
        options.beam = text.parse()?;
    }
    Ok(options)
}
