//! Reads the files of a benchmark in each form: what people said, and references.

use std::collections::{HashMap, HashSet};

use capeval::choice::{Argument, Remedy, counted};
use capeval::corpus::ratings::{self, Choice, Choices, Item, RatedCaption, RatingOptions, Ratings};
use capeval::corpus::{Captions, ReadOptions, Row, Rows, SegmentId, read_rows};
use serde::Deserialize;
use serde_json::Value;

use crate::Error;
use crate::find::FoundFile;
use crate::registry::{Benchmark, Columns, ExpectedCounts, Form, Reading, Role};

/// The data of a benchmark.
pub(crate) struct Data {
    pub people: People,
    /// References, unless people's file or pairs hold them.
    pub references: Option<Captions>,
    /// The image that an id stands for, where rows of one image have different references.
    pub images: HashMap<SegmentId, SegmentId>,
}

/// The ratings or choices of people.
pub(crate) enum People {
    Ratings(Box<Ratings>),
    Pairs(Choices),
}

/// Files by what is in them, in the order of the registry.
pub(crate) struct Files<'f> {
    reading: &'f Reading,
    found: &'f [Vec<FoundFile>],
}

impl<'f> Files<'f> {
    pub fn new(reading: &'f Reading, found: &'f [Vec<FoundFile>]) -> Self {
        Self { reading, found }
    }

    /// All files of a role.
    fn all(&self, role: Role) -> impl Iterator<Item = &'f FoundFile> {
        let of_role = self.reading.files.iter().zip(self.found).filter(move |(file, _)| file.role == role);
        of_role.flat_map(|(_, found)| found)
    }

    fn one(&self, role: Role) -> Result<&'f FoundFile, Error> {
        self.all(role).next().ok_or_else(|| Error::new("a file is missing", "give all files"))
    }
}

/// Reads the files of a reading.
pub(crate) fn read(files: &Files<'_>) -> Result<Data, Error> {
    match files.reading.form {
        Form::Ratings => of_ratings(files),
        Form::Pairs => {
            let file = files.one(Role::Pairs)?;
            Ok(Data::of(People::Pairs(ratings::read_pairs(file.bytes(), &file.name)?)))
        }
        Form::Rows => of_rows(files),
        Form::Objects => of_objects(files),
        Form::Lines => of_lines(files),
        Form::Foil => of_foil(files),
    }
}

/// Checks that the files of a reading hold as much as the real ones.
pub(crate) fn check(benchmark: &Benchmark, files: &Files<'_>, data: &Data) -> Result<(), Error> {
    let expected = benchmark.expected(files.reading);
    let Some((found, expected)) = mismatch(data.counts(), expected) else { return Ok(()) };
    let name = files.found.iter().flatten().next().map_or("", |file| &file.name);
    Err(Error::new(
        format!("{}: {name} holds {found}, and the real file {expected}", benchmark.name),
        Remedy::say(format!("get it from {}", benchmark.origin))
            .or(Remedy::give(Argument::Subset).to("run on a part of it")),
    ))
}

/// The counts that differ from the expected ones, in words.
fn mismatch(found: ExpectedCounts, expected: ExpectedCounts) -> Option<(String, String)> {
    let all = [
        (found.images, expected.images, "image"),
        (found.items, expected.items, "rated caption"),
        (found.ratings, expected.ratings, "rating"),
        (found.pairs, expected.pairs, "pair"),
    ];
    let differ = all.into_iter().filter_map(|(found, expected, noun)| {
        let (found, expected) = (found?, expected?);
        (found != expected).then(|| (counted(found, noun), counted(expected, noun)))
    });
    let (found, expected): (Vec<String>, Vec<String>) = differ.unzip();
    (!found.is_empty()).then(|| (found.join(" and "), expected.join(" and ")))
}

impl Data {
    fn of(people: People) -> Self {
        Self { people, references: None, images: HashMap::new() }
    }

    /// The image that an id stands for.
    pub fn image<'d>(&'d self, id: &'d SegmentId) -> &'d SegmentId {
        self.images.get(id).unwrap_or(id)
    }

