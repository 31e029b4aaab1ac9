//! Takes scripts apart.

/// What follows a simple command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// `&&`: the next one runs where this one succeeded.
    And,
    /// Anything else that ends a command: whatever it came to, the script goes on.
    Other,
    /// The end of the script.
    End,
}

/// Returns the simple commands of a script, in order: what stands between line ends, `;`, `|` and `&`. Texts in quotes are not
/// taken apart; comments and here-documents are left out. Linear.
pub fn simple_commands(script: &str) -> impl Iterator<Item = &str> {
    split(script).into_iter().map(|(command, _)| command)
}

/// Whether a command of a script can fail and the script's exit code still tell of success: it is that of the last one. Linear.
pub(super) fn hides_failures(script: &str) -> bool {
    split(script).iter().any(|(_, behind)| *behind == Behind::Other)
}

fn split(script: &str) -> Vec<(&str, Behind)> {
    let bytes = script.as_bytes();
    let mut commands = Vec::new();
    let (mut start, mut at) = (0, 0);
    let mut quote = None;
    // Whether a script stands in these double quotes, which may have a here-document of its own.
    let mut substitutes = false;
    let mut heredoc: Option<String> = None;
    let mut add = |range: std::ops::Range<usize>, behind: Behind| {
        let command = script[range].trim_start_matches(|char: char| char.is_whitespace() || matches!(char, '(' | '{'));
        let command = command.trim_end();
        match commands.last_mut() {
            _ if !command.is_empty() => commands.push((command, behind)),
            // `a &` and a line end behind it are one end.
            Some((_, last)) if behind == Behind::End => *last = if *last == Behind::And { *last } else { behind },
            _ => {}
        }
    };
    while at < bytes.len() {
        let (byte, next) = (bytes[at], bytes.get(at + 1).copied());
        match (quote, byte) {
            (_, b'\n') if heredoc.is_some() => {
                let behind = end_of_heredoc(script, at + 1, heredoc.take().as_deref().unwrap_or_default());
                if quote.is_none() {
                    add(start..at, Behind::Other);
                    start = behind;
                }
                at = behind;
                continue;
            }
            (Some(b'\''), b'\'') => quote = None,
            (Some(b'\''), _) => {}
            (_, b'\\') => at += 1,
            (Some(open), _) if open == byte => (quote, substitutes) = (None, false),
            (Some(_), b'$') if next == Some(b'(') => substitutes = true,
            (None, b'"' | b'\'') if script[at + 1..].contains(char::from(byte)) => quote = Some(byte),
            (None, b'<') if bytes[at..].starts_with(b"<<<") => at += 2,
            (None, b'<') | (Some(_), b'<') if next == Some(b'<') && (quote.is_none() || substitutes) => {
                heredoc = heredoc_end(script[at..].lines().next().unwrap_or_default());
                at += 1;
            }
            (None, b'#') if at == 0 || bytes[at - 1].is_ascii_whitespace() || bytes[at - 1] == b';' => {
                add(start..at, Behind::Other);
                at = script[at..].find('\n').map_or(bytes.len(), |length| at + length);
                start = at;
                continue;
            }
            // `2>&1` and `&>` end no command.
            (None, b'&') if at > 0 && bytes[at - 1] == b'>' || next == Some(b'>') => {}
            (None, b'\n' | b';' | b'|' | b'&') => {
                let is_double = next == Some(byte) && matches!(byte, b'&' | b'|');
                add(start..at, if is_double && byte == b'&' { Behind::And } else { Behind::Other });
                at += usize::from(is_double);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    add(start.min(script.len())..script.len(), Behind::End);
    commands
}

/// Returns the word that ends the here-document which starts on this line: `EOF` of `cat <<'EOF' > a.py`.
fn heredoc_end(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches('-').trim_start();
    let word: String = rest
        .trim_start_matches(['\'', '"', '\\'])
        .chars()
        .take_while(|char| char.is_alphanumeric() || *char == '_')
        .collect();
    (!word.is_empty() && !rest.starts_with('<')).then_some(word)
}

/// Returns where the script goes on behind the here-document whose text begins at `start`.
fn end_of_heredoc(script: &str, start: usize, word: &str) -> usize {
    let mut at = start;
    for line in script[start..].split_inclusive('\n') {
        at += line.len();
        if line.trim() == word {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_in_parts() {
        let check = |script: &str, expect: &[&str], hides: bool| {
            assert_eq!(simple_commands(script).collect::<Vec<_>>(), expect, "{script}");
            assert_eq!(hides_failures(script), hides, "{script}");
        };
        check("cd a && cargo test", &["cd a", "cargo test"], false);
        check("cargo test 2>&1 | tail -5", &["cargo test 2>&1", "tail -5"], true);
        check("make &> log; ls", &["make &> log", "ls"], true);
        check("make\n", &["make"], false);
        check("# the tests\nmake # all\n", &["make"], false);
        check("npm run dev &", &["npm run dev"], false);
        check("make || true", &["make", "true"], true);
        check("git commit -m 'a; rm b.rs && c'", &["git commit -m 'a; rm b.rs && c'"], false);
        check("git commit -m \"a\n\nrm b.rs\" && ls", &["git commit -m \"a\n\nrm b.rs\"", "ls"], false);
        check("cat > a.sh <<'EOF'\nrm b.log\nit's\nEOF\nls", &["cat > a.sh <<'EOF'", "ls"], true);
        let message = "git commit -m \"$(cat <<'EOF'\nSay \"no\"; rm a.rs\nEOF\n)\"";
        check(&format!("{message} && ls"), &[message, "ls"], false);
        check("grep x <<< 'a | b'", &["grep x <<< 'a | b'"], false);
        check("echo don't; ls", &["echo don't", "ls"], true);
        check("echo a\\;b", &["echo a\\;b"], false);
        check("(cd a; ls)", &["cd a", "ls)"], true);
        check("", &[], false);
        check(";;\\", &["\\"], false);
    }
}
