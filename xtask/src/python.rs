//! Python for the tests and the benches: virtual environments with pinned packages, made anew when the pins
//! change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::Outcome;
use crate::project::Project;
use crate::run::{program, run, succeeds};

const SYSTEM_PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };

/// What is installed, and where.
pub(crate) struct Environment {
    pub(crate) folder: &'static str,
    pub(crate) requirements: &'static str,
    /// Packages that have to be compiled: what needs them is left out where that fails.
    pub(crate) compiled: Option<&'static str>,
    /// Who needs it, and the oldest Python that will do.
    pub(crate) needs: &'static str,
}

/// Of the oracle tests.
pub(crate) const TESTS: Environment = Environment {
    folder: ".venv",
    requirements: "tests/oracle/requirements.txt",
    compiled: Some("tests/oracle/compiled.txt"),
    needs: "The oracle tests need Python 3.10",
};

/// Of the Python package: what it needs, what its tests are made with, and what makes wheels.
pub(crate) const PACKAGE: Environment = Environment {
    folder: "python/.venv",
    requirements: "python/requirements.txt",
    compiled: None,
    needs: "The tests of the Python package need Python 3.10",
};

/// Of the benches, with the peers in it.
pub(crate) const BENCH: Environment = Environment {
    folder: "bench/.venv",
    requirements: "bench/requirements.txt",
    compiled: None,
    needs: "The benches need Python 3.11",
};

/// The interpreter in an environment.
pub(crate) struct Python<'a> {
    project: &'a Project,
    environment: &'a Environment,
}

/// An environment with no packages at all, made anew.
pub(crate) fn bare<'a>(project: &'a Project, environment: &'a Environment) -> Outcome<Python<'a>> {
    let python = Python { project, environment };
    python.create().map(|()| python)
}

impl Python<'_> {
    /// With all required packages; installs them if need be.
    pub(crate) fn prepared<'a>(project: &'a Project, environment: &'a Environment) -> Outcome<Python<'a>> {
        let python = Python { project, environment };
        let Environment { folder, requirements, .. } = environment;
        let read = |name: &str| {
            fs::read_to_string(project.path(name)).map_err(|e| format!("cannot read {name}: {e}"))
        };
        let pins = read(requirements)? + &environment.compiled.map_or(Ok(String::new()), read)?;
        let stamp = Stamp { path: project.path(folder).join("requirements.stamp") };
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
        let inside = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        program(self.project, self.project.path(self.environment.folder).join(inside))
    }

    fn works(&self) -> bool {
        succeeds(self.command().arg("--version"))
    }

    fn create(&self) -> Outcome {
        let mut system = program(self.project, SYSTEM_PYTHON);
        let Environment { folder, needs, .. } = self.environment;
        run(system.args(["-m", "venv", "--clear", folder])).map_err(|failure| {
            format!(
                "{failure}\n  {needs} or newer with its venv module.\n  \
                 Debian, Ubuntu: apt install python3-venv; else: https://www.python.org/downloads/"
            )
        })
    }

    fn install(&self) -> Outcome {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
        let Environment { requirements, compiled, needs, .. } = self.environment;
        run(self.command().args(pip).arg(requirements)).map_err(|failure| {
            format!(
                "{failure}\n  {requirements} pins the packages; is the network reachable?\n  {needs} or newer."
            )
        })?;
        if let Some(compiled) = compiled
            && let Err(failure) = run(self.command().args(pip).arg(compiled))
        {
            eprintln!(
                "note: {failure}\n  {compiled} needs a C++ compiler (Debian, Ubuntu: apt install g++ make); tests against these are left out."
            );
        }
        Ok(())
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
