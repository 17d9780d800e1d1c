//! KernelFilter: keeps the host's kernel from handling packets of an interface.

use clickwork_router::args::{ArgError, ArgSpec, ArgType, Args};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};
use std::path::Path;
use std::process::{Command, Stdio};

/// The class facts.
pub static CLASS: Class = Class {
    help: "keeps the kernel from handling packets of an interface",
    manual: "For each argument 'drop dev DEVNAME', installs a rule of the host's firewall that drops all IP packets which \
             arrive on the interface for the host itself; FromDevice still receives them. This needs root, and the program \
             iptables: /sbin/iptables or /usr/sbin/iptables, or IPTABLES_COMMAND, which may have arguments of its own. \
             The rules are removed when the router stops. If the program is killed they stay, and \
             'iptables -D INPUT -i DEVNAME -j DROP' removes one.",
    example: "",
    ports: "0/0",
    phase: phase::PRIVILEGED,
    args: &[
        ArgSpec::keyword("IPTABLES_COMMAND", ArgType::String, "", "the program iptables"),
        ArgSpec::rest("FILTER", ArgType::Other("drop dev DEVNAME"), "what the kernel is not to handle"),
    ],
    ..Class::new("KernelFilter", "socket", || Box::<KernelFilter>::default())
};

/// Where iptables is.
const PROGRAMS: [&str; 2] = ["/sbin/iptables", "/usr/sbin/iptables"];
/// Longest name of an interface.
const MAX_NAME: usize = 15;

/// The words of one argument.
const FILTER: &[ArgSpec] = &[
    ArgSpec::required("ACTION", ArgType::Word, "drop"),
    ArgSpec::required("TYPE", ArgType::Word, "dev"),
    ArgSpec::required("ARG", ArgType::String, "the interface"),
];

#[derive(Default)]
struct KernelFilter {
    command: String,
    devices: Vec<String>,
    /// How many of the devices have a rule, and the command that made them.
    installed: usize,
    program: Vec<String>,
}

impl KernelFilter {
    /// The program and its first arguments.
    fn find_program(&self) -> Result<Vec<String>, String> {
        if !self.command.is_empty() {
            return Ok(self.command.split_whitespace().map(str::to_string).collect());
        }
        let found = PROGRAMS.iter().find(|program| Path::new(program).exists());
        found.map(|program| vec![program.to_string()]).ok_or("no 'iptables' executable found".to_string())
    }

    fn install(&mut self) -> Result<(), String> {
        for device in &self.devices {
            rule(&self.program, "-A", device)?;
            self.installed += 1;
        }
        Ok(())
    }

    /// Removes the rules, the last first. All that goes wrong is told.
    fn remove(&mut self) -> Vec<String> {
        let installed = self.devices[..std::mem::take(&mut self.installed)].iter().rev();
        installed.filter_map(|device| rule(&self.program, "-D", device).err()).collect()
    }
}

/// Adds or removes a rule. No shell looks at the words.
fn rule(program: &[String], action: &str, device: &str) -> Result<(), String> {
    let (name, first) = program.split_first().ok_or("IPTABLES_COMMAND is empty")?;
    let words = [action, "INPUT", "-i", device, "-j", "DROP"];
    let shown = || [&program.join(" "), &words.join(" ")].map(String::as_str).join(" ");
    let done = Command::new(name).args(first).args(words).stdin(Stdio::null()).output();
    let output = done.map_err(|e| format!("{}: {}", shown(), crate::capture::error::system_message(&e)))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
    let why = if said.is_empty() { output.status.to_string() } else { said };
    Err(format!("{}: {why}", shown()))
}

