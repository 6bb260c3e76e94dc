//! What this binary carries for plugin authors. `build.rs` lists it.

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The manifest of the workspace that the SDK's sources stand in.
pub(super) const WORKSPACE: &str = include_str!(concat!(env!("OUT_DIR"), "/sdk_workspace.toml"));