    fn counts(&self) -> ExpectedCounts {
        let distinct = |ids: &mut dyn Iterator<Item = &SegmentId>| {
            ids.map(|id| self.image(id)).collect::<HashSet<_>>().len()
        };
        match &self.people {
            People::Ratings(ratings) => ExpectedCounts {
                images: Some(distinct(&mut ratings.items.iter().map(|item| &item.image))),
                items: Some(ratings.items.len()),
                ratings: Some(ratings.items.iter().map(|item| item.ratings.len()).sum()),
                pairs: None,
            },
            People::Pairs(choices) => ExpectedCounts {
                images: Some(distinct(&mut choices.items.iter().map(|choice| &choice.image))),
                items: None,
                ratings: None,
                pairs: Some(choices.items.len()),
            },
        }
    }
}

fn of_ratings(files: &Files<'_>) -> Result<Data, Error> {
    let file = files.one(Role::Ratings)?;
    let ratings = ratings::read_ratings(file.bytes(), &file.name, &RatingOptions::default())?;
    let references = files.all(Role::References).next();
    let read =
        |file: &FoundFile| capeval_files::captions_in(&file.name, file.bytes(), &ReadOptions::references());
    let references = references.map(read).transpose()?;
    Ok(Data { references, ..Data::of(People::Ratings(Box::new(ratings))) })
}

/// Gathers rated captions. Captions of one image that have different references get different ids.
struct Gathering {
    source: String,
    items: Vec<Item>,
    places: HashMap<(SegmentId, String, Option<String>), usize>,
    references: Captions,
    /// For each image, the lists of references that its captions have.
    lists: HashMap<SegmentId, Vec<Vec<String>>>,
    images: HashMap<SegmentId, SegmentId>,
    unrated: usize,
}

/// A rated caption, as a row says it.
struct RatedRow {
    image: Option<SegmentId>,
    caption: String,
    system: Option<String>,
    references: Vec<String>,
    ratings: Vec<f64>,
}

impl Gathering {
    fn new(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            items: Vec::new(),
            places: HashMap::new(),
            references: Captions::new(source),
            lists: HashMap::new(),
            images: HashMap::new(),
            unrated: 0,
        }
    }

    fn add(&mut self, rated: RatedRow) {
        let RatedRow { image, caption, system, references, ratings } = rated;
        if ratings.is_empty() {
            self.unrated += 1;
            return;
        }
        // Without an id, rows with the same references are of one image.
        let image = image.unwrap_or_else(|| SegmentId::from(&*references.join("\n")));
        let lists = self.lists.entry(image.clone()).or_default();
        let (number, is_new) = match lists.iter().position(|list| *list == references) {
            Some(number) => (number, false),
            None => {
                lists.push(references.clone());
                (lists.len() - 1, true)
            }
        };
        let id = match number {
            0 => image.clone(),
            number => SegmentId::from(&*format!("{image} ({})", number + 1)),
        };
        if is_new {
            references.iter().for_each(|text| self.references.push(id.clone(), text));
            if number > 0 {
                self.images.insert(id.clone(), image);
            }
        }
        let key = (id.clone(), caption.clone(), system.clone());
        match self.places.get(&key).and_then(|at| self.items.get_mut(*at)) {
            Some(item) => item.ratings.extend(ratings),
            None => {
                self.places.insert(key, self.items.len());
                self.items.push(Item {
                    image: id,
                    caption: Some(RatedCaption::Text(caption)),
                    system,
                    ratings,
                });
            }
        }
    }

    fn data(self) -> Result<Data, Error> {
        let Self { source, items, references, images, unrated, .. } = self;
        if items.is_empty() {
            return Err(Error::new(
                format!("{source}: there is no rating in this file"),
                "give the real file",
            ));
        }
        let ratings = Ratings { source, items, unrated, ..Ratings::default() };
        let people = People::Ratings(Box::new(ratings));
        Ok(Data { people, references: Some(references), images })
    }
}

/// The names of the columns in a table, of those that the registry lists.
struct ColumnNames<'c> {
    image: Option<&'c str>,
    caption: &'c str,
    references: Option<&'c str>,
    system: Option<&'c str>,
    rating: &'c str,
}

impl<'c> ColumnNames<'c> {
    fn choose(columns: &'c Columns, rows: &Rows, source: &str) -> Result<Self, Error> {
        let there = |names: &'c [String]| {
            names.iter().map(String::as_str).find(|name| rows.columns().iter().any(|column| column == name))
        };
        let needed = |names: &'c [String], what: &str| {
            there(names).ok_or_else(|| {
                let message = format!(
                    "{source}: no column {} holds the {what}; the columns are {}",
                    names.join(" or "),
                    rows.columns().join(", ")
                );
                Error::new(message, "give the real file")
            })
        };
        Ok(Self {
            caption: needed(&columns.caption, "rated caption")?,
            rating: needed(&columns.rating, "rating")?,
            image: there(&columns.image),
            references: there(&columns.references),
            system: there(&columns.system),
        })
    }
}

