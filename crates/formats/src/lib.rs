//! Session formats of agents and providers, read and written.
