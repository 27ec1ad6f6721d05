//! Where things are.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};

use crate::command::Outcome;

/// The checkout this task runner belongs to.
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    pub(crate) fn here() -> Project {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        Project { root: xtask.parent().unwrap_or(xtask).to_path_buf() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// The release build of a program, `rosenblatt` or `examples/NAME`.
    pub(crate) fn release_binary(&self, name: &str) -> Outcome<PathBuf> {
        let binary = self.target()?.join("release").join(format!("{name}{EXE_SUFFIX}"));
        if binary.is_file() { Ok(binary) } else { Err(format!("{} was not built", binary.display())) }
    }

    /// The target directory, whatever moved it: this very program is in it.
    pub(crate) fn target(&self) -> Outcome<PathBuf> {
        let me = std::env::current_exe().map_err(|e| format!("where is xtask? {e}"))?;
        target_of(&me).ok_or_else(|| format!("{} is not in a target directory", me.display()))
    }
}

/// `TARGET/debug/xtask` → `TARGET`
fn target_of(me: &Path) -> Option<PathBuf> {
    me.parent()?.parent().map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_holds_the_workspace() {
        let project = Project::here();
        assert!(project.path("Cargo.lock").is_file());
        assert!(project.root().join("crates").is_dir());
    }

    #[test]
    fn binaries_are_looked_for_in_the_target_directory_of_this_program() {
        assert_eq!(target_of(Path::new("/t/x86/debug/xtask")), Some(PathBuf::from("/t/x86")));
        assert_eq!(target_of(Path::new("xtask")), None);
        let missing = Project::here().release_binary("no-such-program");
        assert!(missing.is_err_and(|e| e.contains("no-such-program") && e.contains("was not built")));
    }
}
