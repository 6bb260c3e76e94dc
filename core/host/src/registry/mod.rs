//! Registry files: what packages exist, what entries they bring, and where their code lies. Pure data: reading one
//! never opens a library.

mod api_range;
mod error;
mod fields;
mod model;
mod node;
mod read;

pub use api_range::ApiRange;
pub use error::{Position, RegistryError};
pub(crate) use model::SchemaSource;
pub use model::{Entry, Form, Library, OnError, Package, RegistryFile, Sha256, Source};
pub(crate) use node::{Node, Value as Tree};
pub use read::HOST_TARGET;
