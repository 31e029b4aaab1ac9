//! The table of strategies that ship with epitome.

use epitome_strategy::{Registration, Registry, RegistryError};

/// Every strategy that ships: the dependencies of this crate, in the order of its manifest. A new one needs its crate
/// and a line there.
fn registrations() -> Vec<Registration> {
    include!(concat!(env!("OUT_DIR"), "/registrations.rs"))
}

/// Returns a registry of every strategy that ships. A host adds its own with [`Registry::register`].
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry).unwrap_or_else(|error| unreachable!("a test makes sure that no id stands twice: {error}"));
    registry
}

/// Adds every strategy that ships to `registry`. Errors when one of their ids is in use.
pub fn register(registry: &mut Registry) -> Result<(), RegistryError> {
    registrations().into_iter().try_for_each(|registration| registry.register(registration))
}

#[cfg(test)]
mod tests;