/// The place of a row, for errors.
fn place(source: &str, row: &Row<'_>) -> String {
    let place = row.place();
    match (place.line, place.record) {
        (Some(line), _) => format!("{source}:{line}"),
        (None, Some(record)) => format!("{source}, record {record}"),
        (None, None) => source.to_owned(),
    }
}

/// Captions with runs of white space as one space, as the programs of all these benchmarks read them.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_rows(files: &Files<'_>) -> Result<Data, Error> {
    let reading = files.reading;
    let others = references_of_rows(files)?;
    let first = files.one(Role::Ratings)?;
    let mut gathering = Gathering::new(&first.name);
    for file in files.all(Role::Ratings) {
        let rows = read_rows(file.bytes(), &file.name)?;
        let named = ColumnNames::choose(&reading.columns, &rows, &file.name)?;
        if named.references.is_none() && others.is_none() {
            let message = format!(
                "{}: no column {} holds the references; the columns are {}",
                file.name,
                reading.columns.references.join(" or "),
                rows.columns().join(", ")
            );
            return Err(Error::new(message, "give the real file"));
        }
        for row in rows.iter() {
            if let Some(out) = &reading.leave_out
                && row.text(&out.column).is_some_and(|text| text == out.value)
            {
                continue;
            }
            let wrong = |what: String| {
                Error::new(format!("{}: {what}", place(&file.name, &row)), "give the real file")
            };
            let image = match named.image {
                Some(column) => Some(
                    image(&row, column, reading)
                        .ok_or_else(|| wrong(format!("there is no image id in {column}")))?,
                ),
                None => None,
            };
            let rating = row.text(named.rating);
            let ratings = match &rating {
                None => Vec::new(),
                Some(text) => row
                    .numbers(named.rating)
                    .filter(|all| all.iter().all(|x| x.is_finite()))
                    .ok_or_else(|| wrong(format!("the {} '{text}' is not a finite number", named.rating)))?,
            };
            let caption = row
                .text(named.caption)
                .map(|text| joined(&text))
                .ok_or_else(|| wrong(format!("there is no rated caption in {}", named.caption)))?;
            let own = named.references.and_then(|column| row.texts(column));
            let known = || {
                let image = image.as_ref()?;
                others.as_ref()?.get(image).cloned()
            };
            let references = own.or_else(known).filter(|list| !list.is_empty()).ok_or_else(|| {
                let of =
                    image.as_ref().map_or_else(String::new, |image| format!(" of image {}", image.quoted()));
                wrong(format!("there are no references{of}"))
            })?;
            let references = references.iter().map(|text| joined(text)).collect();
            let system = named.system.and_then(|column| row.text(column));
            gathering.add(RatedRow { image, caption, system, references, ratings });
        }
    }
    correct(&mut gathering, files)?;
    gathering.data()
}

fn image(row: &Row<'_>, column: &str, reading: &Reading) -> Option<SegmentId> {
    let id = row.id(column)?;
    if !reading.numbers {
        return Some(id);
    }
    Some(number_of(&id).map_or(id, SegmentId::Integer))
}

/// The number at the end of the name of a picture, as in `COCO_val2014_000000000042.jpg`.
fn number_of(id: &SegmentId) -> Option<i64> {
    match id {
        SegmentId::Integer(number) => Some(*number),
        SegmentId::Text(name) => {
            let stem = name.rsplit_once('.').map_or(&**name, |(stem, _)| stem);
            let digits = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            stem.get(digits..)?.parse().ok()
        }
    }
}

type References = HashMap<SegmentId, Vec<String>>;

/// The references that stand in files of their own.
fn references_of_rows(files: &Files<'_>) -> Result<Option<References>, Error> {
    let Some(file) = files.all(Role::References).next() else { return Ok(None) };
    let reading = files.reading;
    let mut references = References::new();
    if reading.columns.references.is_empty() {
        let captions = capeval_files::captions_in(&file.name, file.bytes(), &ReadOptions::references())?;
        for (id, text) in captions.iter() {
            references.entry(id.clone()).or_default().push(text.to_owned());
        }
        return Ok(Some(references));
    }
    let rows = read_rows(file.bytes(), &file.name)?;
    for row in rows.iter() {
        let first =
            |names: &[String]| names.iter().find(|name| rows.columns().contains(name)).map(String::to_owned);
        let (id, list) = (first(&reading.columns.image), first(&reading.columns.references));
        let id = id.and_then(|column| image(&row, &column, reading));
        let list = list.and_then(|column| row.texts(&column));
        let (Some(id), Some(list)) = (id, list) else {
            let what = format!("{}: an image id and references are expected", place(&file.name, &row));
            return Err(Error::new(what, "give the real file"));
        };
        references.entry(id).or_default().extend(list);
    }
    Ok(Some(references))
}