/// The interface that an argument names.
fn device(text: &str, args: &Args) -> Result<String, Vec<ArgError>> {
    let mut words = Args::from_words(FILTER, text, args.names());
    let [action, kind, device] =
        ["ACTION", "TYPE", "ARG"].map(|name| words.get::<String>(name).unwrap_or_default());
    words.finish().map_err(|e| e.0.into_iter().map(|e| e.at(None)).collect::<Vec<_>>())?;
    let is_name = !device.is_empty()
        && device.len() <= MAX_NAME
        && !device.starts_with(['-', '!'])
        && !device.contains(|c: char| c == '/' || c.is_whitespace());
    match is_name && action == "drop" && kind == "dev" {
        true => Ok(device),
        false => Err(vec![ArgError::new("arguments must follow 'drop dev DEVNAME'")]),
    }
}

impl Element for KernelFilter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("IPTABLES_COMMAND", &mut self.command);
        for (index, text) in args.rest().to_vec().iter().enumerate() {
            match device(text, args) {
                Ok(device) => self.devices.push(device),
                Err(errors) => errors.into_iter().for_each(|e| args.report_in_rest(index, e)),
            }
        }
    }

    fn initialize(&mut self, _: &mut Cx<'_>) -> Result<(), String> {
        if self.devices.is_empty() {
            return Ok(());
        }
        self.program = self.find_program()?;
        self.install().inspect_err(|_| {
            self.remove();
        })
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        self.remove().iter().for_each(|e| cx.chatter(&format!("{}: {e}", cx.name())));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use std::path::PathBuf;

    /// A program that writes down what it is called with, and fails for the interface `bad0`.
    struct Fake(PathBuf);

    impl Fake {
        fn new(name: &str) -> Fake {
            let dir = clickwork_oracles::unused(&format!("clickwork-{name}"));
            std::fs::create_dir_all(&dir).unwrap();
            let script = "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/calls\"\n\
                          case \"$*\" in *bad0*) echo 'no such luck' >&2; exit 3;; esac\n";
            clickwork_oracles::script(&dir.join("iptables"), script);
            Fake(dir)
        }

        fn command(&self) -> String {
            self.0.join("iptables").display().to_string()
        }

        fn calls(&self) -> String {
            std::fs::read_to_string(self.0.join("calls")).unwrap_or_default()
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn rules_are_installed_and_removed_in_reverse() {
        let fake = Fake::new("filter");
        let mut t = Harness::new(&format!(
            "KernelFilter(drop dev eth0, IPTABLES_COMMAND \"{} -w\", drop dev 'eth1;reboot')",
            fake.command()
        ));
        let (first, second) = ("INPUT -i eth0 -j DROP", "INPUT -i eth1;reboot -j DROP");
        assert_eq!(fake.calls(), format!("-w -A {first}\n-w -A {second}\n"));
        t.router.cleanup();
        assert_eq!(fake.calls(), format!("-w -A {first}\n-w -A {second}\n-w -D {second}\n-w -D {first}\n"));
    }

    #[test]
    fn a_rule_that_fails_takes_the_others_with_it() {
        let fake = Fake::new("failing");
        let e = Harness::errors(&format!(
            "KernelFilter(drop dev eth0, drop dev bad0, IPTABLES_COMMAND {})",
            fake.command()
        ));
        assert!(e.contains("iptables -A INPUT -i bad0 -j DROP: no such luck"), "{e}");
        assert!(fake.calls().ends_with("-D INPUT -i eth0 -j DROP\n"), "{}", fake.calls());
    }

    #[test]
    fn only_one_form_is_understood() {
        for args in ["drop dev", "drop port 80", "pass dev eth0", "drop dev !", "drop dev -x", "drop dev a/b"]
        {
            let e = Harness::errors(&format!("KernelFilter({args})"));
            let expected =
                if args == "drop dev" { "ARG: required argument missing" } else { "arguments must follow" };
            assert!(e.contains(expected), "{args}: {e}");
        }
        let e = Harness::errors("KernelFilter(drop dev eth0, IPTABLES_COMMAND /proc/nonexistent/program)");
        assert!(
            e.contains("/proc/nonexistent/program -A INPUT -i eth0 -j DROP: No such file or directory"),
            "{e}"
        );
    }
}
