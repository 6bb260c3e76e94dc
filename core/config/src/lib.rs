//! Command-line flags and configuration files, turned into one validated run plan.
