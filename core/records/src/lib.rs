//! Records, accumulators, statistics and the report model.
