//! Bars of block characters.

use crate::render::style::{FAINT, Style};

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar of `width` columns, filled to `part` of `whole`, in a style; the rest is shaded.
pub(crate) fn bar(part: u64, whole: u64, width: usize, style: Style) -> String {
    let eighths =
        if whole == 0 { 0 } else { (part.min(whole) as u128 * width as u128 * 8).div_ceil(u128::from(whole)) };
    let eighths = eighths as usize;
    let (full, rest) = (eighths / 8, EIGHTHS[eighths % 8]);
    let shown = full + usize::from(!rest.is_empty());
    let shade = "·".repeat(width.saturating_sub(shown));
    format!("{style}{}{rest}{style:#}{FAINT}{shade}{FAINT:#}", "█".repeat(full))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::style::{PLAIN, without_styles};

    #[test]
    fn bars() {
        let check = |part, whole, expect: &str| {
            let plain = without_styles(&bar(part, whole, 4, PLAIN));
            assert_eq!(plain, expect, "{part} of {whole}");
        };
        check(0, 8, "····");
        check(8, 8, "████");
        check(9, 8, "████");
        check(4, 8, "██··");
        check(1, 32, "▏···");
        check(1, 0, "····");
    }
}
