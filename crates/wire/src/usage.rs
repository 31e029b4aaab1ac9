//! The figures of several answers that become one.

use serde_json::Value;

/// Where an answer, or an event of one, has its figures.
const PLACES: [&str; 4] = ["/usage", "/message/usage", "/response/usage", "/usageMetadata"];

/// Returns the input tokens that an answer of any interface, or an event of one, reports for its request, cached ones included;
/// `None` where it reports none.
pub fn reported_input(answer: &Value) -> Option<u64> {
    let usage = PLACES.iter().find_map(|place| answer.pointer(place).filter(|usage| usage.is_object()))?;
    let read = |field: &str| usage.get(field).and_then(Value::as_u64);
    let input = ["input_tokens", "prompt_tokens", "promptTokenCount"].into_iter().find_map(read)?;
    // Anthropic leaves what has to do with its cache out of the input. Gateways such as LiteLLM write the same figures beside
    // OpenAI's, which count them already.
    let is_anthropic = usage.get("prompt_tokens").is_none();
    let cache = ["cache_creation_input_tokens", "cache_read_input_tokens"].into_iter().filter(|_| is_anthropic);
    Some(cache.filter_map(read).fold(input, u64::saturating_add)).filter(|input| *input > 0)
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
    fn each_interface_reports_its_input() {
        let check = |answer: Value, expect: Option<u64>| assert_eq!(reported_input(&answer), expect, "{answer}");
        check(
            json!({"usage": {"prompt_tokens": 900, "cache_read_input_tokens": 800, "completion_tokens": 5}}),
            Some(900),
        );
        let anthropic = json!({"input_tokens": 4, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200, "output_tokens": 1});
        check(json!({"type": "message_start", "message": {"usage": anthropic}}), Some(234));
        check(json!({"type": "message", "usage": anthropic}), Some(234));
        check(json!({"type": "message_delta", "usage": {"output_tokens": 9}}), None);
        check(
            json!({"choices": [], "usage": {"prompt_tokens": 50, "prompt_tokens_details": {"cached_tokens": 40}}}),
            Some(50),
        );
        check(json!({"choices": [], "usage": null}), None);
        check(json!({"type": "response.completed", "response": {"usage": {"input_tokens": 60}}}), Some(60));
        check(
            json!({"candidates": [], "usageMetadata": {"promptTokenCount": 70, "cachedContentTokenCount": 60}}),
            Some(70),
        );
        check(json!({"usage": {"input_tokens": 0}}), None);
        check(json!("usage"), None);
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
