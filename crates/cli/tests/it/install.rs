//! `epitome serve --install`: what a stand-in for the system's manager of services is asked to do, and that it is taken back.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use crate::place::{Place, Ran};

/// A home, and a manager of services that writes down its arguments.
struct Home {
    place: Place,
    /// Something that listens where the service would.
    listener: TcpListener,
}

impl Home {
    /// `answer` is what the manager does after that.
    fn new(manager: &str, answer: &str) -> Self {
        let place = Place::new();
        fs::create_dir(place.path("bin")).unwrap();
        let program = place.path("bin").join(manager);
        let calls = place.path("calls").display().to_string();
        fs::write(&program, format!("#!/bin/sh\necho \"$@\" >> '{calls}'\n{answer}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { place, listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    fn run(&self, options: &str) -> Ran {
        let listen = self.listener.local_addr().unwrap();
        let mut command = self.place.command(&format!("serve --listen {listen} --store none {options}"));
        command.env("HOME", self.place.path("")).env("PATH", self.place.path("bin")).env_remove("XDG_CONFIG_HOME");
        Ran::read(command.stdin(Stdio::null()).output().unwrap())
    }

    fn calls(&self) -> String {
        let calls = fs::read_to_string(self.place.path("calls")).unwrap_or_default();
        let _ = fs::remove_file(self.place.path("calls"));
        calls
    }
}

const UNIT: &str = ".config/systemd/user/epitome.service";
const LIST: &str = "Library/LaunchAgents/epitome.serve.plist";

#[test]
fn it_is_started_and_taken_back() {
    let check = |manager: &str, file: &str, started: &[&str], stopped: &[&str]| {
        let home = Home::new(manager, "");
        let ran = home.run("--upstream https://api.example/v1 --install");
        assert_eq!(ran.code, 0, "{manager}: {}", ran.stderr);
        assert!(ran.stderr.contains("--uninstall takes it back"), "{}", ran.stderr);
        let text = fs::read_to_string(home.place.path(file)).unwrap();
        assert!(text.contains("https://api.example/v1") && !text.contains("--install"), "{text}");
        let is_asked = |expect: &[&str]| {
            let calls = home.calls();
            let lines: Vec<&str> = calls.lines().collect();
            assert_eq!(lines.len(), expect.len(), "{calls}");
            lines.iter().zip(expect).for_each(|(line, part)| assert!(line.contains(part), "{part} in {line}"));
        };
        is_asked(started);
        assert_eq!(home.run("--upstream https://other.example --install").code, 0);
        assert!(fs::read_to_string(home.place.path(file)).unwrap().contains("https://other.example"));
        is_asked(started);
        let ran = home.run("--uninstall");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        is_asked(stopped);
        let first = file.split('/').next().unwrap();
        assert!(!home.place.path(first).exists(), "its folders go too");
        assert!(home.run("--uninstall").stderr.contains("nothing to take back"));
        assert_eq!(home.calls(), "");
    };
    let started = ["--user daemon-reload", "--user enable epitome.service", "--user restart epitome.service"];
    let stopped = ["--user disable --now epitome.service", "--user daemon-reload"];
    check("systemctl", UNIT, &started, &stopped);
    check("launchctl", LIST, &["bootout gui/", "bootstrap gui/"], &["bootout gui/"]);
}

#[test]
fn what_cannot_be_installed() {
    let check = |manager: &str, options: &str, code: i32, part: &str| {
        let home = Home::new(manager, "echo 'no bus' >&2; exit 1");
        let ran = home.run(options);
        assert!(ran.code == code && ran.stderr.contains(part), "{options}: {} {}", ran.code, ran.stderr);
        assert!(code == 1 || !home.place.path(UNIT).exists(), "{options}");
    };
    check("other", "--install", 2, "neither systemctl nor launchctl is here");
    check("systemctl", "--install --uninstall", 2, "cannot be used with");
    check("systemctl", "--install --upstream nowhere", 2, "--upstream");
    check("systemctl", "--install", 1, "systemctl --user daemon-reload: no bus");
    let home = Home::new("systemctl", "");
    fs::create_dir_all(home.place.path(UNIT).parent().unwrap()).unwrap();
    fs::write(home.place.path(UNIT), "[Service]\nExecStart=/mine\n").unwrap();
    let ran = home.run("--install");
    assert!(ran.code == 2 && ran.stderr.contains("is not what epitome wrote"), "{}", ran.stderr);
    assert_eq!(home.calls(), "", "nothing of another's is started");
    let mut command = home.place.command("serve --install --listen 127.0.0.1:0 --store none");
    let ran = Ran::read(command.env("PATH", home.place.path("bin")).output().unwrap());
    assert!(ran.code == 2 && ran.stderr.contains("port 0 is another one each time"), "{}", ran.stderr);
    let mut command = home.place.command("serve --install --token-variable T --store none");
    command.env("PATH", home.place.path("bin")).env("T", "a-token-of-16-characters");
    let ran = Ran::read(command.output().unwrap());
    assert!(ran.code == 2 && ran.stderr.contains("--token-file FILE"), "{}", ran.stderr);
}
