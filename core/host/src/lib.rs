//! Plugin host: registry, resolver, loaders and adapters.
