//! Which providers have a path.

use super::named::Provider::{self, Anthropic, Azure, Google, OpenAi};

/// Paths behind OpenAI's version. A part `*` is any one part, `**` at the end one or more. Source: the API reference,
/// <https://platform.openai.com/docs/api-reference>.
const OPENAIS: [&str; 45] = [
    "chat/completions",
    "chat/completions/*",
    "chat/completions/*/messages",
    "completions",
    "responses",
    "responses/compact",
    "responses/input_tokens",
    "responses/*",
    "responses/*/cancel",
    "responses/*/input_items",
    "conversations",
    "conversations/**",
    "embeddings",
    "moderations",
    "models",
    "models/*",
    "files",
    "files/*",
    "files/*/content",
    "uploads",
    "uploads/**",
    "batches",
    "batches/*",
    "batches/*/cancel",
    "audio/**",
    "images/**",
    "videos",
    "videos/**",
    "realtime",
    "realtime/**",
    "fine_tuning/**",
    "evals",
    "evals/**",
    "assistants",
    "assistants/*",
    "threads",
    "threads/**",
    "vector_stores",
    "vector_stores/**",
    "containers",
    "containers/**",
    "skills",
    "skills/**",
    "chatkit/**",
    "organization/**",
];

/// The same of Anthropic's. Source: <https://docs.claude.com/en/api/overview>; chats by its
/// <https://docs.claude.com/en/api/openai-sdk>.
const ANTHROPICS: [&str; 17] = [
    "messages",
    "messages/count_tokens",
    "messages/batches",
    "messages/batches/*",
    "messages/batches/*/cancel",
    "messages/batches/*/results",
    "complete",
    "models",
    "models/*",
    "files",
    "files/*",
    "files/*/content",
    "skills",
    "skills/**",
    "organizations/**",
    "chat/completions",
    "experimental/**",
];

/// The same of Google's. Sources: <https://ai.google.dev/api>, and for `projects` and `publishers`
/// <https://cloud.google.com/vertex-ai/docs/reference/rest>.
const GOOGLES: [&str; 22] = [
    "models",
    "models/*",
    "models/*/operations/*",
    "tunedModels",
    "tunedModels/**",
    "files",
    "files/*",
    "cachedContents",
    "cachedContents/*",
    "corpora",
    "corpora/**",
    "fileSearchStores",
    "fileSearchStores/**",
    "batches",
    "batches/*",
    "operations/*",
    "interactions",
    "interactions/**",
    "openai/**",
    "projects/*/locations/**",
    "publishers/*/models/*",
    "auth_tokens",
];

/// Methods of Google's models, behind a colon: OpenAI's and Anthropic's models may have a colon in their names, and none of
/// these behind it.
const METHODS: [&str; 14] = [
    "asyncBatchEmbedContent",
    "batchEmbedContents",
    "batchGenerateContent",
    "bidiGenerateContent",
    "computeTokens",
    "countTokens",
    "embedContent",
    "generateAnswer",
    "generateContent",
    "predict",
    "predictLongRunning",
    "rawPredict",
    "streamGenerateContent",
    "streamRawPredict",
];

/// Versions that only Google's paths have.
const GOOGLES_VERSIONS: [&str; 3] = ["v1beta", "v1alpha", "v1beta1"];

/// The providers that have a path; none for a path that is not known. Clients write the version or not, as the address of the
/// provider ends with it or not.
pub(super) fn owners(path: &str) -> Vec<Provider> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match &*parts {
        ["v1", rest @ ..] => of_version(rest),
        ["upload" | "download", version, rest @ ..] if GOOGLES_VERSIONS.contains(version) => of_googles(rest),
        ["ws", service, ..] if service.starts_with("google.ai.generativelanguage.") => vec![Google],
        [version, rest @ ..] if GOOGLES_VERSIONS.contains(version) => of_googles(rest),
        // Azure's, and other providers' that speak OpenAI's interface below this name.
        ["openai", "deployments", ..] => vec![Azure],
        ["openai", "v1", rest @ ..] if is_one(&OPENAIS, rest) => vec![Azure, OpenAi],
        ["anthropic", "v1", rest @ ..] if is_one(&ANTHROPICS, rest) => vec![Anthropic],
        rest => of_version(rest),
    }
}

/// The providers of a path behind `v1`.
fn of_version(parts: &[&str]) -> Vec<Provider> {
    if has_method(parts) {
        return of_googles(parts);
    }
    let known =
        [(OpenAi, is_one(&OPENAIS, parts)), (Anthropic, is_one(&ANTHROPICS, parts)), (Google, is_one(&GOOGLES, parts))];
    known.into_iter().filter(|(_, has)| *has).map(|(provider, _)| provider).collect()
}

fn of_googles(parts: &[&str]) -> Vec<Provider> {
    if is_one(&GOOGLES, parts) { vec![Google] } else { Vec::new() }
}

/// Whether the last part calls a method of Google's.
fn has_method(parts: &[&str]) -> bool {
    let method = parts.last().and_then(|last| last.rsplit_once(':')).map(|(_, method)| method);
    method.is_some_and(|method| METHODS.contains(&method))
}

fn is_one(patterns: &[&str], parts: &[&str]) -> bool {
    patterns.iter().any(|pattern| {
        let mut left = parts.iter();
        let fits = |wanted: &str| match wanted {
            "**" => left.by_ref().count() > 0,
            wanted => left.next().is_some_and(|part| wanted == "*" || wanted == *part),
        };
        pattern.split('/').all(fits) && left.next().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_path_is() {
        let check = |path: &str, expect: &[Provider]| assert_eq!(owners(path), expect, "{path}");
        check("/v1/messages", &[Anthropic]);
        check("/messages/", &[Anthropic]);
        check("/v1/messages/batches/b/results", &[Anthropic]);
        check("/v1/messages/batches/b/results/more", &[]);
        check("/v1/threads/t/messages", &[OpenAi]);
        check("/v1/chat/completions/c/messages", &[OpenAi]);
        check("/v1/chat/completions", &[OpenAi, Anthropic]);
        check("/v1/responses/r/cancel", &[OpenAi]);
        check("/v1/models", &[OpenAi, Anthropic, Google]);
        check("/v1/models/ft:gpt:org::7", &[OpenAi, Anthropic, Google]);
        check("/v1/models/m:generateContent", &[Google]);
        check("/v1/projects/p/locations/l/publishers/google/models/m:rawPredict", &[Google]);
        check("/v1beta/models/m:countTokens", &[Google]);
        check("/v1beta/openai/chat/completions", &[Google]);
        check("/upload/v1beta/files", &[Google]);
        check("/v1beta/messages", &[]);
        check("/openai/deployments/d/chat/completions", &[Azure]);
        check("/openai/v1/responses", &[Azure, OpenAi]);
        check("/x/v1/messages", &[]);
        check("/v1/%6dessages", &[]);
        check("/v1", &[]);
        check("/", &[]);
    }
}
