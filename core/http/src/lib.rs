//! HTTP client of the measuring path: timestamps, pools, SSE framing.
