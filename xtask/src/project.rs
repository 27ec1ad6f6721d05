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

    /// The release build of the command line. It lies beside this very program,
    /// `TARGET/debug/xtask`, whatever moved the target directory.
    pub(crate) fn release_binary(&self) -> Outcome<PathBuf> {
        let me = std::env::current_exe().map_err(|e| format!("where is xtask? {e}"))?;
        let binary = sibling_release(&me, "rosenblatt")
            .ok_or_else(|| format!("{} is not in a target directory", me.display()))?;
        if binary.is_file() { Ok(binary) } else { Err(format!("{} was not built", binary.display())) }
    }
}

/// `TARGET/debug/xtask` → `TARGET/release/NAME`
fn sibling_release(me: &Path, name: &str) -> Option<PathBuf> {
    let target = me.parent()?.parent()?;
    Some(target.join("release").join(format!("{name}{EXE_SUFFIX}")))
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
    fn binary_is_looked_for_in_the_same_target_directory() {
        let binary = sibling_release(Path::new("/t/x86/debug/xtask"), "rosenblatt");
        assert_eq!(binary, Some(PathBuf::from(format!("/t/x86/release/rosenblatt{EXE_SUFFIX}"))));
        assert_eq!(sibling_release(Path::new("xtask"), "rosenblatt"), None);
    }
}