/// Replaces ratings by the means of those in files of corrections, for the same picture and caption.
fn correct(gathering: &mut Gathering, files: &Files<'_>) -> Result<(), Error> {
    let mut known: HashMap<(String, String), Vec<f64>> = HashMap::new();
    let stem = |id: &SegmentId| {
        let name = id.to_string();
        let name = name.rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
    };
    let mut any = false;
    for file in files.all(Role::Corrections) {
        any = true;
        let rows = read_rows(file.bytes(), &file.name)?;
        let named = ColumnNames::choose(&files.reading.columns, &rows, &file.name)?;
        let Some(image) = named.image else { continue };
        for row in rows.iter() {
            let (Some(id), Some(caption), Some(numbers)) =
                (row.id(image), row.text(named.caption), row.numbers(named.rating))
            else {
                let what =
                    format!("{}: an image, a caption and a number are expected", place(&file.name, &row));
                return Err(Error::new(what, "give the real file"));
            };
            known.entry((stem(&id), joined(&caption))).or_default().extend(numbers);
        }
    }
    if !any {
        return Ok(());
    }
    let images = &gathering.images;
    for item in &mut gathering.items {
        let Some(RatedCaption::Text(caption)) = &item.caption else { continue };
        let image = images.get(&item.image).unwrap_or(&item.image);
        if let Some(numbers) = known.get(&(stem(image), caption.clone())) {
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            item.ratings.fill(mean);
        }
    }
    Ok(())
}

fn of_objects(files: &Files<'_>) -> Result<Data, Error> {
    let (reading, file) = (files.reading, files.one(Role::Ratings)?);
    let name = &file.name;
    let text = capeval::corpus::unpack(file.bytes(), name, false)?;
    let wrong = |what: String| Error::new(format!("{name}: {what}"), "give the real file");
    let objects: serde_json::Map<String, Value> = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("not a JSON object of objects: {error}")))?;
    let mut gathering = Gathering::new(name);
    for (id, object) in &objects {
        let field = |names: &[String], what: &str| {
            names.iter().find_map(|key| object.get(key)).ok_or_else(|| {
                wrong(format!("{id}: there is no {}, which holds the {what}", names.join(" or ")))
            })
        };
        let columns = &reading.columns;
        let caption = field(&columns.caption, "rated caption")?.as_str();
        let caption = caption.map(joined).ok_or_else(|| wrong(format!("{id}: the caption is not text")))?;
        let references = field(&columns.references, "references")?.as_array().into_iter().flatten();
        let references: Option<Vec<String>> = references.map(|text| text.as_str().map(joined)).collect();
        let references = references.filter(|list| !list.is_empty());
        let references =
            references.ok_or_else(|| wrong(format!("{id}: the references are not a list of texts")))?;
        let people = field(&columns.rating, "ratings")?.as_array();
        let of_person = |person: &Value| match reading.pick {
            Some(pick) => person.get(pick)?.as_f64(),
            None => person.as_f64(),
        };
        let ratings: Option<Vec<f64>> = people.and_then(|people| people.iter().map(of_person).collect());
        let ratings = ratings.ok_or_else(|| {
            let nth = reading.pick.map_or_else(String::new, |pick| format!(" {} or more", pick + 1));
            wrong(format!("{id}: the ratings are not lists of{nth} numbers"))
        })?;
        let image = Some(SegmentId::from(id.as_str()));
        gathering.add(RatedRow { image, caption, system: None, references, ratings });
    }
    gathering.data()
}

