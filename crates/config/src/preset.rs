//! Presets: named sets of values between the defaults and the file.

use std::fmt;

/// A named set of values. Explicit keys override it.
///
/// Thresholds, reserve, kept messages and summary length are those of the desktop design that the presets come from,
/// which has no target: it is half of the soft threshold here. The window stays what it is: it belongs to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Small thresholds, to see compactions early.
    Development,
    /// Everyday work with models that answer best on short contexts.
    Production,
    /// More room before anything leaves.
    LargeContext,
}

/// The figures of one preset.
pub(crate) struct Figures {
    pub(crate) soft: u32,
    pub(crate) hard: u32,
    pub(crate) reserve: u32,
    pub(crate) keep_recent_messages: u32,
    pub(crate) summary_max_tokens: u32,
}

impl Preset {
    /// Every preset, with a few words on it.
    pub const ALL: [(Self, &str, &str); 3] = [
        (Self::Development, "development", "small thresholds, to see compactions early"),
        (Self::Production, "production", "everyday work on short contexts"),
        (Self::LargeContext, "large-context", "more room before anything leaves"),
    ];

    /// Its name in the file.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(preset, ..)| *preset == self).map_or("", |(_, name, _)| name)
    }

    /// The preset of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(preset, ..)| *preset)
    }

    pub(crate) fn figures(self) -> Figures {
        let (soft, hard, reserve, keep_recent_messages, summary_max_tokens) = match self {
            Self::Development => (5_000, 8_000, 2_000, 4, 400),
            Self::Production => (15_000, 20_000, 4_000, 6, 800),
            Self::LargeContext => (25_000, 30_000, 6_000, 10, 1_200),
        };
        Figures { soft, hard, reserve, keep_recent_messages, summary_max_tokens }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
