//! The tokens that answers report, and the figures of several answers that become one.

use serde_json::Value;

/// Where an answer, or an event of one, has its figures.
const PLACES: [&str; 4] = ["/usage", "/message/usage", "/response/usage", "/usageMetadata"];

/// The tokens that an answer, or an event of one, reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportedUsage {
    /// All input tokens, those read from and written to the cache included; `None` where nothing is said of them.
    pub input: Option<u64>,
    /// Of these, the tokens read from the cache.
    pub cached: u64,
    /// Of these, the tokens written to the cache, where writing them has a price of its own.
    pub cache_writes: u64,
    /// Output tokens, those of reasoning included; `None` where nothing is said of them.
    pub output: Option<u64>,
}

impl ReportedUsage {
    /// Returns the figures of an answer of any interface, or of an event of one; `None` where it has none.
    pub fn read(answer: &Value) -> Option<Self> {
        let usage = PLACES.iter().find_map(|place| answer.pointer(place).filter(|usage| usage.is_object()))?;
        let read = |place: &str| usage.pointer(place).and_then(Value::as_u64);
        let first = |places: &[&str]| places.iter().find_map(|place| read(place));
        let cached = first(&[
            "/cache_read_input_tokens",
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/cachedContentTokenCount",
            "/prompt_cache_hit_tokens",
        ]);
        let cache_writes = read("/cache_creation_input_tokens").unwrap_or_default();
        // Anthropic leaves what has to do with its cache out of the input. Gateways such as LiteLLM write the same figures
        // beside OpenAI's, which count them already.
        let beside = match usage.get("prompt_tokens") {
            None => read("/cache_read_input_tokens").unwrap_or_default().saturating_add(cache_writes),
            Some(_) => 0,
        };
        let input = first(&["/input_tokens", "/prompt_tokens", "/promptTokenCount"]);
        let input = input.map(|input| input.saturating_add(beside)).filter(|input| *input > 0);
        let answered = read("/candidatesTokenCount");
        let thought = read("/thoughtsTokenCount");
        let gemini = answered.or(thought).map(|_| answered.unwrap_or_default() + thought.unwrap_or_default());
        let output = first(&["/output_tokens", "/completion_tokens"]).or(gemini);
        let of_input = |tokens: u64| input.map_or(0, |input| tokens.min(input));
        let cached = of_input(cached.unwrap_or_default());
        let cache_writes = of_input(cache_writes).min(input.unwrap_or_default() - cached);
        Some(Self { input, cached, cache_writes, output }).filter(|usage| usage.input.or(usage.output).is_some())
    }

    /// Takes the figures of a later event of the same answer: each stands for all of the answer so far.
    pub fn update(&mut self, later: Self) {
        if later.input.is_some() {
            (self.input, self.cached, self.cache_writes) = (later.input, later.cached, later.cache_writes);
        }
        self.output = later.output.or(self.output);
    }
}

/// Adds the output figures of one answer to the total. Input figures are left out: each answer reads all that those
/// before it have read, and agents take the figure for the size of their context.
pub fn add_output(total: &mut Value, usage: &Value) {
    for (output, details) in
        [("output_tokens", "output_tokens_details"), ("completion_tokens", "completion_tokens_details")]
    {
        let Some(written) = usage.get(output) else { continue };
        add_figures(&mut total[output], written);
        if let Some(figures) = usage.get(details) {
            add_figures(&mut total[details], figures);
        }
        if usage.get("total_tokens").is_some() {
            add_figures(&mut total["total_tokens"], written);
        }
    }
    for written in ["candidatesTokenCount", "thoughtsTokenCount"] {
        let Some(figure) = usage.get(written) else { continue };
        add_figures(&mut total[written], figure);
        add_figures(&mut total["totalTokenCount"], figure);
    }
}

/// Adds earlier figures to those that an answer names; figures that it does not name are left out.
pub fn add_known(usage: &mut Value, earlier: &Value) {
    let (Some(figures), Some(earlier)) = (usage.as_object_mut(), earlier.as_object()) else { return };
    for (name, figure) in figures {
        match (earlier.get(name), &figure) {
            (Some(before), Value::Object(_)) => add_known(figure, before),
            (Some(before), _) if figure.is_u64() => add_figures(figure, before),
            _ => {}
        }
    }
}

