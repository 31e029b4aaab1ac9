//! Stores: the same cases over every database, and what is special to each.
#![cfg(any(feature = "sqlite", feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic)]

mod cases;
#[cfg(feature = "postgres")]
mod exchange;
mod host;
mod killed;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::io::Write;

fn tell(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Makes of each case a test over each database.
macro_rules! over_every_database {
    ($($area:ident: $($case:ident),+;)+) => {
        #[cfg(feature = "sqlite")]
        mod over_sqlite {
            $($(
                #[test]
                fn $case() {
                    crate::sqlite::run(crate::cases::$area::$case);
                }
            )+)+
        }
        #[cfg(feature = "postgres")]
        mod over_postgres {
            $($(
                #[test]
                fn $case() {
                    crate::postgres::run(crate::cases::$area::$case);
                }
            )+)+
        }
    };
}

over_every_database! {
    sessions: a_session_comes_back_as_it_was, a_whole_session_is_stored_at_once, a_session_goes_on_where_it_is_loaded, what_is_new_is_saved_at_once,
        recorded_sessions_come_back, a_wrong_version_changes_nothing, what_does_not_fit_changes_nothing;
    views: views_are_those_of_the_session, what_is_behind_a_summary_is_found;
    lists: sessions_are_listed_by_pages, tenants_see_their_own, memories_go_with_their_session, odd_names_are_kept_or_refused;
    memories: memories_are_kept_once_and_found;
    settings: agents_and_channels_are_kept_without_secrets, a_service_key_is_made_once;
    locks: a_lock_keeps_others_waiting;
}
