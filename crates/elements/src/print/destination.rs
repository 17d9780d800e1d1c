//! Where printed packets go: to the router's messages, to a channel of them, or to a file.

use crate::capture::destination::Stream;
use crate::control::chatter_socket::Channel;
use clickwork_router::args::{Args, Filename, Word};
use clickwork_router::{Cx, Log, outlet};
use clickwork_source::text::encode;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// The place for an element's lines.
#[derive(Default)]
pub struct Destination {
    path: Option<PathBuf>,
    file: Option<Stream>,
    /// Lines for which there was no room in a pipe that nobody reads.
    lost: u64,
    channel: Option<Log>,
}

impl Destination {
    /// Reads argument OUTFILE.
    pub fn configure(&mut self, args: &mut Args) {
        self.path = args.get("OUTFILE").map(|Filename(path)| path);
    }

    /// Reads argument CHANNEL. What goes to a channel that no ChatterSocket shows goes nowhere, as in Click.
    pub fn configure_channel(&mut self, args: &mut Args, cx: &Cx<'_>) {
        let named = args.get::<Word>("CHANNEL").filter(|Word(name)| name != "default");
        self.channel = named.map(|Word(name)| Channel::open(&name, cx));
    }

    /// Opens the file, if there is one.
    pub fn open(&mut self, cx: &Cx<'_>) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        let patient = cx.router().clock().is_simulated();
        let mut options = OpenOptions::new();
        let opened = outlet::open(options.write(true).create(true).truncate(true), path, patient);
        self.file = Some(Stream::file(opened.map_err(|e| failure(path, &e))?, patient));
        Ok(())
    }

    /// Writes a line. After the first failure the file is given up and the router's messages say so.
    pub fn line(&mut self, text: &str, cx: &Cx<'_>) {
        let Some(file) = &mut self.file else {
            return self.channel.as_ref().unwrap_or(cx.log()).line(text);
        };
        let written = match file.make_room() {
            Ok(true) => file.write_all(&encode(&format!("{text}\n"))).and_then(|()| file.push_out()),
            Ok(false) => {
                self.lost += 1;
                Ok(())
            }
            Err(e) => Err(e),
        };
        if let Err(e) = written {
            self.give_up(&e, cx);
        }
    }

    /// Writes out what is still in memory, and closes the file.
    pub fn close(&mut self, cx: &Cx<'_>) {
        if self.lost > 0 {
            cx.chatter(&format!("{}: {} lines were lost: nobody read them in time", cx.name(), self.lost));
        }
        if let Some(Err(e)) = self.file.as_mut().map(Stream::finish) {
            self.give_up(&e, cx);
        }
        (self.file, self.lost) = (None, 0);
    }

    fn give_up(&mut self, error: &std::io::Error, cx: &Cx<'_>) {
        self.file = None;
        if let Some(path) = &self.path {
            cx.chatter(&format!(
                "{}: {}; packets are printed here from now on",
                cx.name(),
                failure(path, error)
            ));
        }
    }
}

fn failure(path: &std::path::Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
