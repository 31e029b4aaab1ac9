//! The keys that act where no session of the fixtures shows it: each with the reason, and the test that shows it.

/// A key that acts elsewhere.
pub(crate) struct Elsewhere {
    pub(crate) key: &'static str,
    /// Why the trials cannot show it.
    pub(crate) why: &'static str,
    /// The file of the test, from the project's root.
    pub(crate) file: &'static str,
    /// The test, by the name of its function.
    pub(crate) test: &'static str,
}

const fn at(key: &'static str, why: &'static str, file: &'static str, test: &'static str) -> Elsewhere {
    Elsewhere { key, why, file, test }
}

const MODEL: &str = "it takes a model's service";
const HANDOFF: &str = "crates/server/tests/it/proxy_handoff.rs";
const CHAT: &str = "crates/providers/tests/chat.rs";
const OPENAI: &str = "crates/providers/tests/openai.rs";
const CLI: &str = "crates/cli/tests/it/model.rs";
const ASKED: &str = "it takes a model that asks for a compaction";
const VECTORS: &str = "it takes a service of vectors";
const NEURAL: &str = "it takes a build with a neural model, its library and its files";

pub(crate) const ELSEWHERE: &[Elsewhere] = &[
    at("summary.channel", MODEL, CLI, "channels_models_and_agents_are_chosen_by_name"),
    at("summary.model", MODEL, CLI, "channels_models_and_agents_are_chosen_by_name"),
    at("summary.fall_back_to_rules", MODEL, CLI, "with_stop_nothing_is_written"),
    at("summary.on_failure", MODEL, CLI, "with_stop_nothing_is_written"),
    at("summary.form", MODEL, "crates/providers/tests/model/prompts.rs", "the_json_form"),
    at("summary.prompts", MODEL, "crates/providers/tests/model/prompts.rs", "prompts_of_ones_own"),
    at("summary.check", MODEL, "crates/providers/tests/model/evidence.rs", "without_a_check_the_text_stays_as_it_is"),
    at("summary.parallel", MODEL, "crates/providers/tests/model/parts.rs", "no_more_than_so_many_at_once"),
    at("summary.reasoning_tokens", MODEL, CLI, "room_to_think_is_asked_for_beside_the_answer"),
    at("summary.cache", MODEL, "crates/providers/tests/model/parts.rs", "a_folder_keeps_answers"),
    at("embeddings.model", VECTORS, OPENAI, "vectors_in_batches"),
    at("embeddings.directory", NEURAL, "crates/providers/tests/fastembed.rs", "a_build_without_fastembed_says_so"),
    at("embeddings.models", NEURAL, "crates/providers/tests/fastembed.rs", "a_build_without_fastembed_says_so"),
    at(
        "embeddings.runtime_library",
        NEURAL,
        "crates/config/tests/problems.rs",
        "embedders_that_cannot_be_made_are_shown_with_their_places",
    ),
    at(
        "embeddings.pooling",
        NEURAL,
        "crates/config/tests/problems.rs",
        "embedders_that_cannot_be_made_are_shown_with_their_places",
    ),
    at("embeddings.base_url", VECTORS, OPENAI, "vectors_in_batches"),
    at("embeddings.key_variable", VECTORS, OPENAI, "the_key_is_sent_and_never_shown"),
    at("embeddings.timeout_seconds", VECTORS, OPENAI, "too_slow"),
    at("embeddings.batch_size", VECTORS, OPENAI, "vectors_in_batches"),
    at("embeddings.dimensions", VECTORS, OPENAI, "vectors_in_batches"),
    at("embeddings.cache", VECTORS, OPENAI, "a_cache_in_front_asks_once"),
    at("embeddings.cache_vectors", VECTORS, OPENAI, "a_cache_in_front_asks_once"),
    at("channels.kind", MODEL, CHAT, "what_is_sent"),
    at("channels.base_url", MODEL, CHAT, "addresses_without_a_version"),
    at("channels.key_variable", MODEL, CLI, "keys_come_from_the_environment_and_never_show"),
    at("channels.key_file", MODEL, CHAT, "keys_out_of_a_file"),
    at("channels.models", MODEL, CLI, "channels_models_and_agents_are_chosen_by_name"),
    at(
        "channels.compaction",
        MODEL,
        "crates/config/tests/models.rs",
        "a_preset_asks_for_a_model_where_there_is_a_channel",
    ),
    at("channels.default", MODEL, "crates/config/tests/models.rs", "the_channel_and_the_model_that_write_summaries"),
    at("channels.timeout_seconds", MODEL, CHAT, "answers_that_are_too_late"),
    at("channels.tries", MODEL, CHAT, "services_that_come_round"),
    at("channels.longest_wait_seconds", MODEL, CLI, "a_longer_wait_than_is_allowed_ends_the_tries"),
    at("channels.window", MODEL, "crates/providers/tests/model/failures.rs", "asking_again_fits_the_window"),
    at("channels.extra", MODEL, CHAT, "further_parameters"),
    at("live.asked_share", ASKED, "crates/epitome/tests/live/by_hand.rs", "a_model_s_wish_is_weighed"),
    at("live.asked_calls", ASKED, "crates/epitome/tests/live/by_hand.rs", "a_model_s_wish_is_weighed"),
    at(
        "proxy.compaction",
        "the proxy alone answers a provider's compaction",
        "crates/server/tests/it/proxy_native.rs",
        "with_the_switch_off_items_that_were_given_still_hold",
    ),
    at(
        "proxy.recall",
        "it takes a conversation through the proxy",
        "crates/server/tests/it/proxy_lookup.rs",
        "switched_off_nothing_is_added",
    ),
    at("summary.ask", MODEL, HANDOFF, "with_the_older_way_the_conversation_is_not_asked"),
    at("summary.background", MODEL, HANDOFF, "nobody_waits"),
    at("agents.channel", MODEL, CLI, "channels_models_and_agents_are_chosen_by_name"),
    at("agents.model", MODEL, CLI, "channels_models_and_agents_are_chosen_by_name"),
];
