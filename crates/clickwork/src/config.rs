//! Configurations: where they come from, and what is made of them.
//!
//! An [`Input`] is the text and the name that messages call it by. A [`Maker`] knows everything else that a router
//! depends on (classes, definitions, libraries, control sockets) and makes routers of texts: the first one, and each
//! one that replaces it.

use crate::built;
use crate::output::reason;
use crate::packages;
use clickwork_lang::archive::{Archive, Member};
use clickwork_lang::{ElementDecl, Graph, Library, LoadError, Loader, elaborate};
use clickwork_passes::element_map::ElementMap;
use clickwork_router::args::texts_of_keys;
use clickwork_router::{Clock, Log, Options, Registry, Reload, Router};
use clickwork_source::{Diagnostics, Sources, Span, text};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What messages call standard input.
const STDIN: &str = "<stdin>";

/// A configuration as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// What messages call it.
    pub name: String,
    /// The text; of an archive, its member `config`.
    pub text: String,
    /// The other members, if it is an archive.
    pub files: Option<Archive>,
}

impl Input {
    /// Whether it was read from standard input.
    pub fn is_stdin(&self) -> bool {
        self.name == STDIN
    }

    /// As it was read: text or archive.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.files {
            Some(files) => files.with_config(self.text.clone()),
            None => text::into_bytes(self.text.clone()),
        }
    }

    /// A configuration given on the command line, or by who hot-swaps a router.
    ///
    /// # Errors
    /// As [`Input::new`].
    pub fn expression(text: &str) -> Result<Input, String> {
        Input::new("config".to_string(), text::encode(text).into_owned())
    }

    /// Reads a file, or standard input if it is called `-`.
    ///
    /// # Errors
    /// In Click's form, `FILE: reason`.
    pub fn read(file: &Path) -> Result<Input, String> {
        let is_stdin = file == Path::new("-");
        let name = if is_stdin { STDIN.to_string() } else { text::from_os(file) };
        let mut bytes = Vec::new();
        let read = match is_stdin {
            true => std::io::stdin().lock().read_to_end(&mut bytes).map(drop),
            false => std::fs::read(file).map(|b| bytes = b),
        };
        read.map_err(|e| format!("{name}: {}", reason(&e)))?;
        Input::new(name, bytes)
    }

    /// The text or the archive in `bytes`.
    ///
    /// # Errors
    /// `NAME: reason`, if it is a damaged archive, no text, or too large.
    pub fn new(name: String, bytes: Vec<u8>) -> Result<Input, String> {
        let (text, files) = Archive::open(bytes).map_err(|e| format!("{name}: {e}"))?;
        if u32::try_from(text.len()).is_err() {
            return Err(format!("{name}: too large for a configuration (4 GiB or more)"));
        }
        if text.contains('\0') {
            return Err(format!(
                "{name}: a binary file; a configuration is text, or an archive (ar) with text in it"
            ));
        }
        Ok(Input { name, text, files })
    }
}

/// Finds libraries among those that the program was built with, in the directories of CLICKPATH, then beside the file that
/// requires them.
#[derive(Clone, Debug, Default)]
pub struct ClickPath {
    directories: Vec<PathBuf>,
    /// The libraries that were found, by the names under which they were required.
    found: Arc<Mutex<Archive>>,
}

impl ClickPath {
    /// The directories of `path`, or of the environment variable CLICKPATH.
    pub fn new(path: Option<&str>) -> ClickPath {
        let path = path
            .map(str::to_string)
            .or_else(|| std::env::var_os("CLICKPATH").map(text::from_os))
            .unwrap_or_default();
        let directories = path.split(':').filter(|d| !d.is_empty()).map(text::to_path).collect();
        ClickPath { directories, found: Arc::default() }
    }

