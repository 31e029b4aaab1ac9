//! Which environment variables hold a tenant's keys.

use std::sync::Arc;

/// The prefix of all tenants' variables.
const ALL: &str = "EPITOME_KEY_";

/// The prefix of a tenant's variables: `EPITOME_KEY_`, its name in capitals with `_` for each character that is not a
/// letter or a digit, and `_`.
pub(crate) fn prefix(tenant: &str) -> String {
    let capital = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
    format!("{ALL}{}_", tenant.chars().map(capital).collect::<String>())
}

/// Whether an environment variable belongs to the tenant, and not also to another: those of `a` begin as those of `a-b`
/// do, and those of `a-b` as those of `A_B`.
pub(crate) fn is_of(variable: &str, tenant: &str, tenants: &[Arc<str>]) -> bool {
    let own = prefix(tenant);
    let is_another = |other: &Arc<str>| {
        let prefix = prefix(other);
        **other != *tenant && prefix.len() >= own.len() && variable.starts_with(&prefix)
    };
    variable.len() > own.len() && variable.starts_with(&own) && !tenants.iter().any(is_another)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_tenants() {
        let tenants: Vec<Arc<str>> = ["a", "a-b", "a b", "Team.7"].map(Arc::from).into();
        for (variable, tenant, expect) in [
            ("EPITOME_KEY_A_OPENAI", "a", true),
            ("EPITOME_KEY_A_", "a", false),
            ("EPITOME_KEY_A", "a", false),
            ("OPENAI_API_KEY", "a", false),
            ("EPITOME_KEY_B_OPENAI", "a", false),
            ("EPITOME_KEY_A_B_OPENAI", "a", false),
            ("EPITOME_KEY_A_B_OPENAI", "a-b", false), // nor can it be told from that of `a b`
            ("EPITOME_KEY_A_BEST", "a", true),
            ("EPITOME_KEY_TEAM_7_X", "Team.7", true),
            ("EPITOME_KEY_DEFAULT_X", "default", true),
        ] {
            assert_eq!(is_of(variable, tenant, &tenants), expect, "{variable} of {tenant}");
        }
    }
}
