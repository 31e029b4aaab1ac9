//! The configuration: TOML, defaults, presets, every problem at once.
