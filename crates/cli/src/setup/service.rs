//! The service as the system's manager of services starts it: systemd's of the person, or launchd's.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::place::own_folder;
use super::plan::{Plan, PlannedContent, PlannedFile};
use crate::failure::Failure;
use crate::folders::home;

/// The name of the service for systemd.
const UNIT: &str = "epitome.service";

/// The name of the service for launchd.
const LABEL: &str = "epitome.serve";

/// A manager of a person's services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manager {
    /// systemd, by `systemctl --user`.
    Systemd,
    /// launchd, by `launchctl`.
    Launchd,
}

/// What a manager is to start.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [String],
    /// The folder in which it runs: relative paths of the arguments count from there.
    pub(crate) folder: &'a str,
    /// Variables that say where files are, with their values.
    pub(crate) variables: &'a [(String, String)],
}

impl Manager {
    /// The one whose program is in a folder of `path`, the value of the variable `PATH`.
    pub(crate) fn on(path: Option<OsString>) -> Option<Self> {
        let folders: Vec<PathBuf> = path.iter().flat_map(std::env::split_paths).collect();
        let managers = [Self::Systemd, Self::Launchd];
        managers.into_iter().find(|manager| folders.iter().any(|folder| folder.join(manager.program()).is_file()))
    }

    /// Its program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Systemd => "systemctl",
            Self::Launchd => "launchctl",
        }
    }

    /// The file that describes the service.
    pub(crate) fn plan(self, start: &Start<'_>) -> Result<Plan, Failure> {
        if let Some(word) = start.texts().find(|word| word.contains(char::is_control)) {
            let failure = Failure::usage_text(format!("--install: {word:?} has a control character"));
            return Err(failure.with_help("a description of a service cannot have it; name files without it"));
        }
        let (path, text) = match self {
            Self::Systemd => (own_folder("XDG_CONFIG_HOME", ".config")?.join("systemd/user").join(UNIT), unit(start)),
            Self::Launchd => {
                let path = own_folder("HOME", "")?.join("Library/LaunchAgents").join(format!("{LABEL}.plist"));
                (path, property_list(start))
            }
        };
        Ok(Plan { files: vec![PlannedFile { path, content: PlannedContent::Whole(text) }], ..Plan::default() })
    }

    /// The calls of its program that start the service which a file describes, now and with each log-in.
    pub(crate) fn starting(self, file: &Path) -> Vec<Call> {
        match self {
            // A service that runs already gets the new description by `restart` alone.
            Self::Systemd => vec![
                Call::needed(&["--user", "daemon-reload"]),
                Call::needed(&["--user", "enable", UNIT]),
                Call::needed(&["--user", "restart", UNIT]),
            ],
            Self::Launchd => vec![
                Call::tried(&["bootout", &format!("{}/{LABEL}", domain())]),
                Call::needed(&["bootstrap", &domain(), &file.to_string_lossy()]),
            ],
        }
    }

    /// The calls that stop it, before the file goes.
    pub(crate) fn stopping(self) -> Vec<Call> {
        match self {
            Self::Systemd => vec![Call::tried(&["--user", "disable", "--now", UNIT])],
            Self::Launchd => vec![Call::tried(&["bootout", &format!("{}/{LABEL}", domain())])],
        }
    }

    /// The calls after the file went.
    pub(crate) fn forgetting(self) -> Vec<Call> {
        match self {
            Self::Systemd => vec![Call::tried(&["--user", "daemon-reload"])],
            Self::Launchd => Vec::new(),
        }
    }

    /// Where the service's log is.
    pub(crate) fn log(self) -> String {
        match self {
            Self::Systemd => "journalctl --user --unit epitome".to_owned(),
            Self::Launchd => log_file(),
        }
    }
}

/// A call of a manager's program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// Whether its failure is one of the whole.
    pub(crate) is_needed: bool,
}

impl Call {
    fn needed(arguments: &[&str]) -> Self {
        Self { arguments: arguments.iter().map(|word| (*word).to_owned()).collect(), is_needed: true }
    }

    fn tried(arguments: &[&str]) -> Self {
        Self { is_needed: false, ..Self::needed(arguments) }
    }
}

impl<'a> Start<'a> {
    fn texts(&self) -> impl Iterator<Item = &'a str> {
        let values = self.variables.iter().map(|(_, value)| value.as_str());
        self.words.iter().map(String::as_str).chain([self.folder]).chain(values)
    }
}

