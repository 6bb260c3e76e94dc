//! Load engine: phases, credits, workers, message bus.
