//! A loop of an agent's own, with its list of messages kept within 3,000 tokens: `cargo run -p epitome-fit --example loop`.
//!
//! The model and its tool are made up, so that it runs without either.

use epitome::formats::Wire;
use epitome_fit::{FitOptions, FitRequest, Fitter};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = epitome::Config::default().build(&epitome::registry())?;
    let fitter = Fitter::new(&runtime, Wire::OpenaiChat, FitOptions::within(3_000));
    let mut messages = vec![json!({"role": "user", "content": "Which part of the build fails?"}).to_string()];
    for turn in 0..24 {
        // The two lines: what to send, and the messages of it.
        let fitted = fitter.fit(&FitRequest::new(&messages))?;
        let to_send = fitted.to_messages(&messages)?;

        show(&format!(
            "turn {turn:2}: {:2} messages, {:2} sent, {:4} of {} tokens, {:?}, {} read\n",
            messages.len(),
            to_send.len(),
            fitted.tokens_after,
            fitted.budget,
            fitted.status,
            fitted.read,
        ))?;
        messages.extend(answer(turn));
    }
    Ok(())
}

/// What a model and its tool would say.
fn answer(turn: usize) -> [String; 2] {
    let function = json!({"name": "make", "arguments": json!({"part": turn}).to_string()});
    let call = json!({"id": format!("call_{turn}"), "type": "function", "function": function});
    let lines: Vec<String> = (0..25).map(|line| format!("part{turn}/file{line}.rs: nothing to say")).collect();
    [
        json!({"role": "assistant", "content": format!("I build part {turn}."), "tool_calls": [call]}).to_string(),
        json!({"role": "tool", "tool_call_id": format!("call_{turn}"), "content": lines.join("\n")}).to_string(),
    ]
}

fn show(line: &str) -> std::io::Result<()> {
    std::io::Write::write_all(&mut std::io::stdout(), line.as_bytes())
}
