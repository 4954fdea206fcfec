//! Receives a plan with its files: a form, or a plan as TOML or JSON with files that it names.

use std::collections::HashMap;

use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use capeval_site::blobs::Draft;
use capeval_site::prelude::*;
use capeval_site::web::answer::unknown_fields;
use capeval_site::web::is_program;
use serde::de::DeserializeOwned;

use crate::apply::{Files, SentFile};
use crate::upload;

/// The most bytes of a plan.
const PLAN: usize = 1 << 20;

/// The beginning of the name of a field that stands for a file that came with a form before.
const KEPT: &str = "kept.";

/// A file of a form that was refused, which stays chosen.
pub struct KeptFile {
    /// The field that it came in.
    pub field: String,
    /// The name that it had.
    pub name: String,
    /// The secret by which the next form names it; it is of use to the same account only.
    pub token: String,
}

/// The name under which a file is set aside.
fn secret(by: &Visitor, token: &str) -> String {
    format!("{} {token}", by.id)
}

/// The content of a request.
#[derive(Default)]
pub struct Parcel {
    /// The fields with text, in order.
    pub fields: Vec<(String, String)>,
    /// The files: those of the field `file` by their own names, all others by those of their fields.
    files: HashMap<String, SentFile>,
    /// The drafts that keep the files until they are stored, by the keys of the files.
    drafts: Vec<(String, Draft)>,
    /// The files that came with a form before.
    kept: Vec<KeptFile>,
}

impl Parcel {
    /// A form without files, for fuzz targets.
    #[cfg(fuzzing)]
    pub fn of_fields(fields: Vec<(String, String)>) -> Self {
        Self { fields, ..Self::default() }
    }

    /// Receives a form; the body of a program that sends no form is the field `plan`.
    pub async fn receive(app: &App, by: &Visitor, request: Request) -> Result<Self> {
        upload::limit(app, by)?;
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mut parcel = Self::default();
        if !kind.unwrap_or("").starts_with("multipart/form-data") {
            let body = axum::body::to_bytes(request.into_body(), PLAN).await.map_err(|_| upload::broken())?;
            parcel.fields.push(("plan".to_owned(), String::from_utf8_lossy(&body).into_owned()));
            return Ok(parcel);
        }
        let is_program = is_program(request.uri().path());
        let mut form = Multipart::from_request(request, app).await.map_err(|_| upload::broken())?;
        while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
            let name = field.name().unwrap_or("").to_owned();
            let file = field.file_name().map(str::to_owned);
            match file {
                Some(file) if name != "plan" => {
                    parcel.add(name, file, upload::of_hidden_field(app, field).await?);
                }
                _ => {
                    let text = field.text().await.map_err(|_| upload::broken())?;
                    parcel.fields.push((name, text.replace("\r\n", "\n")));
                }
            }
        }
        let names = parcel.fields.iter().map(|(name, _)| name).filter(|name| *name != "plan");
        let unknown: Vec<String> = names.cloned().collect();
        if is_program && !unknown.is_empty() {
            return Err(unknown_fields(unknown));
        }
        parcel.find_kept(app, by);
        Ok(parcel)
    }

    /// Finds the files that came before, apart from those that came again.
    fn find_kept(&mut self, app: &App, by: &Visitor) {
        let (kept, fields) =
            std::mem::take(&mut self.fields).into_iter().partition(|(name, _)| name.starts_with(KEPT));
        self.fields = fields;
        let kept: Vec<(String, String)> = kept;
        for (field, text) in kept {
            let (field, Some((token, name))) = (&field[KEPT.len()..], text.split_once('/')) else { continue };
            let path = app.hidden.aside(&secret(by, token));
            if path.exists() && !self.has_file(field) {
                self.files.insert(field.to_owned(), SentFile { name: name.to_owned(), path });
                self.kept.push(KeptFile {
                    field: field.to_owned(),
                    name: name.to_owned(),
                    token: token.to_owned(),
                });
            }
        }
    }

    /// Sets the files aside for a day, so that they stay chosen in the form that follows.
    pub fn keep(self, app: &App, by: &Visitor) -> Result<Vec<KeptFile>> {
        let Self { files, drafts, mut kept, .. } = self;
        for (field, draft) in drafts {
            let token = ids::secret()?;
            app.hidden.set_aside(draft, &secret(by, &token))?;
            let name = files.get(&field).map_or_else(String::new, |file| file.name.clone());
            kept.push(KeptFile { field, name, token });
        }
        Ok(kept)
    }

    fn add(&mut self, field: String, file: String, draft: Draft) {
        // A field in which no file was chosen.
        if file.is_empty() && draft.size() == 0 {
            return;
        }
        let own = file.rsplit(['/', '\\']).next().unwrap_or("").to_owned();
        let key = if field == "file" { own.clone() } else { field };
        self.files.insert(key.clone(), SentFile { name: own, path: draft.path().to_owned() });
        self.drafts.push((key, draft));
    }

    /// The first field with this name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Returns true if a file came in this field.
    pub fn has_file(&self, field: &str) -> bool {
        self.files.contains_key(field)
    }

    /// The files, for as long as the parcel lives.
    pub fn files(&self) -> Files {
        Files::Sent(self.files.clone())
    }

    /// The plan in the field `plan`, in TOML or in JSON.
    pub fn plan<T: DeserializeOwned>(&self) -> Result<T> {
        let text = self.field("plan").unwrap_or("");
        let read = match text.trim_start().starts_with('{') {
            true => of_json(text),
            false => toml::from_str(text).map_err(|error| error.to_string()),
        };
        read.map_err(|error| {
            fault!(UNPROCESSABLE_ENTITY, "plan", "The description of the benchmark is not valid: {}", error)
        })
    }
}

/// Reads JSON; what is wrong is said with the name of its field.
fn of_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}
