//! The names that nearly every file of a feature needs, for `use capeval_site::prelude::*`.

pub use crate::accounts::{Visitor, people};
pub use crate::app::App;
pub use crate::fault::{Fault, Result};
pub use crate::jobs::queue::Priority;
pub use crate::jobs::{self, Failure, Job, Lane, Work};
pub use crate::paging::{At, List, Place, Rows};
pub use crate::store::{self, Error, Store, Tx};
pub use crate::web::language::{Language, say};
pub use crate::web::route::{get, post};
pub use crate::web::{
    Access, Answer, Body, Created, Either, Hosted, Names, NoContent, Own, Page, Route, Scope, Slug, Standing,
    Subject, UrlQuery, Visible, encode,
};
pub use crate::{args, audit, clean_text, clock, columns, fault, ids, reason};
