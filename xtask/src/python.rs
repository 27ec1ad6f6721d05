//! The Python of the tests: a virtual environment with pinned packages, made anew when the pins
//! change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::Outcome;
use crate::project::Project;
use crate::run::{program, run, succeeds};

const SYSTEM_PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
const REQUIREMENTS: &str = "tests/oracle/requirements.txt";

/// The interpreter in `.venv`.
pub(crate) struct Python<'a> {
    project: &'a Project,
}

impl Python<'_> {
    /// With all required packages; installs them if need be.
    pub(crate) fn prepared(project: &Project) -> Outcome<Python<'_>> {
        let python = Python { project };
        let pins = fs::read_to_string(project.path(REQUIREMENTS))
            .map_err(|e| format!("cannot read {REQUIREMENTS}: {e}"))?;
        let stamp = Stamp { path: project.path(".venv/requirements.stamp") };
        if !stamp.matches(&pins) || !python.works() {
            stamp.remove();
            python.create()?;
            python.install()?;
            stamp.write(&pins)?;
        }
        Ok(python)
    }

    /// Starts the interpreter.
    pub(crate) fn command(&self) -> Command {
        let inside = if cfg!(windows) { ".venv/Scripts/python.exe" } else { ".venv/bin/python" };
        program(self.project, self.project.path(inside))
    }

    fn works(&self) -> bool {
        succeeds(self.command().arg("--version"))
    }

    fn create(&self) -> Outcome {
        let mut system = program(self.project, SYSTEM_PYTHON);
        run(system.args(["-m", "venv", "--clear", ".venv"])).map_err(|failure| {
            format!(
                "{failure}\n  The oracle tests need Python 3.10 or newer with its venv module.\n  \
                 Debian, Ubuntu: apt install python3-venv; else: https://www.python.org/downloads/"
            )
        })
    }

    fn install(&self) -> Outcome {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run(self.command().args(pip).args(["--requirement", REQUIREMENTS])).map_err(|failure| {
            format!("{failure}\n  {REQUIREMENTS} pins the packages; is the network reachable?")
        })
    }
}

/// Remembers which pins an environment was made from: their text.
struct Stamp {
    path: PathBuf,
}

impl Stamp {
    fn matches(&self, pins: &str) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|installed| installed == pins)
    }

    fn write(&self, pins: &str) -> Outcome {
        fs::write(&self.path, pins).map_err(|e| format!("cannot write {}: {e}", self.path.display()))
    }

    /// An environment without a stamp is half made; one that has none needs no removal.
    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_matches_only_the_pins_it_was_written_for() {
        let name = format!("rosenblatt-xtask-stamp-{}", std::process::id());
        let stamp = Stamp { path: std::env::temp_dir().join(name) };
        stamp.remove();
        assert!(!stamp.matches("numpy==1\n"));
        assert_eq!(stamp.write("numpy==1\n"), Ok(()));
        assert!(stamp.matches("numpy==1\n"));
        assert!(!stamp.matches("numpy==2\n"));
        stamp.remove();
        assert!(!stamp.matches("numpy==1\n"));
    }

    #[test]
    fn stamp_that_cannot_be_written_is_an_error() {
        let stamp = Stamp { path: std::env::temp_dir().join("no/such/folder/stamp") };
        assert!(stamp.write("").is_err_and(|e| e.contains("stamp")));
    }
}
