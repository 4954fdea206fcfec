//! The description of a method as a client sends it, by name, and as the database stores it.

use axum::extract::{FromRequest, Request};
use axum::response::Response;
use capeval_api::{AboutChange, Cell, Cells};
use capeval_site::prelude::*;
use capeval_site::store::Columns;
use capeval_site::web::is_program;
use capeval_site::web::signature::{Contract, Input};
use indexmap::IndexMap;
use serde::Deserialize;

use super::columns::Column;

/// The most characters of a description.
const DESCRIPTION: usize = 2_000;

/// The most characters of the authors.
const AUTHORS: usize = 500;

/// The most bytes of a link.
const LINK: usize = 500;

/// The most tags, and the most characters of one.
const TAGS: usize = 10;
const TAG: usize = 30;

/// The prefix of the names of fields that fill in a column of the phase.
const COLUMN: &str = "column.";

/// The description of a method, as a form or a client sends it.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub method: String,
    /// The team's text about it.
    pub description: String,
    pub authors: String,
    /// A link to a paper or a page.
    pub link: String,
    /// A link to the code.
    pub code: String,
    /// With commas between them.
    pub tags: String,
    /// The entries in the columns of the phase, by their keys.
    pub columns: IndexMap<String, String>,
    /// The team, if the person is in several.
    pub team: Option<String>,
}

/// The description of a method beside its name, text and link, as rows store it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct MethodDetails {
    pub authors: String,
    /// A link to the code.
    pub code: String,
    #[serde(deserialize_with = "store::json")]
    pub tags: Vec<String>,
    /// The entries in the columns of the phase, by their keys.
    #[serde(deserialize_with = "store::json")]
    pub details: Cells,
}

/// The checked description of a method.
pub struct CheckedMethod {
    pub method: String,
    pub description: String,
    pub link: String,
    pub method_details: MethodDetails,
    pub team: Option<String>,
}

impl CheckedMethod {
    /// The columns of a submission that store it.
    pub fn row(&self) -> Result<Columns, Error> {
        let MethodDetails { authors, code, tags, details } = &self.method_details;
        Ok(columns! {
            method: &self.method, description: &self.description, link: &self.link, authors, code,
            tags: store::list(tags)?, details: store::list(details)?,
        })
    }
}

impl About {
    /// Collects values by names, such as those of a form.
    pub fn of(given: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut about = Self::default();
        for (name, text) in given {
            about.set(&name, text);
        }
        about
    }

    /// The names of its fields; that of a column of the phase begins with `column.`.
    pub const FIELDS: [&str; 8] =
        ["method", "description", "authors", "link", "code", "tags", "team", "column.*"];

    /// Says something else in the field with this name; returns false if there is none.
    pub fn set(&mut self, name: &str, text: String) -> bool {
        match name {
            "method" => self.method = text,
            "description" => self.description = text,
            "authors" => self.authors = text,
            "link" => self.link = text,
            "code" => self.code = text,
            "tags" => self.tags = text,
            "team" => self.team = Some(text).filter(|team| !team.is_empty()),
            _ => {
                let Some(key) = name.strip_prefix(COLUMN) else { return false };
                self.columns.insert(key.to_owned(), text);
            }
        }
        true
    }

    /// Returns true if it says more than the name of the method and the columns of the phase.
    pub fn says_more(&self) -> bool {
        [&self.description, &self.authors, &self.link, &self.code, &self.tags]
            .iter()
            .any(|text| !text.is_empty())
    }

    /// The value that was sent for a column.
    pub fn column(&self, key: &str) -> &str {
        self.columns.get(key).map_or("", String::as_str)
    }

