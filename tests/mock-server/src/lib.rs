//! OpenAI-shaped mock server with scripted timing.
