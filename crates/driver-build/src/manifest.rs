//! TOML files: `clickwork.toml`, which says where packages are, and what must be known of a crate's `Cargo.toml`.

use crate::cache::error;
use crate::package::{Package, is_name};
use clickwork_toolchain::may_be_obeyed;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The file beside a configuration, or in a folder above it.
pub const FILE: &str = "clickwork.toml";
/// How the place of a crate can be given; the words are cargo's.
const KEYS: &[&str] = &["path", "version", "git", "branch", "tag", "rev", "registry", "package"];

/// The packages of the nearest `clickwork.toml`, looking in `folder` and then upwards; none if there is none.
///
/// A package is code that is run: so the file must be that of the user, of the system, or of whoever owns `folder`.
///
/// # Errors
/// `FILE:LINE: what is wrong there`, or that the file is somebody else's.
pub fn packages(folder: &Path) -> Result<Vec<Package>, String> {
    let folder = std::path::absolute(folder).map_err(|e| error(folder, &e))?;
    match folder.ancestors().map(|f| f.join(FILE)).find(|f| f.is_file()) {
        Some(file) if !may_be_obeyed(&file, &folder) => Err(format!(
            "{}: others could write this file, which says what code is run; remove it, or put a {FILE} of your own beside the \
             configuration",
            file.display()
        )),
        Some(file) => read_packages(&file),
        None => Ok(Vec::new()),
    }
}

fn read_packages(file: &Path) -> Result<Vec<Package>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| error(file, &e))?;
    let place = |at: usize| format!("{}:{}", file.display(), line(&text, at));
    let table = parse(file, &text)?;
    let Some(packages) = table.get("packages") else { return Ok(Vec::new()) };
    let packages = packages.get_ref().as_table().ok_or_else(|| {
        format!(
            "{}: 'packages' is a table, with lines NAME = {{ path = \"...\" }}",
            place(packages.span().start)
        )
    })?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let package = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = name.get_ref();
        package(name, value.get_ref(), folder).map_err(|e| format!("{}: {e}", place(value.span().start)))
    };
    packages.iter().map(package).collect()
}

fn package(name: &str, value: &DeValue<'_>, folder: &Path) -> Result<Package, String> {
    if !is_name(name) {
        return Err(format!("'{name}' is no name of a package: it consists of letters, digits, '-' and '_'"));
    }
    if let Some(version) = value.as_str() {
        return Ok(Package::new(name, vec![("version".to_string(), version.to_string())]));
    }
    let table = value.as_table().ok_or("say where the package is: { path = \"...\" } or a version")?;
    let mut keys = Vec::new();
    for (key, value) in table {
        let key: &str = key.get_ref();
        let value = value.get_ref().as_str().ok_or_else(|| format!("'{key}' should be text, in quotes"))?;
        if !KEYS.contains(&key) {
            return Err(format!("'{key}' does not say where a package is; {} do", KEYS.join(", ")));
        }
        keys.push((key.to_string(), value.to_string()));
    }
    match keys.iter().find(|(key, _)| key == "path").map(|(_, path)| folder.join(path)) {
        Some(path) => Package::at(name, &path),
        None => Ok(Package::new(name, keys)),
    }
}

/// The name of the crate in a folder.
///
/// # Errors
/// If there is none.
pub fn crate_name(folder: &Path) -> Result<String, String> {
    let file = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&file).map_err(|e| error(&file, &e))?;
    let table = parse(&file, &text)?;
    let package = table.get("package").and_then(|p| p.get_ref().as_table());
    let name = package.and_then(|p| p.get("name")).and_then(|n| n.get_ref().as_str());
    name.map(str::to_string)
        .ok_or_else(|| format!("{}: this is no crate: it has no package.name", file.display()))
}

/// The folders that a `Cargo.toml` names as places of other crates.
pub fn paths(folder: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let mut found = Vec::new();
    if let Ok(table) = DeTable::parse(&text) {
        let tables = table.get_ref().iter().filter(|(key, _)| !key.get_ref().starts_with("patch"));
        tables.for_each(|(_, value)| collect_paths(value.get_ref(), folder, &mut found));
    }
    found
}

fn collect_paths(value: &DeValue<'_>, folder: &Path, found: &mut Vec<PathBuf>) {
    let Some(table) = value.as_table() else { return };
    for (key, value) in table {
        match value.get_ref().as_str() {
            Some(path) if key.get_ref() == "path" => found.push(folder.join(path)),
            Some(_) => {}
            None => collect_paths(value.get_ref(), folder, found),
        }
    }
}

fn parse<'t>(file: &Path, text: &'t str) -> Result<DeTable<'t>, String> {
    let wrong = |e: toml::de::Error| {
        let at = e.span().map_or(0, |s| s.start);
        format!("{}:{}: {}", file.display(), line(text, at), e.message())
    };
    DeTable::parse(text).map(toml::Spanned::into_inner).map_err(wrong)
}

fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|&&b| b == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_others_could_write_names_no_packages() {
        let folder = clickwork_oracles::unused("clickwork-manifest");
        let below = folder.join("configurations");
        fs::create_dir_all(&below).unwrap();
        let file = folder.join(FILE);
        fs::write(&file, "[packages]\nx = \"1\"\n").unwrap();
        assert_eq!(packages(&below).unwrap().len(), 1);
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        let why = packages(&below).unwrap_err();
        assert!(why.contains("clickwork.toml: others could write this file"), "{why}");
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        assert!(packages(&below).is_ok());
        fs::remove_dir_all(folder).unwrap();
    }
}
