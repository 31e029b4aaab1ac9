//! This program's path, as files of several syntaxes name it.

use serde_json::Value;

use crate::failure::Failure;

/// The line of a script that names the program, before the set-up writes its path into it.
const LINE: &str = "const PROGRAM = \"epitome\";";

/// A script with the path of the program in place of its name.
pub(super) fn in_script(script: &str, program: &str) -> String {
    script.replacen(LINE, &format!("const PROGRAM = {};", Value::from(program)), 1)
}

/// The line of a script of the shell that names the program.
const SHELL_LINE: &str = "program=epitome\n";

/// A script of the shell with the path of the program in place of its name.
pub(super) fn in_shell_script(script: &str, program: &str) -> String {
    script.replacen(SHELL_LINE, &format!("program={}\n", quoted(program)), 1)
}

/// A path as a word of a shell.
pub(super) fn quoted(program: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:".contains(c);
    match program.chars().all(is_plain) {
        true => program.to_owned(),
        false => format!("'{}'", program.replace('\'', r"'\''")),
    }
}

/// A value as a file has it.
pub(super) fn as_json(value: &Value) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_files() {
        let check = |path: &str, word: &str, line: &str| {
            assert_eq!(quoted(path), word);
            assert_eq!(
                in_script(&format!("// a\n{LINE}\nrun(PROGRAM);\n"), path),
                format!("// a\n{line}\nrun(PROGRAM);\n")
            );
        };
        check("/usr/bin/epitome", "/usr/bin/epitome", r#"const PROGRAM = "/usr/bin/epitome";"#);
        check("/a b/it's", r"'/a b/it'\''s'", r#"const PROGRAM = "/a b/it's";"#);
        check(r"C:\x$y", r"'C:\x$y'", r#"const PROGRAM = "C:\\x$y";"#);
    }
}
