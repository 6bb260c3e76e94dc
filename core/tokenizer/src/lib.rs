//! Tokenizers that need no network, and prompt text of exact token length.