fn add_figures(total: &mut Value, usage: &Value) {
    match (total, usage) {
        (Value::Object(total), Value::Object(usage)) => {
            for (name, figure) in usage {
                add_figures(total.entry(name).or_insert(Value::Null), figure);
            }
        }
        (total, usage) => {
            if let (Some(one), Some(other)) = (total.as_u64(), usage.as_u64()) {
                *total = one.saturating_add(other).into();
            } else if total.is_null() {
                *total = usage.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_interface_reports_its_tokens() {
        let check = |answer: Value, expect: Option<(Option<u64>, u64, u64, Option<u64>)>| {
            let reported = ReportedUsage::read(&answer).map(|it| (it.input, it.cached, it.cache_writes, it.output));
            assert_eq!(reported, expect, "{answer}");
        };
        check(
            json!({"usage": {"prompt_tokens": 900, "cache_read_input_tokens": 800, "completion_tokens": 5}}),
            Some((Some(900), 800, 0, Some(5))),
        );
        let anthropic = json!({"input_tokens": 4, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200, "output_tokens": 1});
        check(json!({"type": "message_start", "message": {"usage": anthropic}}), Some((Some(234), 200, 30, Some(1))));
        check(json!({"type": "message", "usage": anthropic}), Some((Some(234), 200, 30, Some(1))));
        check(json!({"type": "message_delta", "usage": {"output_tokens": 9}}), Some((None, 0, 0, Some(9))));
        check(
            json!({"choices": [], "usage": {"prompt_tokens": 50, "prompt_tokens_details": {"cached_tokens": 40}}}),
            Some((Some(50), 40, 0, None)),
        );
        check(json!({"choices": [], "usage": null}), None);
        check(
            json!({"type": "response.completed", "response": {"usage": {"input_tokens": 60,
                "input_tokens_details": {"cached_tokens": 70}, "output_tokens": 2}}}),
            Some((Some(60), 60, 0, Some(2))),
        );
        check(
            json!({"candidates": [], "usageMetadata": {"promptTokenCount": 70, "cachedContentTokenCount": 60,
                "candidatesTokenCount": 3, "thoughtsTokenCount": 4}}),
            Some((Some(70), 60, 0, Some(7))),
        );
        check(json!({"usage": {"input_tokens": 0}}), None);
        check(json!("usage"), None);
    }

    #[test]
    fn the_last_figures_of_an_answer_count() {
        let mut usage = ReportedUsage { input: Some(234), cached: 200, cache_writes: 30, output: Some(1) };
        usage.update(ReportedUsage { output: Some(9), ..ReportedUsage::default() });
        assert_eq!(usage, ReportedUsage { input: Some(234), cached: 200, cache_writes: 30, output: Some(9) });
        usage.update(ReportedUsage { input: Some(240), cached: 210, ..ReportedUsage::default() });
        assert_eq!(usage, ReportedUsage { input: Some(240), cached: 210, cache_writes: 0, output: Some(9) });
    }

    #[test]
    fn what_was_written_adds_up() {
        let check = |usages: [Value; 2], expect: Value| {
            let mut total = Value::Null;
            usages.iter().for_each(|usage| add_output(&mut total, usage));
            assert_eq!(total, expect);
        };
        let anthropic = |output: u64| json!({"input_tokens": 900, "cache_read_input_tokens": 8, "output_tokens": output, "tier": "a"});
        check([anthropic(10), anthropic(5)], json!({"output_tokens": 15}));
        let chat = |output: u64, reasoning: Value| {
            json!({"prompt_tokens": 900, "completion_tokens": output, "total_tokens": 900 + output,
                "prompt_tokens_details": {"cached_tokens": 8}, "completion_tokens_details": {"reasoning_tokens": reasoning}})
        };
        let expect =
            json!({"completion_tokens": 15, "completion_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 15});
        check([chat(10, json!(null)), chat(5, json!(3))], expect);
        let gemini = |written: u64| {
            json!({"promptTokenCount": 900, "candidatesTokenCount": written, "thoughtsTokenCount": 2,
            "totalTokenCount": 902 + written})
        };
        let expect = json!({"candidatesTokenCount": 15, "totalTokenCount": 19, "thoughtsTokenCount": 4});
        check([gemini(10), gemini(5)], expect);
        check([Value::Null, json!({})], Value::Null);
    }
}
