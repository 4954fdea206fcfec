//! Vectors that a user brings.
use capeval::choice::SegmentId;
use capeval_choice::Refusal;
use std::collections::HashMap;

/// Vectors by the ids of images, or by texts.
pub struct Vectors {
    name: String,
    hash: String,
    dims: usize,
    rows: Vec<f32>,
    places: HashMap<SegmentId, Vec<usize>>,
}

impl Vectors {
    /// Rows of `dims` numbers, one after another, each with its id.
    pub fn from_rows(name: &str, ids: Vec<SegmentId>, dims: usize, rows: Vec<f32>) -> Result<Self, Refusal> {
        let hash = crate::hash::of(&rows.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        let mut places: HashMap<SegmentId, Vec<usize>> = HashMap::new();
        for (row, id) in ids.into_iter().enumerate() {
            places.entry(id).or_default().push(row);
        }
        Ok(Self { name: name.to_owned(), hash, dims, rows, places })
    }
    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The first digits of its hash.
    pub fn short_hash(&self) -> &str {
        crate::hash::short(&self.hash)
    }
    /// The length of a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }
    /// The one vector of an id.
    pub fn one(&self, id: &SegmentId) -> Result<&[f32], Refusal> {
        self.all(id)
            .next()
            .ok_or_else(|| Refusal::new(format!("{} has no vector of image {}", self.name, id.quoted())))
    }
    /// All vectors of an id.
    pub fn all(&self, id: &SegmentId) -> impl Iterator<Item = &[f32]> {
        let rows = self.places.get(id).map_or(&[][..], Vec::as_slice);
        rows.iter().filter_map(|row| self.rows.get(row * self.dims..(row + 1) * self.dims))
    }
    /// The vector of a text.
    pub fn of_text(&self, text: &str) -> Option<&[f32]> {
        self.all(&SegmentId::Text(text.into())).next()
    }
}
impl Vectors {
    /// stub
    pub fn open(path: &str) -> Result<Self, capeval_files::Error> {
        Err(Refusal::new("not yet").at(path).into())
    }
}
