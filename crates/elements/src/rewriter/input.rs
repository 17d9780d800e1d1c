//! Input specifications: what a rewriter does with a packet of a flow that it does not know.

use super::mapper::MapperHandle;
use super::pattern::Pattern;
use super::patterns;
use clickwork_router::Cx;
use clickwork_router::args::{FromArg, Names, split_words};
use std::sync::Arc;

/// What is done with packets of unknown flows.
#[derive(Clone)]
pub enum Spec {
    /// They are dropped.
    Drop,
    /// They pass by an output as they are.
    Pass(u16),
    /// A mapping is made that changes nothing.
    Keep(Outputs),
    /// A mapping is made by a pattern.
    Pattern(Arc<Pattern>, Outputs),
    /// Another element makes the mapping.
    Mapper(Arc<MapperHandle>),
}

/// Where packets of a new mapping go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outputs {
    /// Packets like the first.
    pub forward: u16,
    /// Answers.
    pub reply: u16,
}

/// An input with what became of its packets.
pub struct Input {
    /// What is done.
    pub spec: Spec,
    /// Mappings made here that exist.
    pub count: u32,
    /// Mappings that could not be made.
    pub failures: u32,
}

impl Spec {
    /// Reads a specification.
    ///
    /// # Errors
    /// What is wrong with it, in Click's words.
    pub fn parse(text: &str, cx: &Cx<'_>) -> Result<Spec, String> {
        let words = split_words(text);
        let [word, rest @ ..] = &words[..] else { return Err("empty argument".to_string()) };
        match word.as_str() {
            "pass" | "passthrough" | "nochange" => passed(rest, cx.outputs()),
            "drop" | "discard" if rest.is_empty() => Ok(Spec::Drop),
            "drop" | "discard" => Err(format!("syntax error, expected '{word}'")),
            "keep" => outputs(rest).and_then(|o| checked(o, cx.outputs())).map(Spec::Keep),
            "pattern" | "xpattern" => {
                let (pattern, outputs) = parse_with_outputs(rest, cx)?;
                Ok(Spec::Pattern(pattern, checked(outputs, cx.outputs())?))
            }
            name => mapper(name, rest, cx),
        }
    }

    /// Whether flows that began under an older specification may go on under this one: it says the same. A sequence then
    /// goes on where it was.
    pub fn goes_on_from(&self, old: &Spec) -> bool {
        match (self, old) {
            (Spec::Mapper(_), Spec::Mapper(_)) => true,
            (Spec::Keep(new), Spec::Keep(old)) => new == old,
            (Spec::Pattern(pattern, new), Spec::Pattern(before, old))
                if pattern.is_like(before) && new == old =>
            {
                pattern.continue_from(before);
                true
            }
            // The others make no flows.
            _ => false,
        }
    }
}

/// `[OUTPUT]` of a specification that changes nothing.
fn passed(words: &[String], outputs: usize) -> Result<Spec, String> {
    let output = match words {
        [] => Some(0),
        [n] => number(n),
        _ => None,
    };
    let output = output.ok_or("syntax error, expected 'nochange [OUTPUT]'")?;
    port(output).filter(|&o| usize::from(o) < outputs).map(Spec::Pass).ok_or_else(out_of_range)
}

fn mapper(name: &str, rest: &[String], cx: &Cx<'_>) -> Result<Spec, String> {
    let id = cx.find(name).ok_or("unknown specification")?;
    if !rest.is_empty() {
        return Err("syntax error, expected element name".to_string());
    }
    cx.exported::<MapperHandle>(id).map(Spec::Mapper).ok_or_else(|| "element is not an IPMapper".to_string())
}

fn number(text: &str) -> Option<i32> {
    i32::from_arg(text, &Names::default()).ok()
}

fn port(number: i32) -> Option<u16> {
    u16::try_from(number).ok()
}

fn out_of_range() -> String {
    "output port out of range".to_string()
}

/// Both outputs if there are such.
fn checked((forward, reply): (i32, i32), outputs: usize) -> Result<Outputs, String> {
    let there = |n| port(n).filter(|&n| usize::from(n) < outputs).ok_or_else(out_of_range);
    Ok(Outputs { forward: there(forward)?, reply: there(reply)? })
}

/// `FOUTPUT ROUTPUT`.
fn outputs(words: &[String]) -> Result<(i32, i32), String> {
    let [forward, reply] = words else { return Err("bad forward port".to_string()) };
    Ok((number(forward).ok_or("bad forward port")?, number(reply).ok_or("bad reply port")?))
}

/// A pattern, given or named, with its outputs, which are not checked.
///
/// # Errors
/// What is wrong with it, in Click's words.
pub fn parse_with_outputs(words: &[String], cx: &Cx<'_>) -> Result<(Arc<Pattern>, (i32, i32)), String> {
    if words.len() <= 2 {
        return Err("syntax error".to_string());
    }
    let (pattern, ports) = words.split_at(words.len() - 2);
    Ok((patterns::parse(pattern, cx)?, outputs(ports)?))
}

impl Input {
    /// An input that has seen nothing.
    pub fn new(spec: Spec) -> Input {
        Input { spec, count: 0, failures: 0 }
    }

    /// The line of handler `patterns`.
    pub fn unparse(&self) -> String {
        let spec = match &self.spec {
            Spec::Drop => "<drop>".to_string(),
            Spec::Pass(_) => "<nochange>".to_string(),
            Spec::Keep(_) => "<keep>".to_string(),
            Spec::Pattern(pattern, _) => pattern.to_string(),
            Spec::Mapper(_) => "<mapper>".to_string(),
        };
        if self.count > 0 { format!("{spec} [{}]\n", self.count) } else { format!("{spec}\n") }
    }
}
