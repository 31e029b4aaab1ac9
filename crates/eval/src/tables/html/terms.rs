//! The names and definitions of figures.

use std::sync::LazyLock;

use serde::Deserialize;

/// A figure that the page explains.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Term {
    /// Its id in the page.
    pub(super) id: String,
    /// Its name in headings of tables.
    pub(super) short: String,
    /// Its name in a text.
    pub(super) name: String,
    /// Its definition.
    pub(super) definition: String,
}

#[derive(Default, Deserialize)]
struct Terms {
    terms: Vec<Term>,
}

/// All of them: a test reads the file.
static TERMS: LazyLock<Terms> = LazyLock::new(|| toml::from_str(include_str!("terms.toml")).unwrap_or_default());

/// Returns the figures in the order of their definitions.
pub(super) fn terms() -> &'static [Term] {
    &TERMS.terms
}

/// Returns the figure of an id; a test makes sure that each id in use has one.
pub(super) fn term(id: &str) -> &'static Term {
    static UNKNOWN: LazyLock<Term> = LazyLock::new(Term::default);
    terms().iter().find(|term| term.id == id).unwrap_or(&UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::metric::Metric;

    #[test]
    fn each_figure_has_a_definition() {
        let columns = ["kept", "usable", "over", "invalid", "system", "failed", "unchanged", "cache-loss", "ms"];
        let others = columns.into_iter().chain([super::super::AVERAGES, super::super::DIFFERENCE]);
        let used: Vec<&str> = Metric::ALL.map(Metric::as_str).into_iter().chain(others).collect();
        assert_eq!(terms().len(), used.len());
        assert!(used.iter().all(|id| term(id).id == *id && !term(id).definition.is_empty()), "{used:?}");
    }
}
