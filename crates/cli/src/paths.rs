//! Paths of the command line, where `-` is standard input or output.

use std::path::Path;

/// Whether a path means standard input or output.
pub(crate) fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// A path as messages name it.
pub(crate) fn display_name(file: &Path) -> String {
    if is_standard(file) { "standard input".to_owned() } else { file.display().to_string() }
}
