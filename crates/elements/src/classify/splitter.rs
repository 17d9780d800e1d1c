//! What Classifier, IPClassifier and IPFilter have in common: patterns are compiled once, and each packet leaves by the
//! output that the program names.
//!
//! Not here: what patterns mean (the classifier crate) and how a class reads them (its [`Language`]).

use super::names::RouterNames;
use clickwork_classifier::rust::{self, Sections};
use clickwork_classifier::{Base, Compiled, FilterError, Headers, Names, Program};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgError, Args, unquote};
use clickwork_router::element::split_batch;
use clickwork_router::{Cx, Element, Fast, FastCode};
use std::marker::PhantomData;

/// What the three classes differ in.
pub trait Language: Send + 'static {
    /// Whether there must be one argument for each output.
    const ARGUMENT_PER_OUTPUT: bool;
    /// What the compiler of routers calls the code of such an element.
    const MODULE: &'static str;
    /// Where programs find what they look at.
    const SECTIONS: Sections;
    /// Why packets are dropped.
    const DROP_REASON: &'static str;

    /// Compiles the arguments of an element with so many outputs.
    fn compile(arguments: &[String], outputs: usize, names: &dyn Names)
    -> Result<Compiled, Vec<FilterError>>;

    /// The output for a packet, or `None` to drop it. `ether` says whether the program looks at the Ethernet header.
    fn classify(program: &Program, p: &Packet, ether: bool) -> Option<usize>;
}

/// An element that sends each packet to the output that its program names.
pub struct Splitter<L> {
    program: Program,
    looks_at_ether: bool,
    language: PhantomData<L>,
}

impl<L> Default for Splitter<L> {
    fn default() -> Splitter<L> {
        Splitter { program: Program::from_rules(&[]), looks_at_ether: false, language: PhantomData }
    }
}

impl<L: Language> Splitter<L> {
    /// The program in Click's form, for the `program` handler.
    pub fn program(&self) -> String {
        self.program.to_string()
    }

    fn compile(&mut self, args: &mut Args, outputs: usize) {
        let texts: Vec<String> = args.rest().iter().map(|text| unquote(text)).collect();
        let names = args.names().clone();
        let messages = match L::compile(&texts, outputs, &RouterNames(&names)) {
            Ok(Compiled { program, warnings }) => {
                self.looks_at_ether = program.safe_length(Base::Ether) > 0;
                self.program = program;
                warnings
            }
            Err(messages) => messages,
        };
        messages.into_iter().for_each(|message| report(message, &texts, args));
    }
}

/// Passes a message of the compiler on, at its place in the configuration.
fn report(message: FilterError, texts: &[String], args: &mut Args) {
    let (is_error, index) = (message.is_error(), message.argument);
    let mut error = about_pattern(&message.message);
    error.hint = message.hint;
    // In a quoted argument the compiler counts from another place.
    if texts.get(index) == args.rest().get(index) {
        error.range = Some(message.range);
    }
    match is_error {
        true => args.report_in_rest(index, error),
        false => args.warn_in_rest(index, error),
    }
}

/// The message `pattern N: TEXT` as one about the pattern; any other as it is.
fn about_pattern(message: &str) -> ArgError {
    match message.split_once(": ").filter(|(subject, _)| subject.starts_with("pattern ")) {
        Some((subject, text)) => ArgError::new(text).about(subject),
        None => ArgError::new(message),
    }
}

impl<L: Language> Element for Splitter<L> {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let (given, outputs) = (args.rest().len(), cx.outputs());
        if L::ARGUMENT_PER_OUTPUT && given != outputs {
            args.error(format!("need {outputs} arguments, one per output port"));
        } else {
            self.compile(args, outputs);
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let (program, ether) = (&self.program, self.looks_at_ether);
        split_batch(batch, cx, L::DROP_REASON, |p| {
            L::classify(program, p, ether).map(|output| output as u16)
        });
    }
}

impl<L: Language> Fast for Splitter<L> {
    /// The program as code. It has no constants: elements with the same steps have the same text.
    fn fast_code(&self) -> Option<FastCode> {
        let source = rust::module(&self.program, L::SECTIONS)?.into();
        Some(FastCode { module: L::MODULE, source, constants: "Constants".into() })
    }

    fn fast(&self, p: &mut Packet) -> Option<u16> {
        L::classify(&self.program, p, self.looks_at_ether).map(|output| output as u16)
    }
}

/// The output for an IP packet whose network header is marked. Without the mark there is no header, and every test fails
/// as on a packet that is too short.
#[inline]
pub fn classify_ip(program: &Program, p: &Packet, ether: bool) -> Option<usize> {
    let network = p.network_bytes().unwrap_or_default();
    let transport = p.network_header_len().unwrap_or(u32::MAX);
    let headers = Headers::ip(network, 0, transport as usize);
    program.classify(&match ether {
        true => headers.with_ether(p.mac_header().unwrap_or_default()),
        false => headers,
    })
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::{FastCode, FastPath};

    fn with_fast<R>(
        t: &mut Harness,
        name: &str,
        f: impl FnOnce(FastPath, &dyn clickwork_router::Element) -> R,
    ) -> R {
        let id = t.router.find(name).expect("it is there");
        let path = super::super::ip_filter::CLASS.fast.expect("the class has a fast path");
        t.router.with_element(id, |e, _| f(path, e)).expect("it is at rest")
    }

    #[test]
    fn the_fast_path_decides_as_the_element() {
        let mut t = Harness::new("Idle -> f :: IPFilter(1 src 1.0.0.1, allow udp)[0-1] => Discard, Discard");
        let sample = |from| ip(from, "2.0.0.2");
        let packets = [
            sample("1.0.0.1").marked(),
            sample("3.0.0.3").marked(),
            sample("1.0.0.1").packet(),
            Packet::new(b""),
        ];
        let fast = |mut p: Packet| with_fast(&mut t, "f", |path, e| path.run(e, &mut p));
        assert_eq!(packets.map(fast), [Some(1), Some(0), None, None]);
    }

    #[test]
    fn elements_with_the_same_steps_have_the_same_code() {
        let mut t = Harness::new(
            "Idle -> a :: IPFilter(allow src 1.0.0.1) -> b :: IPFilter(0 src host 1.0.0.1, drop all) \
             -> c :: IPFilter(allow src 1.0.0.2) -> Discard",
        );
        let mut code = |name| with_fast(&mut t, name, |path, e| path.code(e)).expect("it can be code");
        let codes: [FastCode; 3] = ["a", "b", "c"].map(&mut code);
        assert_eq!(codes[0], codes[1]);
        assert_ne!(codes[0], codes[2]);
    }
}
