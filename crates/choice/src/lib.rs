//! User-facing choices: named values, arguments, ids, and notices and remedies as data.
//!
//! Libraries do not know the command line. An error or a notice carries a [`Remedy`], which refers to an
//! [`Argument`] and a value; each front end implements [`Dialect`] and renders the remedy in its own terms: a
//! flag, a keyword argument or a field of a request.
//!
//! ```
//! use capeval_choice::{Remedy, Argument};
//!
//! let remedy = Remedy::set(Argument::Missing, "skip").to("leave such images out");
//! assert_eq!(remedy.to_string(), "set missing to \"skip\" to leave such images out");
//! ```

mod argument;
mod code;
mod count;
mod formula;
mod id;
mod names;
mod notice;
mod refusal;
mod remedy;
mod system;

pub use argument::{Argument, Role};
pub use code::Code;
pub use count::counted;
pub use formula::{Condition, Derivation, Formula, FormulaError, Function, Operator, Relation, Trend};
pub use id::SegmentId;
pub use names::{Choice, UnknownName, nearest, suggest};
pub use notice::{Notice, NoticeCode};
pub use refusal::Refusal;
pub use remedy::{Dialect, Plain, Remedy, Task};
pub use system::system_words;
#[doc(hidden)]
pub use {names::deserialize, serde};