fn of_lines(files: &Files<'_>) -> Result<Data, Error> {
    let judgements = files.one(Role::Judgements)?;
    let rows = read_rows(judgements.bytes(), &judgements.name)?;
    let lines = |file: &FoundFile| -> Result<Vec<String>, Error> {
        let content = capeval::corpus::unpack(file.bytes(), &file.name, false)?;
        let text = std::str::from_utf8(&content)
            .map_err(|_| Error::new(format!("{}: invalid UTF-8", file.name), "give the real file"))?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if lines.len() != rows.len() {
            return Err(Error::new(
                format!(
                    "{} has {}, and {} {}",
                    file.name,
                    counted(lines.len(), "line"),
                    judgements.name,
                    counted(rows.len(), "row")
                ),
                "give files of one version",
            ));
        }
        Ok(lines)
    };
    let candidates = lines(files.one(Role::Candidates)?)?;
    let references = files.all(Role::References).map(lines).collect::<Result<Vec<_>, _>>()?;
    let raters: Vec<&String> = rows.columns().iter().filter(|name| is_judge(name)).collect();
    if raters.is_empty() {
        let message = format!(
            "{}: no column j1, j2, … holds ratings; the columns are {}",
            judgements.name,
            rows.columns().join(", ")
        );
        return Err(Error::new(message, "give the real file"));
    }
    let mut gathering = Gathering::new(&judgements.name);
    for (k, row) in rows.iter().enumerate() {
        let wrong = |what: &str| {
            Error::new(format!("{}: {what}", place(&judgements.name, &row)), "give the real file")
        };
        let image = row.id("imageid").ok_or_else(|| wrong("there is no imageid"))?;
        let ratings: Option<Vec<f64>> =
            raters.iter().map(|name| row.numbers(name)?.first().copied()).collect();
        let ratings = ratings.filter(|all| all.iter().all(|x| x.is_finite()));
        let ratings = ratings.ok_or_else(|| wrong("the ratings are not numbers"))?;
        // The same caption may be rated for several images, and twice for one.
        let system = Some(format!("line {}", k + 1));
        let caption = candidates.get(k).cloned().unwrap_or_default();
        let references = references.iter().filter_map(|lines| lines.get(k).cloned()).collect();
        gathering.add(RatedRow { image: Some(image), caption, system, references, ratings });
    }
    let mut data = gathering.data()?;
    if let People::Ratings(ratings) = &mut data.people {
        ratings.items.iter_mut().for_each(|item| item.system = None);
    }
    Ok(data)
}

fn is_judge(name: &str) -> bool {
    name.strip_prefix('j').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[derive(Deserialize)]
struct Foil {
    annotations: Vec<Annotation>,
}

#[derive(Deserialize)]
struct Annotation {
    id: i64,
    image_id: i64,
    caption: String,
    foil: bool,
}

fn of_foil(files: &Files<'_>) -> Result<Data, Error> {
    let (file, captions) = (files.one(Role::Pairs)?, files.one(Role::References)?);
    let name = &file.name;
    let wrong = |what: String| Error::new(format!("{name}: {what}"), "give the real file");
    let text = capeval::corpus::unpack(file.bytes(), name, true)?;
    let foil: Foil = serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("not FOIL's JSON with annotations: {error}")))?;
    let read = capeval_files::captions_in(&captions.name, captions.bytes(), &ReadOptions::references())?;
    let mut references: HashMap<i64, Vec<&str>> = HashMap::new();
    for (id, text) in read.iter() {
        if let Some(number) = number_of(id) {
            references.entry(number).or_default().push(text);
        }
    }
    let right: HashMap<i64, &Annotation> =
        foil.annotations.iter().filter(|annotation| !annotation.foil).map(|one| (one.id, one)).collect();
    let mut items = Vec::new();
    for annotation in foil.annotations.iter().filter(|annotation| annotation.foil) {
        let right = right.get(&annotation.id).ok_or_else(|| {
            wrong(format!("annotation {} has a wrong caption and no right one", annotation.id))
        })?;
        let known = references.get(&annotation.image_id).ok_or_else(|| {
            wrong(format!("image {} has no references in {}", annotation.image_id, captions.name))
        })?;
        let (right, foil) = (joined(&right.caption), joined(&annotation.caption));
        let others: Vec<String> =
            known.iter().map(|text| joined(text)).filter(|text| *text != right).collect();
        if others.is_empty() {
            return Err(wrong(format!(
                "image {} has no reference but the right caption",
                annotation.image_id
            )));
        }
        items.push(Choice {
            image: SegmentId::Integer(annotation.image_id),
            captions: [right, foil],
            votes: [1.0, 0.0],
            category: None,
            references: others,
        });
    }
    if items.is_empty() {
        return Err(wrong("there is no pair in this file".to_owned()));
    }
    Ok(Data::of(People::Pairs(Choices { source: name.clone(), items, unvoted: 0 })))
}
