//! How the contract crosses a library boundary: ABI-stable vtables around the plain traits.
//!
//! * [`root`]: the root module that every library exports.
//! * [`traits`]: one vtable per category.
//! * [`export`]: plain trait → vtable, on the plugin's side. Catches panics, in calls and in `Drop`.
//! * [`timing`]: events and actions as flat records.
//! * [`import`]: vtable → plain trait, on the host's side.
//!
//! Nothing outside this module, [`crate::mirror`] and the host's loader names a type of `abi_stable`.

pub mod export;
pub mod import;
pub mod root;
pub mod timing;
pub mod traits;

pub use abi_stable::{self, library::LibHeader};
pub use export::root;
pub use root::{PluginModule, PluginModuleRef, header};
