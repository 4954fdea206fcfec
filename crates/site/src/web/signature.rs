//! Reads the input and output of a handler from its signature: from them come the description of the API and the test
//! of who may do what.

use axum::extract::{Form, Json, Multipart, Path, Query, RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, Redirect, Response, Sse};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::subject::Standing;
use super::{Page, Visitor};
use crate::app::App;

/// Describes a type, and those that it is made of.
pub type Describe = fn(&mut SchemaGenerator) -> Schema;

/// Describes `T`.
pub fn describe<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The input and output of a handler.
#[derive(Clone, Debug, Default)]
pub struct Contract {
    /// The form or the JSON in the body of a request.
    pub body: Option<Describe>,
    /// The query of the address.
    pub query: Option<Describe>,
    /// True if the body is a file, with the query beside it, or a form with both.
    pub is_file: bool,
    /// The things that the address names, and what the visitor must be to them.
    pub subjects: Vec<(&'static str, Standing)>,
    /// The answers when nothing is refused.
    pub replies: Vec<Reply>,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    pub status: u16,
    /// The media type.
    pub kind: &'static str,
    /// The form of its JSON.
    pub schema: Option<Describe>,
}

/// The input of a handler.
#[diagnostic::on_unimplemented(message = "`{Self}` does not say what it takes from a request")]
pub trait Input {
    /// Adds it to a contract.
    fn describe(_contract: &mut Contract) {}
}

/// The output of a handler.
#[diagnostic::on_unimplemented(message = "`{Self}` does not say what it answers")]
pub trait Output {
    /// Adds it to a contract.
    fn describe(_contract: &mut Contract) {}
}

/// A handler whose signature is its contract; `T` is the type by which axum tells handlers apart.
pub trait Signature<T> {
    /// The input and output of the handler.
    fn contract() -> Contract;
}

impl<F: Fn() -> Fut, Fut: Future<Output: Output>> Signature<((),)> for F {
    fn contract() -> Contract {
        let mut contract = Contract::default();
        <Fut::Output as Output>::describe(&mut contract);
        contract
    }
}

macro_rules! signatures {
    ($($input:ident)*) => {
        impl<F, Fut, M, $($input,)*> Signature<(M, $($input,)*)> for F
        where
            F: Fn($($input,)*) -> Fut,
            Fut: Future<Output: Output>,
            $($input: Input,)*
        {
            fn contract() -> Contract {
                let mut contract = Contract::default();
                $($input::describe(&mut contract);)*
                <Fut::Output as Output>::describe(&mut contract);
                contract
            }
        }
    };
}

signatures!(A);
signatures!(A B);
signatures!(A B C);
signatures!(A B C D);
signatures!(A B C D E);
signatures!(A B C D E G);
signatures!(A B C D E G H);

macro_rules! silent {
    ($trait:ident: $(<$($generic:ident),*> $type:ty;)*) => {
        $(impl<$($generic),*> $trait for $type {})*
    };
}

silent! { Input:
    <> App; <> HeaderMap; <> Multipart; <> Page; <> RawQuery; <> Request; <> Visitor;
    <T> Form<T>; <T> Json<T>; <T> Path<T>; <T> Query<T>; <T> State<T>;
}

silent! { Output:
    <> Redirect; <> Response; <> StatusCode; <> String; <> &str;
    <T> Html<T>; <T> Json<T>; <T> Sse<T>; <A, B> (A, B); <A, B, C> (A, B, C);
}

impl<T: Output, E> Output for Result<T, E> {
    fn describe(contract: &mut Contract) {
        T::describe(contract);
    }
}