    fn find(&self, library: &str, from: &str) -> Option<PathBuf> {
        let (library, from) = (text::to_path(library), text::to_path(from));
        let beside = from.parent().filter(|p| !p.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new(".")).join(&library);
        let in_path = self.directories.iter().flat_map(|d| [d.join("conf").join(&library), d.join(&library)]);
        in_path.chain([beside]).find(|p| p.is_file())
    }
}

impl ClickPath {
    /// The libraries that were found so far, as members of an archive.
    pub fn libraries(&self) -> Archive {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ClickPath {
    /// The folder of a package's crate, if it is in one of the directories.
    pub fn package(&self, name: &str) -> Option<PathBuf> {
        let names = [name.to_string(), name.replace('_', "-"), name.replace('-', "_")];
        let in_directory = |d: &PathBuf| names.clone().map(|name| [d.join("lib").join(&name), d.join(name)]);
        self.directories
            .iter()
            .flat_map(in_directory)
            .flatten()
            .find(|folder| folder.join("Cargo.toml").is_file())
    }
}

impl Loader for ClickPath {
    fn load(&self, library: &str, from: &str) -> Result<Library, LoadError> {
        if let Some(member) = built::program().and_then(|built| built.libraries.get(library)) {
            let text = text::decode_file(&*member.data);
            return Ok(Library { name: library.to_string(), text });
        }
        let found = self.find(library, from).ok_or(LoadError::NotFound)?;
        let input = Input::read(&found).map_err(LoadError::Failed)?;
        let data = text::into_bytes(input.text.clone());
        let member = Member { name: library.to_string(), modified: 0, mode: 0o644, data };
        self.found.lock().unwrap_or_else(PoisonError::into_inner).set(member);
        Ok(Library { name: input.name, text: input.text })
    }
}

/// All that a router is made of, besides its configuration.
#[derive(Clone, Debug)]
pub struct Maker {
    /// The element classes.
    pub registry: Arc<Registry>,
    /// `VAR=value` from the command line.
    pub defines: Vec<(String, String)>,
    /// Where libraries are.
    pub path: ClickPath,
    /// Whether batches have one packet, for Click's exact order.
    pub ordered: bool,
    /// Whether only those errors are reported that Click reports.
    pub click_errors: bool,
    /// Where messages of elements go.
    pub log: Log,
    /// Where the text goes that elements print on standard output.
    pub output: Log,
    /// Configurations of the control sockets that the command line asks for.
    pub sockets: Vec<String>,
}

/// What became of a configuration.
pub struct Made {
    /// The texts that the messages are about.
    pub sources: Sources,
    /// Everything there is to say about the configuration.
    pub diagnostics: Diagnostics,
    /// The router, unless there are errors.
    pub router: Option<Router>,
    /// Whether the configuration could at least be read: then it is the router that could not be made.
    pub understood: bool,
}

impl Maker {
    /// For the classes of this program.
    pub fn new() -> Maker {
        Maker {
            registry: crate::classes::registry(),
            defines: Vec::new(),
            path: ClickPath::new(None),
            ordered: false,
            click_errors: false,
            sockets: Vec::new(),
            log: Log::stderr(),
            output: Log::stdout(),
        }
    }

    /// The element classes, with those that a configuration brings with it.
    pub fn registry_for(&self, input: &Input) -> Arc<Registry> {
        let map = input.files.as_ref().map(ElementMap::of).unwrap_or_default();
        let mut registry = Arc::clone(&self.registry);
        if !map.is_empty() {
            map.add_to(Arc::make_mut(&mut registry));
        }
        registry
    }

    /// The flat graph of a configuration with element classes of `registry`.
    pub fn elaborate(&self, input: &Input, registry: &Registry) -> (Sources, Graph, Diagnostics) {
        let mut sources = Sources::new();
        let file = sources.add(input.name.clone(), input.text.clone());
        let mut options = clickwork_lang::Options::new(registry);
        options.defines.clone_from(&self.defines);
        options.loader = &self.path;
        let (graph, diagnostics) = elaborate(&mut sources, file, &options);
        hide_keys(&mut sources, &graph, registry);
        (sources, graph, diagnostics)
    }

    /// The flat graph of a configuration whose element classes need not be known.
    pub fn elaborate_any(&self, input: &Input) -> (Sources, Graph, Diagnostics) {
        let mut sources = Sources::new();
        let file = sources.add(input.name.clone(), input.text.clone());
        let mut options = clickwork_lang::Options::any_class();
        options.defines.clone_from(&self.defines);
        options.loader = &self.path;
        let (graph, diagnostics) = elaborate(&mut sources, file, &options);
        (sources, graph, diagnostics)
    }

    /// Makes a router that is ready to run.
    pub fn make(&self, input: &Input, clock: Clock, reload: Option<Reload>) -> Made {
        let options = Options { clock, reload, ..self.options(input) };
        self.with_router(input, |graph, sources, registry| {
            match clickwork_router::build(graph, sources, registry, options) {
                Ok((router, remarks)) => (Some(router), remarks),
                Err(errors) => (None, errors),
            }
        })
    }

    /// Makes a router that cannot run, without opening devices or files. There is one even if its arguments or ports are
    /// wrong.
    pub fn check(&self, input: &Input) -> Made {
        let options = self.options(input);
        self.with_router(input, |graph, sources, registry| {
            clickwork_router::check(graph, sources, registry, options)
        })
    }

    fn options(&self, input: &Input) -> Options {
        Options {
            ordered: self.ordered,
            click_errors: self.click_errors,
            log: self.log.clone(),
            output: self.output.clone(),
            source_text: input.text.clone(),
            names: clickwork_elements::info::devices::names_of_devices(),
            ..Options::default()
        }
    }

    fn with_router(
        &self,
        input: &Input,
        make: impl FnOnce(&Graph, &Sources, &Arc<Registry>) -> (Option<Router>, Diagnostics),
    ) -> Made {
        let registry = self.registry_for(input);
        let (sources, mut graph, errors) = self.elaborate(input, &registry);
        let mut diagnostics = packages::complaints(&graph.requirements, &registry);
        diagnostics.extend(errors);
        if diagnostics.has_errors() {
            return Made { sources, diagnostics, router: None, understood: false };
        }
        self.add_sockets(&mut graph);
        let (router, more) = make(&graph, &sources, &registry);
        diagnostics.extend(more);
        Made { sources, diagnostics, router, understood: true }
    }

    fn add_sockets(&self, graph: &mut Graph) {
        for (n, config) in self.sockets.iter().enumerate() {
            let number = if n == 0 { String::new() } else { format!("@{n}") };
            graph.elements.push(ElementDecl {
                name: format!("click_driver@@ControlSocket{number}"),
                class: "ControlSocket".to_string(),
                config: config.clone(),
                span: Span::NONE,
                compounds: Vec::new(),
            });
        }
    }
}

/// Messages about a configuration, which go to logs, do not quote its keys.
fn hide_keys(sources: &mut Sources, graph: &Graph, registry: &Registry) {
    for element in &graph.elements {
        let Some(class) = registry.get(&element.class) else { continue };
        texts_of_keys(class.args, &element.config).iter().for_each(|key| sources.hide(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_sought_in_conf_then_in_the_directory_then_beside_the_file() {
        let dir = clickwork_oracles::unused("clickwork-path");
        let file = |path: &str| {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let beside = file("work/lib.click");
        let from = dir.join("work/main.click");
        let path = ClickPath::new(Some(&format!(":{}", dir.join("lib").display())));
        let found = || path.find("lib.click", from.to_str().unwrap());
        assert_eq!(found(), Some(beside));
        let plain = file("lib/lib.click");
        assert_eq!(found(), Some(plain));
        let conf = file("lib/conf/lib.click");
        assert_eq!(found(), Some(conf));
        assert_eq!(path.load("none.click", "x"), Err(LoadError::NotFound));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
