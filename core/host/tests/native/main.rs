//! The native loader against real files: the fixture plugins of `examples/`, and broken copies of them.

mod broken;
mod components;
mod messages;
mod scene;
mod works;