/// The domain of launchd in which a person's services are: the owner of the home is who has logged in.
fn domain() -> String {
    #[cfg(unix)]
    let user = home().and_then(|home| std::fs::metadata(home).ok()).map_or(0, |about| {
        use std::os::unix::fs::MetadataExt as _;
        about.uid()
    });
    #[cfg(not(unix))]
    let user = 0;
    format!("gui/{user}")
}

fn log_file() -> String {
    home().unwrap_or_default().join("Library/Logs/epitome.log").display().to_string()
}

/// A unit of systemd. Source: systemd.service(5), systemd.syntax(7).
fn unit(start: &Start<'_>) -> String {
    let command: Vec<String> = start.words.iter().map(|word| unit_word(word).replace('$', "$$")).collect();
    let variables: String = start
        .variables
        .iter()
        .map(|(name, value)| format!("Environment={}\n", unit_word(&format!("{name}={value}"))))
        .collect();
    format!(
        "[Unit]\nDescription=epitome, a proxy that keeps agents' contexts small\n\n\
         [Service]\nExecStart={}\nWorkingDirectory={}\n{variables}Restart=on-failure\nRestartSec=2\n\n\
         [Install]\nWantedBy=default.target\n",
        command.join(" "),
        start.folder.replace('%', "%%"),
    )
}

/// A word in a unit: quoted, with its specifiers as themselves.
fn unit_word(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

/// A property list of launchd. Source: launchd.plist(5).
fn property_list(start: &Start<'_>) -> String {
    let text = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let string = |value: &str| format!("<string>{}</string>", text(value));
    let words: String = start.words.iter().map(|word| format!("    {}\n", string(word))).collect();
    let variables: String = start
        .variables
        .iter()
        .map(|(name, value)| format!("    <key>{}</key>{}\n", text(name), string(value)))
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n<dict>\n  <key>Label</key>{}\n  <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
         <key>WorkingDirectory</key>{}\n  <key>EnvironmentVariables</key>\n  <dict>\n{variables}  </dict>\n  \
         <key>RunAtLoad</key><true/>\n  <key>KeepAlive</key><true/>\n  <key>StandardErrorPath</key>{}\n</dict>\n</plist>\n",
        string(LABEL),
        string(start.folder),
        string(&log_file()),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn descriptions_hold_every_word_as_it_is() {
        let words = words(&["/a b/epitome", "serve", "--config", r#"50% "of" $HOME\<&>.toml"#]);
        let variables = [("XDG_DATA_HOME".to_owned(), "/d %".to_owned())];
        let start = Start { words: &words, folder: "/my 100%", variables: &variables };
        let unit = unit(&start);
        let command = r#"ExecStart="/a b/epitome" "serve" "--config" "50%% \"of\" $$HOME\\<&>.toml""#;
        for line in [command, "WorkingDirectory=/my 100%%", "Environment=\"XDG_DATA_HOME=/d %%\"", "Restart=on-failure"]
        {
            assert!(unit.lines().any(|own| own == line), "{line} in {unit}");
        }
        let list = property_list(&start);
        for part in [
            "<string>/a b/epitome</string>",
            r#"<string>50% "of" $HOME\&lt;&amp;&gt;.toml</string>"#,
            "<key>WorkingDirectory</key><string>/my 100%</string>",
            "<key>XDG_DATA_HOME</key><string>/d %</string>",
        ] {
            assert!(list.contains(part), "{part} in {list}");
        }
    }

    #[test]
    fn what_a_description_cannot_hold() {
        let words = words(&["/epitome", "--config\nExecStartPre=/bin/x"]);
        for manager in [Manager::Systemd, Manager::Launchd] {
            let refused = manager.plan(&Start { words: &words, folder: "/", variables: &[] });
            assert!(refused.is_err(), "{manager:?}");
        }
    }

    #[test]
    fn the_manager_that_is_there() {
        let check = |programs: &[&str], expect: Option<Manager>| {
            let folder = tempfile::tempdir().unwrap();
            programs.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
            assert_eq!(Manager::on(Some(folder.path().as_os_str().to_owned())), expect, "{programs:?}");
        };
        check(&["systemctl"], Some(Manager::Systemd));
        check(&["launchctl"], Some(Manager::Launchd));
        check(&["other"], None);
        assert_eq!(Manager::on(None), None);
    }
}
