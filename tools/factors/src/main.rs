use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Mutex;

use epitome_engine::count_message;
use epitome_formats::{ReadOptions, read};
use epitome_session::{Content, Origin, Role};
use epitome_strategy::{TokenCounter, Tokens};
use epitome_tokens::ExactCounter;

#[derive(Debug, Default)]
struct Recorder(Mutex<[u64; 9]>);

impl TokenCounter for Recorder {
    fn name(&self) -> &str {
        "r"
    }
    fn is_exact(&self) -> bool {
        false
    }
    fn count(&self, text: &str) -> Tokens {
        let mut c = self.0.lock().unwrap();
        let t = ExactCounter::O200kBase.count(text);
        c[8] += u64::from(t);
        for ch in text.chars() {
            let k = match ch {
                'a'..='z' => 0,
                'A'..='Z' => 1,
                '0'..='9' => 2,
                '\n' | '\r' => 3,
                ' ' | '\t' => 4,
                '\0'..='\x7f' => 5,
                '\u{370}'..='\u{1fff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{10ffff}' => 6,
                _ => 7,
            };
            c[k] += 1;
        }
        t
    }
}
impl Recorder {
    fn take(&self) -> [u64; 9] {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn main() -> anyhow::Result<()> {
    let _ = RefCell::new(0);
    let r = Recorder::default();
    for path in std::env::args().skip(1).map(PathBuf::from) {
        let bytes = std::fs::read(&path)?;
        let Ok(loaded) = read(bytes.clone(), ReadOptions::default()) else { continue };
        let name = epitome_formats::recorded_model(loaded.format, &bytes).name;
        for s in loaded.sessions {
            let s = s.session;
            let mut prev: Option<(u64, u64)> = None;
            let (mut x, mut a) = ([0u64; 9], [0u64; 9]);
            let (mut n, mut na, mut media, mut typed) = (0, 0, 0, 0);
            for m in s.log() {
                if let Some(u) = m.usage {
                    if let Some((input, output)) = prev {
                        println!(
                            "{},{},{},{},{},{},{},{},{},{}",
                            path.file_name().unwrap().to_string_lossy(),
                            name.as_deref().unwrap_or("?"),
                            u.input as i64 - input as i64,
                            output,
                            n,
                            na,
                            media,
                            typed,
                            x.map(|c| c.to_string()).join(","),
                            a.map(|c| c.to_string()).join(",")
                        );
                    }
                    prev = Some((u.input, u.output));
                    (x, a, n, na, media, typed) = ([0; 9], [0; 9], 0, 0, 0, 0);
                }
                count_message(&r, m);
                let f = r.take();
                media += m
                    .blocks
                    .iter()
                    .filter(|b| {
                        matches!(&b.content, Content::Media(_) | Content::Opaque(_))
                            || matches!(&b.content, Content::ToolResult(r) if !r.attachments.is_empty())
                    })
                    .count();
                typed += usize::from(m.origin == Origin::Typed);
                let (sum, k) = if m.role == Role::Assistant { (&mut a, &mut na) } else { (&mut x, &mut n) };
                *k += 1;
                for (s, f) in sum.iter_mut().zip(f) {
                    *s += f;
                }
            }
        }
    }
    Ok(())
}
