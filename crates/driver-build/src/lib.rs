//! Drivers with other element classes than the program has: with those of packages, or with few. Cargo builds them, from
//! sources that the program carries. So a user needs the program and Rust, but not our source tree.
//!
//! [`Recipe`] says what a driver consists of; [`build`] finds it in the [`Cache`] or has it built. Read `recipe.rs` for the
//! cargo project that is written, `cache.rs` for where everything is, `package.rs` for what packages are, and `build.rs`
//! beside `src` for how the sources get into the program.
//!
//! Not here: which packages a configuration requires, and what is said to people.
#![forbid(unsafe_code)]

mod cache;
mod cargo;
mod manifest;
mod package;
mod recipe;
mod sources;

pub use cache::Cache;
pub use cargo::{Event, Failure};
pub use manifest::{FILE as MANIFEST, packages};
pub use package::{Package, is_name};
pub use recipe::{Recipe, Selection, patches};

use clickwork_toolchain::{of_words, rustc_version};
use std::path::{Path, PathBuf};

/// Writes a folder from which cargo builds a driver called `driver`, without this program or its cache.
///
/// # Errors
/// If it cannot be written.
pub fn write_project(recipe: &Recipe, folder: &Path) -> Result<(), String> {
    cache::unpack(&folder.join("sources"))?;
    recipe.write("driver", folder, Path::new("sources"))
}

/// A driver in the making: what it is called, and whether it is there already.
#[derive(Debug)]
pub struct Driver {
    recipe: Recipe,
    cache: Cache,
    key: String,
}

impl Driver {
    /// The driver for a recipe.
    ///
    /// # Errors
    /// If there is no Rust compiler, or the sources cannot be unpacked.
    pub fn new(recipe: Recipe) -> Result<Driver, String> {
        let cache = Cache::of_user()?;
        let compiler = rustc_version()? + &cargo::profile() + sources::HASH;
        let key = recipe.key(&compiler, &cache.sources()?);
        Ok(Driver { recipe, cache, key })
    }

    /// The program, if it has been built before.
    pub fn built(&self) -> Option<PathBuf> {
        self.cache.driver(&self.key)
    }

    /// Whether nothing has been built yet with these sources, which takes longer.
    pub fn is_first(&self) -> bool {
        self.cache.is_new()
    }

    /// Builds the program.
    ///
    /// # Errors
    /// If cargo cannot.
    pub fn build(&self, color: bool, tell: &mut dyn FnMut(Event<'_>)) -> Result<PathBuf, Failure> {
        let (project, target) = self.prepare().map_err(Failure::System)?;
        let program = cargo::build(&project, &target, color, tell)?;
        self.cache.keep(&self.key, &program).map_err(Failure::System)
    }

    /// Writes the cargo project. Where it is, and where it is to be built.
    fn prepare(&self) -> Result<(PathBuf, PathBuf), String> {
        let (sources, project) = (self.cache.sources()?, self.cache.project(&self.key)?);
        let written = self.recipe.write(&format!("driver-{}", self.key), &project, &sources);
        written.map_err(|e| of_words(&e).map_or_else(|| e.clone(), |cause| format!("{e}: {cause}")))?;
        Ok((project, self.cache.target()?))
    }
}
