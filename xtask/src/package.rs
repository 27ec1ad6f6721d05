//! The Python package: put into its own environment and tested; as a wheel, which has to do in an environment that has nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{Outcome, no_arguments};
use crate::project::Project;
use crate::python::{Environment, PACKAGE, Python, bare};
use crate::run::{self, cargo, output};

/// What the package is called, and the folder its sources are in.
const SOURCES: &str = "python/rosenblatt";
const README: &str = "python/tests/readme.py";

/// Names of the native module: as cargo makes it, and as Python looks for it.
const NATIVE: (&str, &str) = if cfg!(windows) {
    ("_core.dll", "_core.pyd")
} else if cfg!(target_os = "macos") {
    ("lib_core.dylib", "_core.abi3.so")
} else {
    ("lib_core.so", "_core.abi3.so")
};

/// In one go with the command line, so that the library is compiled once for both.
pub(crate) fn build(project: &Project) -> Outcome {
    let both = ["--package", "rosenblatt-cli", "--package", "rosenblatt-python"];
    run::run(cargo(project).args(["build", "--release"]).args(both))
}

/// The environment with the package, as it is now, in it. Expects that it is built.
pub(crate) fn installed(project: &Project) -> Outcome<Python<'_>> {
    let python = Python::prepared(project, &PACKAGE)?;
    let ask = ["-c", "import sysconfig; print(sysconfig.get_path('platlib'), end='')"];
    let folder = String::from_utf8(output(python.command().args(ask))?).map_err(|e| e.to_string())?;
    let folder = PathBuf::from(folder).join("rosenblatt");
    let (built, wanted) = NATIVE;
    let native = project.target()?.join("release").join(built);
    replace(&project.path(SOURCES), &native, &folder.join(wanted), &folder)
        .map_err(|e| format!("cannot put the package into {}: {e}", folder.display()))?;
    Ok(python)
}

fn replace(sources: &Path, native: &Path, module: &Path, folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(sources)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    fs::copy(native, module).map(drop)
}

/// The tests of the package. Expects that it is built.
pub(crate) fn test(project: &Project) -> Outcome {
    let python = installed(project)?;
    let mut tests = python.command();
    tests.args(["-m", "pytest", "python/tests", "-q", "--config-file", "python/pyproject.toml"]);
    run::run(tests.env("ROSENBLATT", project.release_binary("rosenblatt")?))
}

/// `cargo xtask parity`: the page of `docs` that compares with scikit-learn.
pub(crate) fn parity(project: &Project, arguments: &[String]) -> Outcome {
    const PAGE: &str = "docs/parity.md";
    no_arguments(arguments)?;
    build(project)?;
    let page = output(installed(project)?.command().arg("python/tests/parity.py"))?;
    fs::write(project.path(PAGE), page).map_err(|e| format!("cannot write {PAGE}: {e}"))?;
    println!("Wrote {PAGE}");
    Ok(())
}

/// Holds nothing but the wheel and what it asks for.
const FRESH: Environment = Environment {
    folder: "target/wheel-venv",
    requirements: "",
    compiled: None,
    needs: "The wheel needs Python 3.10",
};

/// `cargo xtask wheel`: makes it, and runs the README's examples with it alone.
pub(crate) fn wheel(project: &Project, arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let wheels = project.target()?.join("wheels");
    if wheels.is_dir() {
        fs::remove_dir_all(&wheels).map_err(|e| format!("cannot empty {}: {e}", wheels.display()))?;
    }
    let builder = Python::prepared(project, &PACKAGE)?;
    let mut maturin = builder.command();
    maturin.args([
        "-m",
        "maturin",
        "build",
        "--release",
        "--strip",
        "--manifest-path",
        "python/Cargo.toml",
        "--out",
    ]);
    run::run(maturin.arg(&wheels))?;
    let wheel = only_wheel(&wheels)?;
    let fresh = bare(project, &FRESH)?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run::run(fresh.command().args(pip).arg(&wheel))?;
    run::run(fresh.command().args([README, "README.md"]))?;
    println!("{}", wheel.display());
    Ok(())
}

fn only_wheel(folder: &Path) -> Outcome<PathBuf> {
    let entries = fs::read_dir(folder).map_err(|e| format!("cannot read {}: {e}", folder.display()))?;
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let wheels: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "whl")).collect();
    match &wheels[..] {
        [wheel] => Ok(wheel.clone()),
        _ => Err(format!("{} wheels in {}, where one was expected", wheels.len(), folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_replaced_as_a_whole() {
        let root = std::env::temp_dir().join(format!("rosenblatt-xtask-package-{}", std::process::id()));
        let (sources, folder) = (root.join("sources"), root.join("site/rosenblatt"));
        fs::create_dir_all(&sources).unwrap();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("gone.py"), "").unwrap();
        fs::write(sources.join("here.py"), "").unwrap();
        fs::write(root.join("native"), "code").unwrap();
        replace(&sources, &root.join("native"), &folder.join("module"), &folder).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["here.py", "module"]);
        assert!(only_wheel(&folder).is_err_and(|e| e.contains("0 wheels")));
        fs::write(folder.join("a.whl"), "").unwrap();
        assert_eq!(only_wheel(&folder), Ok(folder.join("a.whl")));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn sources_are_there() {
        let project = Project::here();
        assert!(project.path(SOURCES).join("py.typed").is_file() && project.path(README).is_file());
    }
}
