//! Opening packages.
//!
//! * `inspect`: what a library file says about itself, read from its bytes without running any of it.
//! * `library`: the library file of a package, found and verified.
//! * `native`: a library becomes a root module. The only unsafe code of this crate.
//! * `difference`: where types that do not fit differ.
//! * `package`: the form, the file and the checks around both.
//!
//! A package is never unloaded: its code may be referred to from anywhere.

mod difference;
mod error;
mod inspect;
mod library;
mod native;
mod package;

pub use error::{LoadCause, LoadError};
pub(crate) use inspect::kind;
pub use inspect::version_info;
pub use package::{BundledPackage, inspect};
pub(crate) use package::{LoadedPackage, Loader};
