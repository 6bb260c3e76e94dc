//! Packages as WebAssembly components: code that nobody needs to trust.
//!
//! * `bindings`: types and calls generated from `plugin-api/wit`.
//! * `engine`: one compiler and runtime for the process, and the clock that ends calls which take too long.
//! * `guest`: what an instance holds on the host's side: the services it may call, and its limits. There are no others: a
//!   component that asks for a file, a socket, a clock or the environment is refused before it runs.
//! * `component`: a file becomes a component that can be instantiated.
//! * `compiler`: work on files that nobody vouches for, in a child process with limits.
//! * `cache`: compiled code, kept from one run to the next.
//! * `trap`: why a call ended, in words.
//! * `inspect`: what a component says about itself, read from its bytes.
//! * `instance`: one instance with one opened entry.
//! * `pool`, `single`: instances of stateless and of stateful entries.
//! * `categories`: the contract's traits over both.

mod bindings;
mod cache;
mod categories;
mod compiler;
mod component;
mod engine;
mod guest;
mod inspect;
mod instance;
mod pool;
mod single;
mod trap;

pub use compiler::{Compiler, Task};
pub use component::WasmSettings;
pub(crate) use component::{Component, ComponentFile, WasmPackage};
pub use inspect::{component, component_info};