    /// Itself in the form in which it is stored, with the columns that the phase has.
    pub fn checked(mut self, columns: &[Column]) -> Result<CheckedMethod> {
        let method = people::name(&self.method).map_err(|_| {
            fault!(UNPROCESSABLE_ENTITY, "method", "Give the method a name of 1 to 80 characters.")
        })?;
        let description = clean_text::lines(&self.description);
        if description.chars().count() > DESCRIPTION {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "description",
                "The description can have at most {} characters.", DESCRIPTION
            });
        }
        let authors = clean_text::line(&self.authors);
        if authors.chars().count() > AUTHORS {
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "authors", "The authors can have at most {} characters.", AUTHORS
            });
        }
        let mut details = Cells::new();
        for column in columns {
            let given = self.columns.shift_remove(&column.key).unwrap_or_default();
            if let Some(cell) = column.read(&given)? {
                details.insert(column.key.clone(), cell);
            }
        }
        if let Some((unknown, _)) = self.columns.iter().find(|(_, given)| !given.trim().is_empty()) {
            let keys: Vec<&str> = columns.iter().map(|column| column.key.as_str()).collect();
            return Err(fault! {
                UNPROCESSABLE_ENTITY, "column", "This phase has no column {}. Its columns: {}", unknown,
                if keys.is_empty() { "–".to_owned() } else { keys.join(", ") }
            });
        }
        Ok(CheckedMethod {
            method,
            description,
            link: link(&self.link)?,
            method_details: MethodDetails {
                authors,
                code: link(&self.code)?,
                tags: tags(&self.tags)?,
                details,
            },
            team: self.team,
        })
    }
}

/// An address of a page, or nothing.
fn link(text: &str) -> Result<String> {
    let link = text.trim();
    let is_address = link.is_empty() || link.starts_with("https://") || link.starts_with("http://");
    if !is_address
        || link.len() > LINK
        || link != clean_text::line(link)
        || link.contains(char::is_whitespace)
    {
        return Err(fault!(UNPROCESSABLE_ENTITY, "link", "The link must begin with https:// or http://."));
    }
    Ok(link.to_owned())
}

/// The tags in a text with commas, in small letters, so that one tag is written in one way.
fn tags(text: &str) -> Result<Vec<String>> {
    let mut tags: Vec<String> = Vec::new();
    for tag in text.split([',', '，', '、']).map(|tag| clean_text::line(tag).to_lowercase()) {
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > TAGS || tags.iter().any(|tag| tag.chars().count() > TAG) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "tags", "Give at most {} tags of at most {} characters each.", TAGS, TAG
        });
    }
    Ok(tags)
}

impl MethodDetails {
    /// Its entry in a column; `None` if there is none, or if the hosts have changed the type of the column.
    pub fn cell(&self, column: &Column) -> Option<&Cell> {
        self.details.get(&column.key).filter(|cell| column.has(cell))
    }

    /// Its entries in the columns of a phase.
    pub fn cells(&self, columns: &[Column]) -> Cells {
        let said = columns.iter().filter_map(|column| Some((column.key.clone(), self.cell(column)?.clone())));
        said.collect()
    }
}

/// Changes to the description of a method, by the names of a form.
pub struct Changes(pub Vec<(String, String)>);

impl FromRequest<App> for Changes {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        if is_program(request.uri().path()) {
            let Body(change) = Body::<AboutChange>::from_request(request, app).await?;
            return Ok(change.into());
        }
        Body::from_request(request, app).await.map(|Body(fields)| Self(fields))
    }
}

impl Input for Changes {
    fn describe(contract: &mut Contract) {
        Body::<AboutChange>::describe(contract);
    }
}

impl From<AboutChange> for Changes {
    fn from(change: AboutChange) -> Self {
        let AboutChange { method, description, authors, link, code, tags, columns } = change;
        let tags = tags.map(|tags| tags.join(","));
        let fields = [
            ("method", method),
            ("description", description),
            ("authors", authors),
            ("link", link),
            ("code", code),
            ("tags", tags),
        ];
        let fields = fields.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
        let columns = columns.into_iter().map(|(key, cell)| {
            let text = cell.map_or(String::new(), |cell| cell.to_string());
            (format!("{COLUMN}{key}"), text)
        });
        Self(fields.chain(columns).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_can_be_set() {
        for name in About::FIELDS {
            assert!(About::default().set(name, String::new()), "{name}");
        }
        assert!(!About::default().set("metod", String::new()));
    }

    #[test]
    fn tags_are_written_in_one_way() {
        assert_eq!(tags(" CLIP, clip ,Zero  Shot，多模态,,").unwrap(), ["clip", "zero shot", "多模态"]);
        assert!(tags(&(0..11).map(|k| k.to_string()).collect::<Vec<_>>().join(",")).is_err());
        assert!(tags(&"x".repeat(31)).is_err());
    }

    #[test]
    fn links_lead_to_pages() {
        assert_eq!(link(" https://example.org/a?b=c ").unwrap(), "https://example.org/a?b=c");
        for wrong in
            ["javascript:alert(1)", "//example.org", "ftp://example.org", "https://a b", "https://a\u{202e}b"]
        {
            assert!(link(wrong).is_err(), "{wrong}");
        }
    }
}
